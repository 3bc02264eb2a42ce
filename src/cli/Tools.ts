/**
 * `synapse tools`: what a model is told of the tools.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { CommandRegistry } from "../command/CommandRegistry.js"
import { Toolset } from "../toolset/Toolset.js"
import { House } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

const print = (json: boolean): Effect.Effect<void, never, CommandRegistry | Stdio | Toolset> =>
  Effect.gen(function* () {
    const { tools } = yield* Toolset
    const handlers = (yield* CommandRegistry).list()
    const stdio = yield* Stdio
    const commands = handlers.map(({ name, summary, usage }) => ({ name, usage, summary }))
    const text = json
      ? JSON.stringify({ tools, commands }, undefined, 2)
      : [
          ...tools.map(({ description, name, parameters }) =>
            [`${name}`, description, "Parameters:", JSON.stringify(parameters, undefined, 2)].join("\n\n")
          ),
          "Commands:",
          ...commands.map(({ summary, usage }) => `  ${usage}\n      ${summary}`)
        ].join("\n")
    yield* Effect.promise(async () => stdio.write("stdout", `${text}\n`))
  })

/**
 * @since 0.1.0
 * @category commands
 */
export const tools = Command.make(
  "tools",
  { json: Options.boolean("json").pipe(Options.withDescription("As JSON: { tools, commands }.")) },
  ({ json }) => Effect.flatMap(House, (house) => Effect.provide(print(json), house.layer({}, {})))
).pipe(Command.withDescription("Show the tool definitions for a model's tool list, and the commands."))
