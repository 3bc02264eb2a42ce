/** The MCP servers of the configuration files. */

import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { McpServer } from "./McpClient.js"
import type { NamedFile, Program } from "./NamedFiles.js"
import type { Server } from "./Server.js"
import * as ServerFile from "./ServerFile.js"

/** The places that the configuration depends on. */
export interface Places {
  /** The directory of Synapse's own files, `$SYNAPSE_HOME`. */
  readonly home: string
  /** The session's working directory, which servers get as their root. */
  readonly root: string
  /** Opens the temporary directory that servers share with commands. Undefined for that of the system. */
  readonly temporary?: Effect.Effect<string | undefined> | undefined
  /** Makes a test of whether sandboxed commands may write to a path. */
  readonly isWritable?: Effect.Effect<(path: string) => boolean> | undefined
}

/** Returns the path of the file that configures a server. */
export const fileOf = (source: McpServer["source"], { home, root }: Places): string =>
  source === "project" ? ServerFile.inProject(root) : ServerFile.inHome(home)

/**
 * Words how the user trusts the files that servers run.
 *
 * @param root the working directory of the session, on which the files that commands may write depend
 */
export const howToTrust = (root: string): string =>
  `the user can look at it, and trust it, with \`synapse mcp trust\` in ${root}`

/**
 * An entry of `mcpServers`, with its variables expanded.
 *
 * `fingerprint` is a hash of the entry as written, its file's path, and the files that it names. Cached data of a
 * server is stored under it.
 */
export type McpEntry = Data.TaggedEnum<{
  /** A program that Synapse starts and talks to over standard input and output. `cwd` is absolute. */
  Stdio: Known & Program
  /** An address that Synapse talks to over streamable HTTP. */
  Http: Known & { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /**
   * An entry that is broken, disabled or not trusted, or that runs a trusted file which commands of this session can
   * still change (`loose`).
   */
  Unusable: Known & {
    readonly reason: "broken" | "disabled" | "untrusted" | "loose"
    readonly problem: string
    /** The untrusted or loose file, and the reason. */
    readonly denial?: { readonly file: string; readonly why: string }
  }
}>

/** The fields of every entry. */
export interface Known {
  readonly server: McpServer
  readonly fingerprint: string
  /** The server as its file defines it. Undefined if the entry stands for an unreadable file. */
  readonly written?: Server
  /** The files that it names, with their current content. */
  readonly files?: ReadonlyArray<NamedFile>
}

export const McpEntry = Data.taggedEnum<McpEntry>()

export class McpConfig extends Context.Tag("synapse/McpConfig")<
  McpConfig,
  Places & {
    /**
     * Returns the entries of the working directory's `mcp_servers.json` over those of
     * `$SYNAPSE_HOME/mcp/mcp_servers.json`, sorted by name. Reads a file again if it has changed. An unreadable or
     * invalid file becomes an entry with the name of the file.
     */
    readonly entries: Effect.Effect<ReadonlyArray<McpEntry>>
  }
>() {}
