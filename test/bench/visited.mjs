// Counts the modules and functions of Synapse that one warm `ls` visits, by V8's own coverage of the library in dist.
// Counts the call that visits the fewest of several, since the session's timers add to the others.
import * as inspector from "node:inspector/promises"
import * as path from "node:path"
import { pathToFileURL } from "node:url"

const dist = path.resolve(import.meta.dirname, "../../dist")
const load = (/** @type {string} */ module) => import(pathToFileURL(path.join(dist, module)).href)
const [Effect, Synapse, { Toolset }] = await Promise.all([
  import("effect/Effect"),
  load("Synapse.js"),
  load("toolset/Toolset.js")
])

const session = new inspector.Session()
session.connect()
const call = { id: "1", name: "Bash", arguments: '{"command":"ls"}' }

// What is loaded from dist has no types.
// @effect-diagnostics unsafeEffectTypeAssertion:off
await Effect.runPromise(
  /** @type {import("effect/Effect").Effect<void>} */ (
    Effect.gen(function* () {
      const toolset = yield* Toolset
      for (let warm = 0; warm < 20; warm++) yield* toolset.handle(call)
      yield* Effect.promise(() => session.post("Profiler.enable"))
      yield* Effect.promise(() => session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false }))
      const calls = []
      for (let measured = 0; measured < 40; measured++) {
        yield* toolset.handle(call)
        const { result } = yield* Effect.promise(() => session.post("Profiler.takePreciseCoverage"))
        const visited = result
          .filter(({ url }) => url.startsWith(pathToFileURL(dist).href))
          .map(({ url, functions }) => ({
            module: path.relative(pathToFileURL(dist).pathname, new URL(url).pathname),
            functions: functions
              .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
              .map(({ functionName }) => functionName)
          }))
          .filter(({ functions }) => functions.length > 0)
        calls.push({ visited, count: visited.flatMap(({ functions }) => functions).length })
      }
      const { count, visited } = calls.reduce((least, call) => (call.count < least.count ? call : least))
      if (process.argv.includes("--list"))
        for (const { module, functions } of visited) console.log(module, functions.join(" "))
      console.log(`${visited.length} modules, ${count} functions`)
    }).pipe(Effect.provide(Synapse.layer({})), Effect.scoped)
  )
)
process.exit(0)
