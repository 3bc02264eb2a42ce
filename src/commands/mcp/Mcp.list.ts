/**
 * Lists servers and their tools, one line each.
 *
 * @since 0.1.0
 */
import * as Advice from "../../domain/Advice.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { McpServer, McpTool } from "../../extension/mcp/McpClient.js"
import * as McpName from "../../extension/mcp/McpName.js"
import * as Signature from "./Mcp.signature.js"
import * as Tool from "./Mcp.tool.js"

/** The most optional parameters that are named in a list. */
const mostOptions = 2

/** The most characters of a summary. */
const mostSummary = 120

/**
 * The reason why a tool that needs MCP tasks can't be called.
 *
 * @since 0.1.0
 * @category texts
 */
export const asTask = "it can be called as an MCP task only, which Synapse does not offer"

/**
 * Returns the purpose of a tool in one line, or why it can't be called; empty where its server says nothing.
 *
 * @since 0.1.0
 */
export const summaryOf = ({ description = "", needsTask, title = "" }: McpTool): string =>
  needsTask === true
    ? `can't be called: ${asTask}`
    : ForeignText.sentence(description.trim() === "" ? title : description, mostSummary)

/**
 * Lists the tools of a server: how each is called, and what for.
 *
 * @since 0.1.0
 * @category printing
 */
export const tools = (all: ReadonlyArray<McpTool>): string =>
  all
    .map((tool) => {
      const summary = summaryOf(tool)
      return `${Signature.usage(Tool.make(tool), mostOptions)}${summary === "" ? "" : `  # ${summary}`}\n`
    })
    .join("")

/**
 * Returns the names of the servers that can't be used, by the reason.
 *
 * @since 0.1.0
 */
export const problems = (all: ReadonlyArray<McpServer>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const names = new Map<string, ReadonlyArray<string>>()
  for (const { isFile, name, problem } of all) {
    if (isFile !== true && problem !== undefined) names.set(problem, [...(names.get(problem) ?? []), name])
  }
  return names
}

/**
 * Lists the servers: how the tools of each are listed, whose it is, and why it can't be used. A file that can't be read
 * is told as what it is, and a reason that several have once, below. The command lines of servers stay the user's: a token may stand in one.
 *
 * @since 0.1.0
 * @category printing
 */
export const servers = (all: ReadonlyArray<McpServer>): string => {
  const unusable = problems(all)
  const shared = [...unusable].filter(([, names]) => names.length > 1)
  const lines = all.map(({ isFile, name, problem, source }) => {
    if (isFile === true)
      return `# ${ForeignText.line(name, 300)} can't be used: ${ForeignText.line(problem ?? "", 300)}\n`
    if (problem === undefined) return `${McpName.toWord(name)}  # ${source}\n`
    const why = shared.some(([one]) => one === problem) ? "" : `: ${ForeignText.line(problem, 300)}`
    return `${McpName.toWord(name)}  # ${source}: not usable${why}\n`
  })
  const below = shared.map(
    ([problem, names]) =>
      `# ${names.map((name) => McpName.toWord(name)).join(", ")}: ${ForeignText.line(problem, 300)}\n`
  )
  return [...lines, ...below].join("")
}

/**
 * Returns what is said where there are no tools or servers to list.
 *
 * @since 0.1.0
 */
export const none = (server?: string): Advice.Advice =>
  server === undefined
    ? Advice.line`mcp: no servers are configured.`
    : Advice.line`${McpName.toWord(server)}: the server has no tools.`
