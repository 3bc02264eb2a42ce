/**
 * Words why an entry of the configuration can't be used: it is broken, or not trusted.
 *
 * @since 0.1.0
 */
import { Blocked, type CommandError } from "../../domain/CommandError.js"
import * as FailureCause from "./FailureCause.js"
import type { McpEntry } from "./McpConfig.js"
import * as McpPlaces from "./McpPlaces.js"

/**
 * Makes the error for a server whose entry is broken, or which runs what is not trusted: what is wrong or
 * not trusted in which file, and what the user can do.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toError = (entry: McpEntry & { readonly _tag: "Unusable" }, places: McpPlaces.Places): CommandError => {
  const { denial, problem, reason, server } = entry
  const file = McpPlaces.fileOf(server.source, places)
  return reason === "broken"
    ? FailureCause.failed(`The MCP server ${server.name} can't be used: ${problem}.`)
    : new Blocked({ resource: `mcp:${server.name}`, rule: denial?.file ?? file, reason: denial?.why ?? problem })
}
