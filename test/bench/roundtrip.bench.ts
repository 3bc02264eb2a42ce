/** What one command costs: over a bare pipe, in the session, through the whole toolset, and in `synapse call`. */
import { spawn } from "node:child_process"
import * as Readline from "node:readline"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as Bridge from "../../src/bridge/Bridge.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as Synapse from "../../src/Synapse.js"
import * as BashSession from "../../src/session/BashSession.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import * as ShellLauncher from "../../src/session/ShellLauncher.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Pipe from "./Pipe.js"
import * as Table from "./Table.js"

const commands = 1000
const runtime = ManagedRuntime.make(Synapse.layer({}, { sandbox: { enabled: false } }))
const services = Layer.merge(Layer.provide(Bridge.layer, CommandRegistry.layer), SessionSettings.layer())
const scope = await Effect.runPromise(Scope.make())
const session = await Effect.runPromise(
  Layer.buildWithScope(BashSession.layer(ShellLauncher.plain), scope).pipe(
    Effect.map(Context.get(BashSession.BashSession)),
    Effect.provide(services)
  )
)
const toolset = await runtime.runPromise(Toolset)
const pipe = Pipe.open()

/** Microseconds a command. */
const perCommand = async (run: () => Promise<unknown>) => {
  const start = performance.now()
  await run()
  return ((performance.now() - start) * 1000) / commands
}

const repeated = <A>(effect: Effect.Effect<A, unknown>) => Effect.repeatN(effect, commands - 1)

let id = 0
const call = Effect.suspend(() => toolset.handle({ id: String(id++), name: "Bash", arguments: '{"command":"true"}' }))

const rows = (name: string, command: string): ReadonlyArray<Table.Row> => [
  {
    name: `bare pipe: ${name}`,
    run: () =>
      perCommand(async () => {
        for (let at = 0; at < commands; at++) await pipe.run(command)
      })
  },
  { name: `session: ${name}`, run: () => perCommand(() => runtime.runPromise(repeated(session.execute(command)))) }
]

const program = spawn(process.execPath, ["dist/bin/synapse.cjs", "call", "--no-sandbox"], {
  stdio: ["pipe", "pipe", "inherit"]
})
const answers = Readline.createInterface(program.stdout)[Symbol.asyncIterator]()

/** Sends a call to the program, and waits for its answer. */
const inProgram = async () => {
  program.stdin.write('{"id":"1","name":"Bash","arguments":{"command":"true"}}\n')
  await answers.next()
}

try {
  await Table.print(
    [
      ...rows("true", "true"),
      { name: "whole toolset: true", run: () => perCommand(() => runtime.runPromise(repeated(call))) },
      {
        name: "synapse call: true",
        run: () =>
          perCommand(async () => {
            for (let at = 0; at < commands; at++) await inProgram()
          })
      }
    ],
    // 250 µs for a call where the bare pipe took 43.
    { title: "round trip", unit: "µs", samples: 15, goals: { "whole toolset: true": 4, "synapse call: true": 5.8 } }
  )
  await Table.print(rows("/bin/true", "/bin/true"), { title: "round trip of a program", unit: "µs", samples: 5 })
} finally {
  program.stdin.end()
  pipe.close()
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
