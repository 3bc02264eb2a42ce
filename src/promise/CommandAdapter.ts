/** Converts a command written with promises into a handler. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type * as CommandHandler from "../command/CommandHandler.js"
import * as CommandRegistry from "../command/CommandRegistry.js"
import { InvalidUsage } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import type { Answer, Command, CommandCall } from "./Command.js"
import * as Fields from "./Fields.js"
import * as NestedCall from "./internal/NestedCall.js"

const encoder = new TextEncoder()

const withText = (bytes: AsyncIterable<Uint8Array>): CommandCall["stdin"] => ({
  [Symbol.asyncIterator]: () => bytes[Symbol.asyncIterator](),
  text: async () => {
    const decoder = new TextDecoder()
    let text = ""
    for await (const chunk of bytes) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  }
})

const toResult = (name: string, answer: Answer): CommandResult.CommandResult => {
  if (answer === undefined) return CommandResult.make()
  if (typeof answer === "string") return CommandResult.make({ stdout: answer })
  if (!Fields.isObject(answer)) return failed(name, noAnswer)
  const { exitCode = 0, stderr = "", stdout = "" } = answer
  const isRight =
    typeof stdout === "string" &&
    typeof stderr === "string" &&
    Number.isInteger(exitCode) &&
    exitCode >= 0 &&
    exitCode < 256
  return isRight ? { stdout, stderr, exitCode } : failed(name, noAnswer)
}

const noAnswer = new Error("it must answer a text, or { stdout, stderr, exitCode } with an exit code from 0 to 255")

const failed = (name: string, thrown: unknown): CommandResult.CommandResult => {
  const reason = thrown instanceof Error && thrown.message !== "" ? thrown.message : String(thrown)
  return CommandResult.make({ stderr: `${name}: ${reason}\n`, exitCode: 1 })
}

/** Tests for InvalidUsage by its category, which the classes of `synapse-shell/promise` and `synapse-shell` share. */
const isMisuse = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && "category" in thrown && thrown.category === "invalid_usage"

const misused = (name: string, usage: string, { message }: Error): InvalidUsage =>
  new InvalidUsage({ reason: `${name}: ${message}\nUsage: ${usage}` })

/**
 * Makes a handler, which answers `--help` with the summary and the usage. Interrupting the call aborts the command's
 * signal without waiting for the command.
 */
export const toHandler = ({ name, run, summary, usage }: Command): CommandHandler.CommandHandler =>
  CommandRegistry.withHelp({
    name,
    summary,
    usage,
    run: ({ args, cwd, stdin = Stream.empty, write }) =>
      Effect.flatMap(Effect.zip(Effect.runtime<never>(), NestedCall.carrier), ([runtime, carry]) =>
        Effect.tryPromise({
          try: async (signal) =>
            carry(() =>
              run({
                args,
                cwd,
                stdin: withText(Stream.toAsyncIterableRuntime(stdin, runtime)),
                write: (chunk) =>
                  Runtime.runPromise(runtime)(write(typeof chunk === "string" ? encoder.encode(chunk) : chunk), {
                    signal
                  }),
                signal
              })
            ),
          catch: (thrown) => (isMisuse(thrown) ? misused(name, usage, thrown) : failed(name, thrown))
        }).pipe(
          Effect.map((answer) => toResult(name, answer)),
          Effect.catchAll((ending) => (ending instanceof InvalidUsage ? ending : Effect.succeed(ending)))
        )
      )
  })
