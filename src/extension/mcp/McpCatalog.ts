/**
 * Keeps what servers have listed, in memory and in files, so that a server need not be started to tell what it has.
 *
 * @since 0.1.0
 */
import * as Crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Directories from "../../files/Directories.js"
import type { McpTool } from "./McpClient.js"
import type { McpEntry } from "./McpConfig.js"
import * as OwnFile from "./OwnFile.js"
import * as ToolList from "./ToolList.js"

/**
 * The tools of a server, as one version of it has listed them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listed {
  readonly version: string
  readonly tools: ReadonlyArray<McpTool>
  readonly names: ReadonlySet<string>
}

/**
 * Keeps what the servers of entries have listed.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpCatalog {
  /** Returns what is kept. A file is read once, and ignored where it is not one of ours. */
  readonly get: (entry: McpEntry) => Listed | undefined
  /** Keeps a list. Where it can't be written, it is kept in memory. */
  readonly put: (entry: McpEntry, version: string, tools: ReadonlyArray<McpTool>) => Effect.Effect<Listed>
  /** Forgets a list, until there is another. */
  readonly drop: (entry: McpEntry) => void
}

const format = 1
const largest = 32 * 1024 ** 2
/** The most files; those of entries that are long gone make room. */
const mostFiles = 200

/**
 * Makes a catalog whose files lie in a directory, which need not be there.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (directory: string): McpCatalog => {
  const kept = new Map<string, Listed | undefined>()

  const get = (entry: McpEntry) => {
    const key = keyOf(entry)
    if (!kept.has(key)) kept.set(key, read(path.join(directory, fileOf(key)), entry.server.name))
    return kept.get(key)
  }

  return {
    get,
    put: (entry, version, tools) =>
      Effect.suspend(() => {
        const key = keyOf(entry)
        const listed = listedOf(version, tools)
        kept.set(key, listed)
        return Effect.as(Effect.ignore(Effect.tryPromise(() => write(directory, fileOf(key), version, tools))), listed)
      }),
    drop: (entry) => {
      kept.set(keyOf(entry), undefined)
    }
  }
}

const keyOf = ({ fingerprint, server }: McpEntry): string => JSON.stringify([server.name, fingerprint])

const fileOf = (key: string): string => `${OwnFile.hash(key).slice(0, 32)}.json`

const listedOf = (version: string, tools: ReadonlyArray<McpTool>): Listed => ({
  version,
  tools,
  names: new Set(tools.map(({ name }) => name))
})

const read = (file: string, server: string): Listed | undefined => {
  try {
    const content = OwnFile.read(file, { most: largest })
    if (content._tag !== "Content") return undefined
    const kept: unknown = JSON.parse(new TextDecoder().decode(content.bytes))
    if (typeof kept !== "object" || kept === null || !("format" in kept) || kept.format !== format) return undefined
    if (!("version" in kept) || typeof kept.version !== "string") return undefined
    return listedOf(kept.version, ToolList.page(server, kept).tools)
  } catch {
    return undefined
  }
}

/** Writes a file beside it, and renames it: a reader finds the old list or the new one. */
const write = async (
  directory: string,
  name: string,
  version: string,
  tools: ReadonlyArray<McpTool>
): Promise<void> => {
  const text = JSON.stringify({ format, version, tools })
  if (text.length > largest / 2) return
  Directories.make(directory)
  const draft = path.join(directory, `.${name}.${Crypto.randomBytes(6).toString("hex")}`)
  try {
    await fs.promises.writeFile(draft, text, { flag: "wx", mode: 0o600 })
    await fs.promises.rename(draft, path.join(directory, name))
  } finally {
    await fs.promises.rm(draft, { force: true })
  }
  await prune(directory)
}

const prune = async (directory: string): Promise<void> => {
  const names = await fs.promises.readdir(directory)
  if (names.length <= mostFiles) return
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(directory, name)
      return { file, time: (await fs.promises.lstat(file)).mtimeMs }
    })
  )
  const old = files.sort((a, b) => a.time - b.time).slice(0, files.length - mostFiles)
  await Promise.all(old.map(({ file }) => fs.promises.rm(file, { force: true })))
}
