/**
 * Words why an entry of the configuration can't be used: it is broken, or not trusted.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import { Blocked, type CommandError } from "../../domain/CommandError.js"
import * as FailureCause from "./FailureCause.js"
import type { McpEntry } from "./McpConfig.js"
import * as McpPlaces from "./McpPlaces.js"

/**
 * Makes the error for a server whose entry is broken, or not trusted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toError = (entry: McpEntry & { readonly _tag: "Unusable" }, places: McpPlaces.Places): CommandError => {
  const { name, source } = entry.server
  const file = McpPlaces.fileOf(source, places)
  return entry.reason === "broken"
    ? FailureCause.failed(`The MCP server ${name} can't be used: ${entry.problem} (its entry in ${file}).`)
    : new Blocked({
        resource: `mcp:${name}`,
        rule: file,
        reason:
          entry.reason === "loose"
            ? entry.problem
            : `the user has not trusted this file: they must run \`synapse mcp trust\` in ${Path.dirname(file)}`
      })
}
