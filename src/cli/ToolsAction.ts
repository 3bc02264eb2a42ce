/** Prints the tools: for people, as JSON, or as the `tools` of a request to a model's API. */
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Described } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import type { ToolDefinition } from "../toolset/Tool.js"
import * as ToolFormat from "../toolset/ToolFormat.js"
import { Toolset } from "../toolset/Toolset.js"
import { App, succeed } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"

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

export const tools = ({
  format,
  json
}: {
  readonly format: Option.Option<ToolFormat.ToolFormat>
  readonly json: boolean
}): Effect.Effect<number, ConfigError, App | Stdio> =>
  Effect.flatMap(App, ({ layer }) =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      // The first command starts the sandbox, or finds that this machine can't: the descriptions say so then.
      yield* toolset.handle({ id: "tools", name: "Bash", arguments: '{"command":":"}' })
      const printer = Option.match(format, { onSome: inFormat, onNone: () => (json ? forPrograms : forPeople) })
      const handlers = (yield* CommandRegistry).listed()
      const commands = handlers.map(({ name, summary, usage }) => ({ name, usage, summary }))
      return yield* succeed(printer(toolset.tools, commands))
    }).pipe(Effect.provide(layer({}, {})))
  )
