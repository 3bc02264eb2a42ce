/** The MCP servers that the configuration files name. */

import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { McpServer } from "./McpClient.js"
import type { NamedFile, Program } from "./NamedFiles.js"
import type { Server } from "./Server.js"

/** The places of the configuration. */
export interface Places {
  /** The directory of what the program keeps for itself: `$SYNAPSE_HOME`. */
  readonly home: string
  /** The working directory of the session, which servers are told as their root. */
  readonly root: string
  /** Opens the directory for temporary files that servers share with commands; undefined where it is the system's. */
  readonly temporary?: Effect.Effect<string | undefined> | undefined
  /** Finds the test whether sandboxed commands may write to a path. */
  readonly isWritable?: Effect.Effect<(path: string) => boolean> | undefined
}

/** Returns the path of the file that a server is configured in. */
export const fileOf = (source: McpServer["source"], { home, root }: Places): string =>
  source === "project" ? Path.join(root, "mcp_servers.json") : Path.join(home, "mcp", "mcp_servers.json")

/**
 * Returns how the user trusts what a project's servers, or the user's own servers in it, run.
 *
 * @param root the working directory of the session, for what commands may write depends on it
 */
export const howToTrust = (root: string): string =>
  `the user can look at it, and trust it, with \`synapse mcp trust\` in ${root}`

/**
 * An entry of `mcpServers`, with its variables expanded.
 *
 * `fingerprint` is a hash of the entry as it is written, and of the file that it stands in: what is kept of a server is
 * kept under it.
 */
export type McpEntry = Data.TaggedEnum<{
  /** A program that is started, and spoken to by its standard input and output. `cwd` is absolute. */
  Stdio: Known & Program
  /** An address that is spoken to by streamable HTTP. */
  Http: Known & { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /**
   * An entry that is broken or disabled, that the user has not trusted, or that runs a trusted file which commands of this
   * session can still change (`loose`).
   */
  Unusable: Known & {
    readonly reason: "broken" | "disabled" | "untrusted" | "loose"
    readonly problem: string
    /** The file for which it is untrusted or loose, and why. */
    readonly denial?: { readonly file: string; readonly why: string }
  }
}>

/** The fields that entries of each kind have. */
export interface Known {
  readonly server: McpServer
  readonly fingerprint: string
  /** The server as its file defines it. It is undefined for an entry that stands for a file which can't be read. */
  readonly written?: Server
  /** The files that it names, with the content that they have now. */
  readonly files?: ReadonlyArray<NamedFile>
}

export const McpEntry = Data.taggedEnum<McpEntry>()

/** Reads the configuration of MCP servers. */
export class McpConfig extends Context.Tag("synapse/McpConfig")<
  McpConfig,
  Places & {
    /**
     * Returns the entries of the working directory's `mcp_servers.json` over those of `$SYNAPSE_HOME/mcp/mcp_servers.json`,
     * sorted by name. Each file is read anew where it has changed; one that can't be read, or is no JSON, is told as an
     * entry with the name of the file.
     */
    readonly entries: Effect.Effect<ReadonlyArray<McpEntry>>
  }
>() {}
