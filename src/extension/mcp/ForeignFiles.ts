/** The files in which other programs list their MCP servers. */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ConfigFile from "./ConfigFile.js"
import * as Foreign from "./internal/Foreign.js"
import * as OwnFile from "./OwnFile.js"

/** A file of another program. */
export interface ForeignFile {
  readonly path: string
  readonly format: Foreign.Format
  /** True for a file of the project, which is somebody else's. */
  readonly isProjects: boolean
}

/** The most bytes of a file: Claude Code's holds its history as well. */
const largest = 64 * 1024 ** 2

/** Returns the files that are looked for, the project's first. */
export const usual = (root: string, userHome: string): ReadonlyArray<ForeignFile> => {
  const support = process.platform === "darwin" ? `${userHome}/Library/Application Support` : `${userHome}/.config`
  const file =
    (format: Foreign.Format, isProjects: boolean) =>
    (path: string): ForeignFile => ({
      path,
      format,
      isProjects
    })
  return [
    ...[`${root}/.mcp.json`, `${root}/.cursor/mcp.json`].map(file("mcpServers", true)),
    file("vscode", true)(`${root}/.vscode/mcp.json`),
    file("claude", false)(`${userHome}/.claude.json`),
    ...[`${support}/Claude/claude_desktop_config.json`, `${userHome}/.cursor/mcp.json`].map(file("mcpServers", false)),
    file("vscode", false)(`${support}/Code/User/mcp.json`),
    file("codex", false)(`${userHome}/.codex/config.toml`)
  ]
}

/** Makes a file of a path that a person named; its format is told by its name. */
export const named = (path: string, root: string): ForeignFile => {
  const absolute = Path.resolve(root, path)
  const relative = Path.relative(root, absolute)
  const base = Path.basename(absolute)
  const isVsCode = base === "mcp.json" && !absolute.includes("/.cursor/")
  return {
    path: absolute,
    format: base.endsWith(".toml") ? "codex" : base === ".claude.json" ? "claude" : isVsCode ? "vscode" : "mcpServers",
    isProjects: !relative.startsWith("..")
  }
}

/** Reads the servers of a file; undefined where there is none. On the left is the reason why it can't be read. */
export const read = (
  { format, isProjects, path }: ForeignFile,
  root: string
): Effect.Effect<Either.Either<Foreign.Servers | undefined, string>> =>
  Effect.suspend(() =>
    OwnFile.OwnFile.$match(OwnFile.read(path, { most: largest, mayBeLink: !isProjects, mayBeForeign: isProjects }), {
      Missing: () => Effect.succeed(Either.right(undefined)),
      Refused: ({ reason }) => Effect.succeed(Either.left(reason)),
      Content: ({ bytes }) =>
        Either.match(ConfigFile.toText(bytes), {
          onLeft: (reason) => Effect.succeed(Either.left(reason)),
          onRight: (text) => Effect.promise(() => Foreign.parse(text, format, root))
        })
    })
  )
