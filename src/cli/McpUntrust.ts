/** The action of `synapse mcp untrust`: takes back what `synapse mcp trust` gave. */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ExitCode from "../domain/ExitCode.js"
import type { Reading } from "../extension/mcp/FileMcpConfig.js"
import { McpReading } from "../extension/mcp/FileMcpConfig.js"
import * as ServerFile from "../extension/mcp/ServerFile.js"
import * as TrustFile from "../extension/mcp/TrustFile.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import { complain, print } from "./Answer.js"
import { run } from "./McpServices.js"

const word = (path: string): string => path.replace(/[\s\S]{1,250}/gu, PermissionPrompt.printable)

/** Returns the project's file, and the files that its servers run, whether or not they are trusted now. */
const ofProject = ({ found }: Reading, root: string): ReadonlySet<string> => {
  const servers = found.filter(({ server }) => server?.origin.source === "project")
  return new Set([ServerFile.inProject(root), ...servers.flatMap(({ files }) => files.map(({ path }) => path))])
}

/**
 * Takes the trust back from these files or, where none is named, from the current directory's `mcp_servers.json` and from
 * what its servers run; says what is still trusted below the directory. Fails where a named file is not trusted.
 */
export const untrust = ({ files }: { readonly files: ReadonlyArray<string> }) =>
  Effect.gen(function* () {
    const { home, read, root } = yield* McpReading
    const trusts = TrustFile.read(home)
    if (Either.isLeft(trusts)) {
      const path = TrustFile.pathIn(home)
      return yield* complain(
        `${path} can't be used: ${trusts.left}. Correct it, or move it away: then nothing is trusted.`
      )
    }
    const trusted = [...trusts.right.keys()]
    const named = files.map((file) => [file, Path.resolve(root, file)] as const)
    const strange = named.filter(([, path]) => !trusts.right.has(path))
    if (strange.length > 0)
      return yield* complain(`${strange.map(([file]) => word(file)).join(", ")}: not trusted. Nothing was changed.`)
    const meant = files.length > 0 ? new Set(named.map(([, path]) => path)) : ofProject(yield* read, root)
    const removed = trusted.filter((path) => meant.has(path))
    if (removed.length > 0) yield* TrustFile.remove(home, meant)
    const file = ServerFile.inProject(root)
    yield* print(
      "stdout",
      removed.length > 0
        ? `not trusted any more: ${removed.map(word).join(", ")}`
        : `Nothing to do: ${word(file)} is not trusted.`
    )
    const left = trusted.filter((path) => !meant.has(path) && path.startsWith(`${Path.dirname(file)}/`))
    if (files.length === 0 && left.length > 0) {
      yield* print(
        "stdout",
        ["still trusted, as synapse mcp untrust <file> takes back:", ...left.map((path) => `  ${word(path)}`)].join(
          "\n"
        )
      )
    }
    return ExitCode.success
  }).pipe(run)
