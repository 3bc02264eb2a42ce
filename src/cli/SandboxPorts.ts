/** The action of `synapse port`: opens the port of a server in a running sandbox, from outside. */
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Publisher from "../sandbox/network/Publisher.js"
import * as NetworkNamespace from "../sandbox/platform/linux/live/NetworkNamespace.js"
import * as Programs from "../sandbox/platform/linux/start/Programs.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as Name from "../sandbox/policy/Name.js"
import type { Published } from "../sandbox/policy/SandboxPolicy.js"
import * as Listeners from "../session/Listeners.js"
import * as ProcessTable from "../session/ProcessTable.js"
import * as Action from "./Action.js"
import { complain, print, succeed } from "./Invocation.js"

/** Returns the running sandboxes, with the ports of their servers. */
const servers = () =>
  NetworkNamespace.running().map((place) => ({
    place,
    ports: Listeners.portsOf(Listeners.readOwn(place.inner))
  }))

const list = Effect.gen(function* () {
  const lines = servers().flatMap(({ place, ports }) => ports.map((port) => `${port}  ${Name.of(place.cwd)}`))
  return yield* succeed(lines.length === 0 ? "No server listens in a sandbox that runs." : lines.join("\n"))
})

/** Finds the sandboxes with a server on a port: those of this directory, or else all. */
const find = (port: number): ReadonlyArray<NetworkNamespace.Running> => {
  const cwd = process.cwd()
  const all = servers().flatMap(({ place, ports }) => (ports.includes(port) ? [place] : []))
  const here = all.filter((place) => HostPath.isWithin(place.cwd, cwd) || HostPath.isWithin(cwd, place.cwd))
  return here.length === 0 ? all : here
}

const ended = (pid: number): Effect.Effect<void> =>
  Effect.suspend(() => (ProcessTable.isThere(pid) ? Effect.delay(ended(pid), 500) : Effect.void))

const attempt = <A>(start: () => Promise<A>) =>
  Effect.tryPromise({
    try: start,
    catch: (error) => new ExecutionFailed({ kind: "sandbox", reason: (error as Error).message })
  })

const open = (port: Published) =>
  Effect.gen(function* () {
    const { inside, outside } = port
    const [place, ...others] = find(inside)
    if (place === undefined) {
      return yield* complain(`No sandbox that runs has a server on port ${inside}. synapse port lists the servers.`)
    }
    if (others.length > 0) {
      const places = [place, ...others].map(({ cwd }) => Name.of(cwd)).join(", ")
      return yield* complain(
        `Several sandboxes have a server on port ${inside}: run this in the directory of one: ${places}`
      )
    }
    const { nsenter } = Programs.find("")
    if (nsenter === undefined) return yield* complain("nsenter was not found: install util-linux.")
    const door = yield* Effect.acquireRelease(
      attempt(() => NetworkNamespace.enter({ ...place, nsenter })),
      ({ close }) => Effect.sync(close)
    )
    yield* Effect.acquireRelease(
      attempt(() => Publisher.open(door, port)),
      (server) => Effect.sync(() => server.close())
    )
    yield* print(
      "stderr",
      `synapse: http://127.0.0.1:${outside} leads to port ${inside} of the sandbox in ${Name.of(place.cwd)}. Ctrl-C ends that.`
    )
    yield* ended(place.inner)
    yield* print("stderr", "synapse: the sandbox has ended")
    return ExitCode.success
  }).pipe(
    Effect.scoped,
    Effect.catchAll(({ message }) => complain(`Port ${port.inside} can't be opened: ${message}.`))
  )

/** Opens a port until the sandbox or the program ends. Without a port, lists the ports. */
export const run = (port: Published | undefined) => Action.run(port === undefined ? list : open(port))
