/** The places that MCP servers are configured in. */
import * as Path from "node:path"
import type { McpServer } from "./McpClient.js"

/** The places of the configuration. */
export interface Places {
  readonly home: string
  readonly root: string
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
