import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LoginShell from "../../../src/sandbox/platform/LoginShell.js"

const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "login-"))
afterAll(() => Fs.rmSync(root, { recursive: true, force: true }))

let homes = 0
/** Makes a home whose login shell reads this. */
const home = (profile: string): string => {
  const path = `${root}/${++homes}`
  Fs.mkdirSync(path)
  Fs.writeFileSync(`${path}/.bash_profile`, profile)
  return path
}

const bash = "/bin/bash"
const isRunning = (pid: string) => Fs.existsSync(`/proc/${Number(pid)}/root`)

describe("the environment of a login shell", () => {
  it.live("is what its start-up files set, without the shell's own variables", () =>
    Effect.gen(function* () {
      const path = home(
        'echo hello; echo no >&2\nexport PATH="$HOME/node/bin:$PATH" A="one\ntwo" BASH_ENV=/x PAGER=less\n'
      )
      const { failure, variables } = yield* LoginShell.run(bash, path)
      assert.isUndefined(failure)
      assert.match(variables["PATH"] ?? "", new RegExp(`^${path}/node/bin:/.*:/bin$`))
      assert.strictEqual(variables["A"], "one\ntwo")
      assert.strictEqual(variables["HOME"], path)
      for (const name of ["BASH_ENV", "PAGER", "PWD", "SHLVL", "_"]) assert.notProperty(variables, name)
    })
  )

  it.live("waits for no answer and for nothing in the background", () =>
    Effect.gen(function* () {
      const path = home('read -p "name? " NAME; read -s X </dev/tty; sleep 1000 & echo $! >pid; export A=1\n')
      const { failure, variables } = yield* LoginShell.run(bash, path)
      assert.deepStrictEqual([failure, variables["A"]], [undefined, "1"])
      const pid = Fs.readFileSync(`${path}/pid`, "utf8")
      assert.isTrue(isRunning(pid))
      process.kill(Number(pid), "SIGKILL")
    })
  )

  it.live("is none where the shell fails, hangs or says too much, and says so", () =>
    Effect.gen(function* () {
      const hanging = home("echo $$ >pid; sleep 1000\n")
      const failures = [
        yield* LoginShell.run(bash, home("exit 3\n")),
        yield* LoginShell.run("/nonexistent/shell", root),
        yield* LoginShell.run(bash, hanging, 1000),
        yield* LoginShell.run(bash, home("export A=1; cat /dev/zero >&3\n"), 60_000)
      ]
      const said = (why: string) => `The environment of the login shell (${bash}) is not used: it ${why}.`
      assert.deepStrictEqual(
        failures.map(({ variables }) => variables),
        [{}, {}, {}, {}]
      )
      assert.deepStrictEqual(
        failures.map(({ failure }) => failure),
        [
          said("ended with exit code 3"),
          "The environment of the login shell (/nonexistent/shell) is not used: it can't be started: spawn /nonexistent/shell ENOENT.",
          said("took longer than 1 s"),
          said("is too large")
        ]
      )
      assert.isFalse(isRunning(Fs.readFileSync(`${hanging}/pid`, "utf8")))
    })
  )

  it.effect("is not read where commands can write its files", () =>
    Effect.gen(function* () {
      const path = home("exit 3\n")
      for (const name of [
        ".profile",
        ".bash_login",
        ".bash_logout",
        ".zlogin",
        ".config/fish",
        ".config/fish/conf.d"
      ]) {
        const { failure } = yield* LoginShell.read(path, {
          decide: (file) =>
            file === `${path}/${name}`
              ? { allowed: true }
              : { allowed: false, rule: { pattern: "", path: "/", kind: "path", source: "default" }, reason: "" }
        })
        assert.strictEqual(
          failure,
          `The environment of the login shell is not used: commands can or could write ${path}/${name}.`
        )
      }
    })
  )

  it("gives way to what is set, but for the order of programs", () => {
    assert.deepStrictEqual(
      LoginShell.added(
        { variables: { PATH: "/n/bin:/usr/bin", A: "1", B: "2" } },
        { PATH: "/venv/bin:/usr/bin", A: "0", B: "" }
      ),
      { B: "2", PATH: "/venv/bin:/n/bin:/usr/bin" }
    )
  })
})
