/**
 * `synapse tools`: prints the definitions of the tools, as a model gets them.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Described } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import type { ToolDefinition } from "../toolset/Tool.js"
import * as ToolFormat from "../toolset/ToolFormat.js"
import { Toolset } from "../toolset/Toolset.js"
import { House } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

/** Formats the tools, and the commands that they run. */
type Printer = (tools: ReadonlyArray<ToolDefinition>, commands: ReadonlyArray<Described>) => string

const toJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

const forPeople: Printer = (tools, commands) =>
  [
    ...tools.map(({ description, name, parameters }) =>
      [`${name}`, description, "Parameters:", toJson(parameters)].join("\n\n")
    ),
    "Commands:",
    ...commands.map(({ summary, usage }) => `  ${usage}\n      ${summary}`)
  ].join("\n")

const forPrograms: Printer = (tools, commands) => toJson({ tools, commands })

const inFormat =
  (format: ToolFormat.ToolFormat): Printer =>
  (tools) =>
    toJson(tools.map((tool) => ToolFormat.toFormat(tool, format)))

const print = (printer: Printer): Effect.Effect<void, never, CommandRegistry | Stdio | Toolset> =>
  Effect.gen(function* () {
    const toolset = yield* Toolset
    // The first command starts the sandbox, or finds that this machine can't: the descriptions say so then.
    yield* toolset.handle({ id: "tools", name: "Bash", arguments: '{"command":":"}' })
    const { tools } = toolset
    const handlers = (yield* CommandRegistry).listed()
    const stdio = yield* Stdio
    const commands = handlers.map(({ name, summary, usage }) => ({ name, usage, summary }))
    yield* Effect.promise(async () => stdio.write("stdout", `${printer(tools, commands)}\n`))
  })

/**
 * The subcommand `tools`, which prints the tools: for people, as JSON, or as the `tools` of a request to a model's API.
 *
 * @since 0.1.0
 * @category commands
 */
export const tools = Command.make(
  "tools",
  {
    format: Options.choice("format", ToolFormat.formats).pipe(
      Options.withDescription("As the JSON list of tools that an API takes; openai-strict is for structured outputs."),
      Options.optional
    ),
    json: Options.boolean("json").pipe(Options.withDescription("As JSON: { tools, commands }."))
  },
  ({ format, json }) => {
    const printer = Option.match(format, { onSome: inFormat, onNone: () => (json ? forPrograms : forPeople) })
    return Effect.flatMap(House, (house) => Effect.provide(print(printer), house.layer({}, {})))
  }
).pipe(Command.withDescription("Show the tool definitions for a model's tool list, and the commands."))
