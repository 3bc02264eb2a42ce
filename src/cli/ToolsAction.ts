/** Prints the tools and commands as JSON, or the tools in the format of a model's API. */
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as ToolFormat from "../toolset/ToolFormat.js"
import { Toolset } from "../toolset/Toolset.js"
import { App, succeed } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"

export const tools = ({
  format
}: {
  readonly format: Option.Option<ToolFormat.ToolFormat>
}): Effect.Effect<number, ConfigError, App | Stdio> =>
  Effect.flatMap(App, ({ layer }) =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      // The first command shows whether the sandbox works here, and the descriptions mention it.
      yield* toolset.handle({ id: "tools", name: "Bash", arguments: '{"command":":"}' })
      const { tools } = toolset
      const handlers = (yield* CommandRegistry).listed()
      const printed = Option.match(format, {
        onSome: (format): unknown => tools.map((tool) => ToolFormat.toFormat(tool, format)),
        onNone: () => ({ tools, commands: handlers.map(({ name, summary, usage }) => ({ name, usage, summary })) })
      })
      return yield* succeed(JSON.stringify(printed, undefined, 2))
    }).pipe(Effect.provide(layer({}, {})))
  )
