// Synapse as Layers, with a command of one's own: node scratchpad/layers.mjs
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommandError from "synapse-shell/CommandError"
import * as CommandRegistry from "synapse-shell/CommandRegistry"
import * as CommandResult from "synapse-shell/CommandResult"
import * as Synapse from "synapse-shell/Synapse"
import * as Toolset from "synapse-shell/Toolset"

const weather = CommandRegistry.layerAdd({
  name: "weather",
  summary: "Tells the weather of a city.",
  usage: "weather <city>",
  run: ({ args: [city] }) =>
    city === undefined
      ? new CommandError.InvalidUsage({ reason: "weather: which city?\nUsage: weather <city>" })
      : Effect.succeed(CommandResult.make({ stdout: `${city}: 21 degrees\n` }))
})

const program = Effect.gen(function* () {
  const toolset = yield* Toolset.Toolset
  for (const command of ["for city in Rome Oslo; do weather $city; done | sort", "weather"]) {
    const result = yield* toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) })
    yield* Console.log(result.output)
  }
})

const app = weather.pipe(Layer.provideMerge(Synapse.layer({ timeout: 10_000 })))

await Effect.runPromise(Effect.provide(program, app))
