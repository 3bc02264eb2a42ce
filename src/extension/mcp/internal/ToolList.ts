/**
 * Reads the list of a server's tools, which is untrusted. Invalid tools are left out, and an invalid schema becomes one
 * that allows any object.
 */
import * as Predicate from "effect/Predicate"
import type { JsonSchema, McpTool } from "../McpClient.js"

const most = 10_000
const mostPages = 1000

/** Limits of a schema, since larger ones would take long to process. */
const deepest = 100
const largest = 50_000
const longestName = 256
const longestText = 100_000

/** Reads the tools of one answer to `tools/list`. */
export const page = (server: string, answer: unknown): ReadonlyArray<McpTool> => {
  const { tools } = isObject(answer) ? answer : {}
  return Array.isArray(tools) ? tools.slice(0, most).flatMap((tool) => toolOf(server, tool) ?? []) : []
}

/** Reads all pages. Of two tools with one name, the first counts. Stops at a repeated cursor, and at the limits. */
export const all = async (
  server: string,
  ask: (cursor: string | undefined) => Promise<unknown>
): Promise<ReadonlyArray<McpTool>> => {
  const tools = new Map<string, McpTool>()
  const seen = new Set<string | undefined>()
  for (let cursor: string | undefined; !seen.has(cursor) && tools.size < most && seen.size < mostPages; ) {
    seen.add(cursor)
    const answer = await ask(cursor)
    for (const tool of page(server, answer)) {
      if (!tools.has(tool.name) && tools.size < most) tools.set(tool.name, tool)
    }
    cursor = isObject(answer) && typeof answer["nextCursor"] === "string" ? answer["nextCursor"] : undefined
  }
  return [...tools.values()]
}

const isObject = Predicate.isReadonlyRecord

const toolOf = (server: string, value: unknown): McpTool | undefined => {
  if (!isObject(value) || typeof value["name"] !== "string") return undefined
  const { name, description, annotations, execution, inputSchema, outputSchema } = value
  if (name === "" || name.length > longestName) return undefined
  const title = value["title"] ?? (isObject(annotations) ? annotations["title"] : undefined)
  return {
    server,
    name,
    ...(typeof title === "string" ? { title: title.slice(0, longestText) } : {}),
    ...(typeof description === "string" ? { description: description.slice(0, longestText) } : {}),
    inputSchema: isSchema(inputSchema) ? inputSchema : { type: "object" },
    ...(isSchema(outputSchema) ? { outputSchema } : {}),
    // The first is the catalog's form, the second the server's.
    ...(value["needsTask"] === true || (isObject(execution) && execution["taskSupport"] === "required")
      ? { needsTask: true }
      : {})
  }
}

const isSchema = (value: unknown): value is JsonSchema => isObject(value) && isBounded(value)

/** Tests whether a value is within the limits, without recursion, which deep values would overflow. */
const isBounded = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  let size = 0
  for (let depth = 0; level.length > 0; depth++) {
    size += level.length
    if (depth > deepest || size > largest) return false
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
  }
  return true
}
