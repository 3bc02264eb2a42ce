/** Tool calls over this machine's own sandbox: what the model gets. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import * as Permission from "../../src/sandbox/permission/Permission.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"

const handle = (command: string) =>
  Effect.flatMap(Toolset, (toolset) =>
    toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) })
  )

/** An app with a secret in its directory. */
const inApp = <A, E>(
  use: (cwd: string) => Effect.Effect<A, E, Toolset>,
  enabled?: boolean,
  permission = Permission.layerNone
) =>
  Effect.scoped(
    Effect.flatMap(Directory.make, (cwd) => {
      Fs.writeFileSync(`${cwd}/.env`, "TOKEN=1\n")
      const sandbox = { home: `${cwd}/home`, ...(enabled === undefined ? {} : { enabled }) }
      return Effect.provide(use(cwd), Synapse.layer({ cwd }, { sandbox, permission }))
    })
  )

describe.skipIf(process.platform !== "linux")("the toolset over a sandbox", () => {
  it.live("S64: says of a command that was not run which rule blocked it, and what would be allowed", () =>
    inApp((cwd) =>
      Effect.gen(function* () {
        const { extras, isError, message, output } = yield* handle("touch ran; cat .env")
        const { denied, ...others } = extras
        assert.deepStrictEqual([denied?.rule, denied?.ran], ["**/.env", false])
        assert.deepStrictEqual(others, {
          exitCode: 126,
          failureCategory: "blocked",
          error: "Blocked",
          blocked: true,
          blockedReason: "on the blacklist (built in)",
          blockedResource: "**/.env",
          blockedRule: "**/.env"
        })
        assert.isTrue(isError)
        assert.strictEqual(message, "Denied by the sandbox.")
        assert.match(output, /^sandbox: \/\S+\/\.env is blocked by rule \*\*\/\.env: .*\. The command was not run\. /)
        assert.deepStrictEqual(Directory.list(cwd), [".env", "home"])
      })
    )
  )

  it.live("S66: says of a command that ran what it was denied, after its output", () =>
    inApp(() =>
      Effect.gen(function* () {
        const { extras, isError, message, output } = yield* handle('echo before; f=.en; cat "${f}v"')
        const { blockedReason, denied, stderr, ...rest } = extras
        assert.deepStrictEqual([denied?.rule, denied?.ran], ["**/.env", true])
        assert.deepStrictEqual(rest, {
          exitCode: 1,
          stdout: "before\n",
          failureCategory: "blocked",
          blocked: true,
          blockedResource: "**/.env",
          blockedRule: "**/.env"
        })
        assert.match(stderr ?? "", /Permission denied/)
        assert.match(blockedReason ?? "", /^sandbox: .*\/\.env is blocked by rule \*\*\/\.env: /)
        assert.strictEqual(message, "Denied by the sandbox.")
        assert.isTrue(isError && output.startsWith("before\n") && output.endsWith(blockedReason ?? "(no reason)"))
      })
    )
  )

  it.live("S65: runs what only speaks of a secret, and what has nothing to do with the policy fails as it does", () =>
    inApp(() =>
      Effect.gen(function* () {
        const { extras } = yield* handle("echo 'see ~/.ssh and .env'")
        assert.deepStrictEqual(extras, { exitCode: 0, stdout: "see ~/.ssh and .env\n", stderr: "" })
        const failed = yield* handle("echo 'x: Permission denied' >&2; exit 1")
        assert.deepInclude(failed.extras, { exitCode: 1, failureCategory: "execution_error" })
        assert.notProperty(failed.extras, "blocked")
      })
    )
  )

  it.live("runs what a person allows once", () =>
    inApp(
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual((yield* handle("cat .env")).extras, { exitCode: 0, stdout: "TOKEN=1\n", stderr: "" })
        }),
      undefined,
      Permission.layerCallback(() => Effect.succeed("allow_once"))
    )
  )

  it.live("runs with all that a person allows it once: what it was refused, and what it is refused again", () =>
    inApp(
      (cwd) =>
        Effect.gen(function* () {
          Fs.mkdirSync(`${cwd}/sub`)
          Fs.writeFileSync(`${cwd}/sub/.env`, "TOKEN=2\n")
          yield* handle("cat .env sub/.env")
          const { extras } = yield* handle("cat .env sub/.env")
          assert.deepStrictEqual(extras, { exitCode: 0, stdout: "TOKEN=1\nTOKEN=2\n", stderr: "" })
          assert.isTrue((yield* handle("f=.en; cat ${f}v")).isError)
        }),
      undefined,
      Permission.layerCallback(({ command }) => Effect.succeed(command.startsWith("cat") ? "allow_once" : "deny"))
    )
  )

  it.live("S54: blocks nothing in an app without a sandbox", () =>
    inApp(
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual((yield* handle("cat .env")).extras, { exitCode: 0, stdout: "TOKEN=1\n", stderr: "" })
        }),
      false
    )
  )
})
