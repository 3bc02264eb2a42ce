/** Unix sockets of the sandbox's own, and those that the user names: what works, and what stays out of reach. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { has } from "../support/escape/Ground.js"
import { type Manager, type Place, sandboxedOn } from "../support/sandbox/LocalApp.js"

/** Connects, and says BREACH or the system's error; `at` is an expression of perl. */
const connect = (at: string, kind = "SOCK_STREAM") =>
  `perl -MSocket -e '(socket(S, AF_UNIX, ${kind}, 0) && connect(S, pack_sockaddr_un(${at}))) ? print "BREACH\\n" : print "$!\\n"'`

/** Listens in a process of its own, at a name that is relative to a directory. */
const listenIn = (directory: string, name: string, kind = "SOCK_STREAM") => {
  Fs.mkdirSync(directory, { recursive: true })
  const code = `socket(S, AF_UNIX, ${kind}, 0); bind(S, pack_sockaddr_un(${name})) or die $!; listen(S, 5); $| = 1; print "ready\\n"; sleep 600`
  const child = ChildProcess.spawn("perl", ["-MSocket", "-e", code], { cwd: directory, stdio: ["ignore", "pipe", 2] })
  return new Promise<() => void>((resolve, reject) => {
    child.once("exit", reject)
    child.stdout?.once("data", () => resolve(() => child.kill("SIGKILL")))
  })
}

/** Listens in the test's own process. */
const listen = (path: string) => {
  if (!path.startsWith("\0")) Fs.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true })
  return new Promise<() => void>((resolve) => {
    const server = Net.createServer((socket) => socket.end("x")).listen(path, () => resolve(() => server.close()))
  })
}

/** Something that listens outside before the sandbox starts, and a command that must not reach it. */
interface Attack {
  readonly prepare: (place: Place) => ReadonlyArray<Promise<() => void>>
  readonly command: (place: Place) => string
  /** What becomes of it once the sandbox runs. */
  readonly later?: (place: Place) => ReadonlyArray<Promise<() => void>>
}

const id = crypto.randomUUID().slice(0, 8)
const long = "d".repeat(100)

const attacks: Readonly<Record<string, Attack>> = {
  "an abstract socket": {
    prepare: () => [listen(`\0own/${id}`)],
    command: () => connect(`"\\0own/${id}"`)
  },
  "a socket outside": {
    prepare: ({ outside }) => [listen(`${outside}/a/s`)],
    command: ({ outside }) => `${connect(`"${outside}/a/s"`)}; cd ${outside}/a && ${connect('"s"')}`
  },
  "a socket outside by a link, and by /proc": {
    prepare: ({ outside }) => [listen(`${outside}/a/s`)],
    command: ({ outside }) =>
      `ln -s ${outside}/a/s l; ${connect('"l"')}; ${connect(`"/proc/self/root${outside}/a/s"`)}; ${connect(`"/proc/1/root${outside}/a/s"`)}`
  },
  "a socket outside with a relative name": {
    prepare: ({ outside }) => [listenIn(`${outside}/r`, '"s"')],
    command: ({ outside }) => connect(`"${outside}/r/s"`)
  },
  "a socket outside whose program starts anew": {
    prepare: ({ outside }) => [listenIn(`${outside}/n`, '"s"')],
    later: ({ outside }) => {
      Fs.unlinkSync(`${outside}/n/s`)
      return [listen(`${outside}/n/s`), listen(`${outside}/n/t`)]
    },
    command: ({ outside }) => `${connect(`"${outside}/n/s"`)}; ${connect(`"${outside}/n/t"`)}`
  },
  "a socket in the project": {
    prepare: ({ project }) => [listen(`${project}/p/s`)],
    command: () => `${connect('"p/s"')}; ln p/s h && ${connect('"h"')}; rm -f p/s; mv p q; ${connect('"q/s"')}`
  },
  "a socket in the project with a relative name": {
    prepare: ({ project }) => [listenIn(`${project}/r`, '"./../r/s"')],
    command: () => connect('"r/s"')
  },
  "a socket of datagrams in the project": {
    prepare: ({ project }) => [listenIn(project, '"s"', "SOCK_DGRAM")],
    command: () =>
      `${connect('"s"', "SOCK_DGRAM")}; perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0); print send(A, "x", 0, pack_sockaddr_un("s")) ? "BREACH\\n" : "$!\\n"'`
  },
  "a socket in the project, deeper than an address is long": {
    prepare: ({ project }) => [listenIn(`${project}/${long}`, '"s"')],
    command: () => `cd ${long}; ${connect('"s"')}`
  },
  "a socket in the project whose name is not UTF-8": {
    prepare: ({ project }) => [listenIn(project, '"\\xff"')],
    command: () => connect('"\\xff"')
  },
  "another name of a socket outside": {
    prepare: ({ outside, project }) => [
      listenIn(`${outside}/o`, '"s"').then((end) => {
        Fs.linkSync(`${outside}/o/s`, `${project}/h`)
        return end
      })
    ],
    command: () => connect('"h"')
  },
  "a socket in the project whose program starts anew": {
    prepare: ({ project }) => [listenIn(project, '"s"')],
    later: ({ project }) => {
      Fs.unlinkSync(`${project}/s`)
      return [listen(`${project}/s`)]
    },
    command: () => connect('"s"')
  },
  "a socket in the machine's /tmp": {
    prepare: () => [listen(`/tmp/own-${id}`)],
    command: () => connect(`"/tmp/own-${id}"`)
  }
}

const all = (ends: ReadonlyArray<Promise<() => void>>) =>
  Effect.acquireRelease(
    Effect.promise(() => Promise.all(ends)),
    (found) =>
      Effect.sync(() => {
        for (const end of found) end()
      })
  )

const withFile =
  <A, E>(policy: object, use: (manager: Manager, place: Place) => Effect.Effect<A, E>) =>
  (manager: Manager, place: Place) => {
    Fs.writeFileSync(`${place.outside}/home/sandbox.json`, JSON.stringify({ policy }))
    return use(manager, place)
  }

const own = { unixSockets: "own" }

/** A real ssh-agent with one key, outside. */
const agent = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      Fs.mkdirSync(directory, { recursive: true })
      const run = (program: string, ...args: ReadonlyArray<string>) =>
        ChildProcess.spawnSync(program, args, {
          env: { ...process.env, SSH_AUTH_SOCK: `${directory}/agent` },
          encoding: "utf8"
        }).stdout
      const pid = Number(/PID=(\d+)/.exec(run("ssh-agent", "-s", "-a", `${directory}/agent`))?.[1])
      run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "of-the-test", "-f", `${directory}/key`)
      run("ssh-add", "-q", `${directory}/key`)
      return { pid, path: `${Fs.realpathSync(directory)}/agent` }
    }),
    ({ pid }) => Effect.sync(() => process.kill(pid))
  )

export const ownSockets = (title: string, ground: string): void => {
  const sandboxed = sandboxedOn(ground)

  describe.skipIf(!has("perl"))(title, () => {
    for (const [name, { command, later, prepare }] of Object.entries(attacks)) {
      it.scopedLive(`do not reach ${name}`, () =>
        sandboxed((manager, place) =>
          Effect.scoped(
            Effect.gen(function* () {
              yield* all(prepare(place))
              const outside = { ...place, outside: Fs.realpathSync(place.outside) }
              const result = yield* withFile(own, ({ execute }) =>
                Effect.scoped(
                  Effect.gen(function* () {
                    yield* execute("true")
                    if (later !== undefined) yield* all(later(place))
                    yield* Effect.sleep(later === undefined ? 0 : 300)
                    return yield* execute(command(outside))
                  })
                )
              )(manager, place)
              assert.notInclude(result.stdout, "BREACH")
              assert.match(result.stdout, /denied|refused|No such/, result.stderr)
            })
          )
        )
      )
    }

    it.live("are made in every place that can be written, and where a dead one lies", () =>
      sandboxed(
        withFile(own, ({ execute }, { project }) =>
          Effect.gen(function* () {
            const end = yield* Effect.promise(() => listenIn(project, '"dead"'))
            end()
            yield* Effect.sleep(50)
            for (const at of ["made", "dead", "/tmp/made", "\\0made"]) {
              const code = `unlink "${at}"; socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("${at}")) && listen(S, 1) or die $!; socket(C, AF_UNIX, SOCK_STREAM, 0); print connect(C, pack_sockaddr_un("${at}")) ? "ok" : $!`
              assert.strictEqual((yield* execute(`perl -MSocket -e '${code}'`)).stdout, "ok", at)
            }
          })
        )
      )
    )

    it.live("are not those of a directory in the machine's /tmp that may be read", () =>
      sandboxed((manager, place) =>
        Effect.scoped(
          Effect.gen(function* () {
            const directory = `/tmp/own-read-${crypto.randomUUID().slice(0, 8)}`
            yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(directory, { recursive: true })))
            yield* all([listen(`${directory}/s`)])
            Fs.writeFileSync(`${directory}/f`, "kept\n")
            const policy = { ...own, filesystem: { readable: [directory] } }
            const command = `cat ${directory}/f; ${connect(`"${directory}/s"`)}`
            const { stdout } = yield* withFile(policy, ({ execute }) => execute(command))(manager, place)
            assert.strictEqual(stdout, "kept\nPermission denied\n")
          })
        )
      )
    )

    it.live("name the rule by which one of a program outside is refused", () =>
      sandboxed((manager, place) =>
        Effect.scoped(
          Effect.gen(function* () {
            const path = `${Fs.realpathSync(place.outside)}/a/s`
            yield* all([listen(path)])
            const code = `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("${path}")) or die "${path}: $!\\n"'`
            const { blockedReason, blockedRule } = yield* withFile(own, ({ execute }) => execute(code))(manager, place)
            assert.strictEqual(blockedRule, path)
            assert.match(blockedReason ?? "", /a program outside listens there.*--allow-socket/)
          })
        )
      )
    )

    const needsAgent = it.scopedLive.skipIf(!has("ssh-agent"))
    needsAgent("are of an agent that is named, and of no other", () =>
      sandboxed((manager, place) =>
        Effect.scoped(
          Effect.gen(function* () {
            const named = yield* agent(`${place.outside}/user/.ssh/agents`)
            const other = yield* agent(`${place.outside}/other`)
            const results = yield* withFile({ sockets: ["~/.ssh/agents/agent"] }, ({ execute }) =>
              Effect.all(
                [named, other].map(({ path }) =>
                  execute(`export SSH_AUTH_SOCK=${path}; ssh-add -l; ls $(dirname ${path})`)
                )
              )
            )(manager, place)
            assert.match(results[0]?.stdout ?? "", /of-the-test.*\nagent\n$/)
            assert.strictEqual(results[1]?.stdout, "")
          })
        )
      )
    )

    it.live("are not named by links, files, or names that commands can give away", () =>
      sandboxed((manager, place) =>
        Effect.scoped(
          Effect.gen(function* () {
            const outside = Fs.realpathSync(place.outside)
            yield* all([listen(`${outside}/a/s`), listen(`${place.project}/s`)])
            Fs.symlinkSync(`${outside}/a/s`, `${outside}/l`)
            Fs.writeFileSync(`${outside}/f`, "")
            for (const [path, reason] of [
              [`${outside}/l`, /symbolic link/],
              [`${outside}/f`, /no socket/],
              [`${outside}/a`, /no socket/],
              [`${outside}/project/s`, /commands can write there/]
            ] as const) {
              const error = yield* Effect.flip(
                withFile({ sockets: [path] }, ({ execute }) => execute("true"))(manager, place)
              )
              assert.match(error.message, reason)
            }
            const gone = { sockets: [`${outside}/gone`, "$NO_SUCH_VARIABLE"] }
            const { exitCode } = yield* withFile(gone, ({ execute }) => execute("true"))(manager, place)
            assert.strictEqual(exitCode, 0)
          })
        )
      )
    )

    it.live("need a /tmp of the sandbox's own", () =>
      sandboxed(
        withFile({ ...own, temporary: "host" }, ({ execute }) =>
          Effect.map(Effect.flip(execute("true")), ({ message }) => assert.match(message, /private \/tmp/))
        )
      )
    )
  })
}
