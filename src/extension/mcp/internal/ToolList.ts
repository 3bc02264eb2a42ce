/**
 * Reads the tools that a server lists. A server can say anything: what is no tool is left out, and what is no schema is
 * one that takes everything.
 */
import * as Predicate from "effect/Predicate"
import type { JsonSchema, McpTool } from "../McpClient.js"

/** The most tools that are taken from a server. */
const most = 10_000
const mostPages = 1000

/** Deeper schemas, and larger ones, are not looked at: whoever follows one would be at it for long. */
const deepest = 100
const largest = 50_000
const longestName = 256
const longestText = 100_000

/** Reads the tools of one answer to `tools/list`. */
export const page = (server: string, answer: unknown): ReadonlyArray<McpTool> => {
  const { tools } = isObject(answer) ? answer : {}
  return Array.isArray(tools) ? tools.slice(0, most).flatMap((tool) => toolOf(server, tool) ?? []) : []
}

/**
 * Reads all pages, of two tools with one name the first. It ends where a cursor comes for the second time, and where
 * there are too many tools or pages.
 */
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
    // As a server says it, and as the catalog keeps it.
    ...(value["needsTask"] === true || (isObject(execution) && execution["taskSupport"] === "required")
      ? { needsTask: true }
      : {})
  }
}

const isSchema = (value: unknown): value is JsonSchema => isObject(value) && isBounded(value)

/** Tells whether a value is neither too deep nor too large. It does not recurse: it is there for what is too deep. */
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
