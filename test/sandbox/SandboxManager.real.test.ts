/** A manager over real shells: one that crashes, and one without a sandbox. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CommandRegistry } from "../../src/command/CommandRegistry.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Synapse from "../../src/Synapse.js"
import type { Settings } from "../../src/sandbox/config/SandboxSettings.js"
import * as SandboxPlatform from "../../src/sandbox/platform/SandboxPlatform.js"
import { SandboxManager } from "../../src/sandbox/SandboxManager.js"
import * as Directory from "../support/sandbox/Directory.js"

type Manager = Context.Tag.Service<SandboxManager>

const inApp = <A, E>(
  use: (manager: Manager, cwd: string) => Effect.Effect<A, E, CommandRegistry>,
  sandbox: Partial<Settings> = {},
  shellIn: (cwd: string) => { readonly shellCommand?: string } = () => ({})
) =>
  Effect.scoped(
    Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([cwd, home]) =>
      Effect.flatMap(SandboxManager, (manager) => use(manager, cwd)).pipe(
        Effect.provide(Synapse.layer({ cwd, ...shellIn(cwd) }, { sandbox: { home, ...sandbox } }))
      )
    )
  )

/** The first two of these processes start a shell, which ends as soon as a command's line comes. */
const dying = (cwd: string) => {
  const path = `${cwd}/shell`
  const text = `#!/bin/bash
[[ $(wc -l <'${cwd}/starts') -ge 2 ]] && exec /bin/bash "$@"
echo $$ >>'${cwd}/starts'
exec /bin/bash "$@" < <(while IFS= read -r line; do [[ $line == '{ __synapse_status=;'* ]] && exit; printf '%s\\n' "$line"; done)
`
  Fs.writeFileSync(`${cwd}/starts`, "")
  Fs.writeFileSync(path, text, { mode: 0o755 })
  return { shellCommand: path }
}

describe.skipIf(process.platform !== "linux")("a manager over real shells", () => {
  it.live(
    "S57: takes a new sandbox where the shells of one die before the command has begun, and runs it once",
    () =>
      inApp(
        (manager, cwd) =>
          Effect.gen(function* () {
            const first = yield* manager.getSandbox(cwd)
            const { exitCode, stdout } = yield* manager.execute("echo x >>ran; cat ran", cwd)
            assert.deepStrictEqual([exitCode, stdout], [0, "x\n"])
            assert.strictEqual(Fs.readFileSync(`${cwd}/starts`, "utf8").split("\n").length, 3)
            assert.notStrictEqual(yield* manager.getSandbox(cwd), first)
          }),
        {},
        dying
      ),
    30_000
  )

  for (const enabled of [true, false]) {
    const how = enabled ? "in a sandbox" : "without a sandbox"

    it.live(`S59: ends the shell and what it knew at shutdown, ${how}`, () =>
      inApp(
        (manager) =>
          Effect.gen(function* () {
            const pid = (yield* manager.execute("kept=1; sleep 1000 & echo $!")).stdout.trim()
            yield* manager.shutdown
            // What is dead and not yet collected has no command line.
            const commandLine = `/proc/${pid}/cmdline`
            if (!enabled) assert.isTrue(!Fs.existsSync(commandLine) || Fs.readFileSync(commandLine, "utf8") === "")
            assert.strictEqual((yield* manager.execute('echo "<$kept>"')).stdout, "<>\n")
          }),
        { enabled }
      )
    )

    it.live(`starts the shell in the directory that its sandbox is for, ${how}`, () =>
      inApp(
        (manager, cwd) =>
          Effect.gen(function* () {
            const other = `${cwd}/other`
            Fs.mkdirSync(other)
            assert.strictEqual((yield* manager.execute("pwd", other)).stdout, `${other}\n`)
            assert.strictEqual(yield* (yield* manager.getSandbox(other)).cwd, other)
            assert.strictEqual((yield* manager.execute("pwd")).stdout, `${cwd}\n`)
          }),
        { enabled }
      )
    )

    it.live(`refuses a command that the shell has called to run or restart anything in that shell, ${how}`, () =>
      inApp(
        (manager) =>
          Effect.gen(function* () {
            for (const restart of [false, true]) {
              const nested = {
                name: "nested",
                summary: "Runs a command.",
                usage: "nested",
                run: () =>
                  Effect.match(manager.execute("echo x", { restart }), {
                    onFailure: ({ message }) => CommandResult.make({ stdout: message }),
                    onSuccess: (result) => result
                  })
              }
              const { stdout } = yield* Effect.scoped(
                Effect.zipRight(
                  Effect.flatMap(CommandRegistry, (registry) => registry.add(nested)),
                  manager.execute("kept=1; nested | cat; echo; echo $kept")
                )
              )
              assert.match(stdout, /^a command that the shell has called can't run another in that shell.*\n1\n$/)
            }
          }),
        { enabled }
      )
    )

    it.live(`S21: restarts the shell before a command, which is the next one's too, ${how}`, () =>
      inApp(
        (manager) =>
          Effect.gen(function* () {
            yield* manager.execute("kept=1; cd /")
            assert.strictEqual((yield* manager.execute('echo "<$kept>"', { restart: true })).stdout, "<>\n")
          }),
        { enabled }
      )
    )

    it.live(`S21: restarts the shell again where others have run since the call, ${how}`, () =>
      inApp(
        (manager) =>
          Effect.gen(function* () {
            yield* manager.execute("true")
            const queued = yield* Effect.forEach(
              [
                Effect.either(manager.execute("sleep 60")),
                Effect.either(manager.execute("kept=by-another; cd /")),
                Effect.either(manager.execute('echo "<$kept>"; pwd', { restart: true }))
              ],
              (execution) => Effect.zipLeft(Effect.fork(execution), Effect.sleep(50))
            )
            const [, , last] = yield* Fiber.join(Fiber.all(queued))
            assert.strictEqual(last?._tag === "Right" ? last.right.stdout : last?._tag, `<>\n${yield* manager.cwd}\n`)
            assert.notStrictEqual(yield* manager.cwd, "/")
          }),
        { enabled }
      )
    )
  }

  it.live("S66: recognises a denial, and no other failure", () =>
    inApp((manager, cwd) =>
      Effect.gen(function* () {
        Fs.writeFileSync(`${cwd}/.env`, "TOKEN=1\n")
        const denied = yield* manager.execute('f=.en; cat "${f}v"')
        assert.isTrue(SandboxPlatform.isViolation(denied))
        assert.deepInclude(denied, { blockedResource: "**/.env" })
        assert.match(denied.blockedReason ?? "", /^sandbox: .* is blocked by rule /)
        assert.isFalse(SandboxPlatform.isViolation(yield* manager.execute("cat missing")))
      })
    )
  )

  it.live("S54: has no policy over a platform that enforces nothing, and runs with the rights of the user", () =>
    Effect.scoped(
      Effect.flatMap(Directory.make, (cwd) =>
        Effect.gen(function* () {
          Fs.writeFileSync(`${cwd}/.env`, "TOKEN=1\n")
          const manager = yield* SandboxManager
          assert.isUndefined((yield* manager.getSandbox(cwd)).policy)
          assert.strictEqual((yield* manager.execute("cat .env")).stdout, "TOKEN=1\n")
        }).pipe(
          Effect.provide(
            Synapse.layer({ cwd }, { sandbox: { home: `${cwd}/home` }, platform: SandboxPlatform.layerNone })
          )
        )
      )
    )
  )
})
