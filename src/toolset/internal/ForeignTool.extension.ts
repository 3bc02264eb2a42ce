/** Writes the calls of MCP tools and of skills, as other agents name them, as command lines. */
import * as Predicate from "effect/Predicate"
import * as Quote from "../../bash/Quote.js"
import { type Given, isShown } from "./ForeignTool.given.js"

/** Matches `mcp__<server>__<tool>`: a server's name has no two underscores next to each other. */
const mcpName = /^mcp__((?:(?!__)[\w.-])+)__([\w.-]+)$/

/** Returns our name of an MCP tool that is named as `mcp__<server>__<tool>`. */
export const mcpNameOf = (name: string): string | undefined => {
  const [, server, tool] = mcpName.exec(name) ?? []
  return server === undefined ? undefined : `mcp:${server}:${tool}`
}

/** Writes the call of an MCP tool; undefined where the name is not one's. */
export const mcp = (name: string, { params }: Given): string | undefined => {
  const command = mcpNameOf(name)
  if (command === undefined) return undefined
  if (!Predicate.isReadonlyRecord(params)) return `${command} --json '{…}'`
  if (Object.keys(params).length === 0) return command
  const json = JSON.stringify(params)
  return `${command} --json ${isShown(json) ? Quote.word(json) : "'{…}'"}`
}

/** Writes `Skill`, which loads a skill's instructions. */
export const skill = (given: Given): string =>
  given.any("skill", "name", "skillname", "command") === undefined
    ? "skill:list"
    : `skill:load ${given.word("<name>", "skill", "name", "skillname", "command")}`

/** Our types by the names that other agents have for such. */
const types: Readonly<Record<string, string>> = {
  "general-purpose": "general",
  default: "general",
  worker: "general",
  plan: "explore",
  explorer: "explore",
  "codebase-search": "explore"
}

/** Writes `Task`, which has a sub-agent do something. */
export const task = (given: Given): string => {
  const asked = (given.text("subagenttype", "agenttype", "type", "agent", "agentname") ?? "").trim()
  const small = asked.toLowerCase()
  const type = types[small] ?? (/^(?:general|explore|skill)$/.test(small) ? small : asked)
  const description = given.word("<words>", "description", "title", "name", "taskname")
  const prompt = given.word("<prompt>", "prompt", "message", "task", "instructions", "input")
  return `task:${/^[\w.+-]+$/.test(type) ? type : "general"} --prompt ${prompt} --description ${description}`
}
