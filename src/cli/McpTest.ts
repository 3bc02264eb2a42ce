/** The action of `synapse mcp test`: connects to one server. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { CommandError } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import { McpClient } from "../extension/mcp/McpClient.js"
import { complain, end, print } from "./Answer.js"
import { House } from "./Invocation.js"

/** Connects to a server, and prints how many tools it has and how long that took; returns the exit code. */
export const connect = (name: string) =>
  Effect.gen(function* () {
    const client = yield* McpClient
    const before = yield* Clock.currentTimeMillis
    const tools = yield* client.tools(name, { command: name, refresh: true })
    const took = (yield* Clock.currentTimeMillis) - before
    const count = tools.length === 1 ? "1 tool" : `${tools.length} tools`
    yield* print("stdout", `${name} answers: ${count}, in ${took} ms`)
    return ExitCode.success as number
  }).pipe(
    // The advice is for who calls its tools.
    Effect.catchAll((error) => complain(reasonOf(name, error)))
  )

/** A server that is not trusted is nothing that the sandbox denies to whoever asks here. */
const reasonOf = (name: string, error: CommandError): string => {
  if (error._tag === "Blocked") return `The MCP server ${name} can't be used: ${error.rule}: ${error.reason}.`
  return error._tag === "CommandNotFound" ? error.reason : error.message
}

/** Connects to a server in a house, and sets the exit code. */
export const test = ({ name }: { readonly name: string }) =>
  Effect.flatMap(House, ({ layer }) => end(Effect.provide(connect(name), layer({}, {}))))
