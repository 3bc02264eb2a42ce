/** The Promise face as programs have it: what the build made, over a real shell. */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { InvalidUsage, make } from "../src/promise.js"
import * as Temporary from "./support/Temporary.js"

const call = (command: string, id = command) => ({ id, name: "Bash", arguments: { command } })

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s*Z/m.test(fs.readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

describe("make", () => {
  it("is rejected where a setting is wrong, or the environment", async () => {
    const rejected = (settings: object) =>
      make(settings).then(
        () => undefined,
        (error) => [error instanceof InvalidUsage, error.name, error.category, error.message]
      )
    assert.deepStrictEqual(await rejected({ tiemout: 5 }), [
      true,
      "InvalidUsage",
      "invalid_usage",
      'there is no setting "tiemout"'
    ])
    assert.strictEqual(
      (await rejected({ cwd: "/nosuch" }))?.[3],
      'the setting "cwd" must be a directory, and /nosuch is none'
    )
    const run = () => "x"
    assert.deepStrictEqual(
      (await rejected({ sandbox: false, commands: [{ name: "read", summary: "s", usage: "u", run }] }))?.slice(0, 3),
      [true, "InvalidUsage", "invalid_usage"]
    )
  })

  it("S48: runs commands, ends them with their output so far, and goes on", async () => {
    const synapse = await make({ sandbox: false, environment: { GREETING: "hello" } })
    const pending = synapse.handle(call("echo so far; sleep 1000"))
    for await (const { text } of pending) {
      assert.strictEqual(text, "so far\n")
      pending.cancel()
    }
    const { extras } = await pending
    assert.deepStrictEqual([extras.exitCode, extras.stdout], [130, "so far\n"])
    assert.strictEqual((await synapse.handle(call("echo $GREETING"))).output, "hello\n")
    await synapse.dispose()
  })

  it("asks for permission, and runs commands of the program's own anywhere in a line", () =>
    Temporary.using(async (directory) => {
      const cwd = path.join(directory, "project")
      const outside = path.join(directory, "outside")
      for (const made of [cwd, outside]) fs.mkdirSync(made)
      const asked: Array<unknown> = []
      const synapse = await make({
        cwd,
        sandbox: { deny: [path.join(cwd, "denied")], home: path.join(directory, "home") },
        onPermission: async ({ access, rule }, offered) => {
          asked.push([access, Object.keys(rule), offered])
          return "deny"
        },
        commands: [
          {
            name: "upper",
            summary: "Makes it upper case.",
            usage: "upper",
            run: async ({ stdin, write }) => {
              await write("> ")
              return (await stdin.text()).toUpperCase()
            }
          }
        ]
      })
      try {
        assert.strictEqual((await synapse.handle(call("echo abc | upper | cat"))).output, "> ABC\n")
        fs.writeFileSync(path.join(cwd, "denied"), "secret")
        const { extras } = await synapse.handle(call("cat denied"))
        assert.strictEqual(extras.failureCategory, "blocked")
        assert.deepStrictEqual(asked, [["read", ["pattern", "source"], ["allow_once", "allow_session", "deny"]]])
      } finally {
        await synapse.dispose()
      }
    }))
})

describe("a program", () => {
  const face = JSON.stringify(path.resolve("dist/promise.js"))

  const run = (text: string) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", `import { make } from ${face}\n${text}`], {
      timeout: 20_000
    })

  const bash = (command: string) =>
    `await synapse.handle({ id: "1", name: "Bash", arguments: { command: ${JSON.stringify(command)} } })`

  it("that forgets to dispose, and a background child with its output, ends all the same, and the shell with it", async () => {
    for (const sandbox of [true, false]) {
      const { stdout } = await run(
        `const synapse = await make({ sandbox: ${sandbox} }); const { output } = ${bash("sleep 1000 & echo $$")}; console.log(output)`
      )
      const [, pid] =
        /^(\d+)\n\[job 1 "sleep 1000 & echo \$\$" is running: job:output 1, job:wait 1, job:stop 1\]\n$/.exec(stdout) ??
        assert.fail(stdout)
      // Inside of a sandbox the shell has another one.
      if (!sandbox) assert.isFalse(isRunning(Number(pid)))
    }
  })

  it("stays while a call runs, while it is ended, and while all of it is", async () => {
    const { stdout } = await run(
      `const synapse = await make({ sandbox: false })
       console.log((${bash("sleep 0.3; echo slept")}).output)
       const pending = synapse.handle({ id: "2", name: "Bash", arguments: { command: "sleep 1000" } })
       setTimeout(() => pending.cancel(), 100).unref()
       console.log((await pending).extras.exitCode)
       await synapse.dispose()
       console.log("disposed")`
    )
    assert.strictEqual(stdout, "slept\n\n130\ndisposed\n")
  })
})

it("a program finds what links to packages lead to, after commands and at the end", () =>
  Temporary.using(async (directory) => {
    const modules = path.join(directory, "node_modules")
    fs.mkdirSync(modules)
    const names = ["before", "after", "disposed"]
    for (const name of names) {
      const at = path.join(directory, "store", name)
      fs.mkdirSync(at, { recursive: true })
      fs.writeFileSync(path.join(at, "index.js"), "export const { url } = import.meta")
      fs.writeFileSync(path.join(at, "package.json"), '{ "type": "module", "exports": "./index.js" }')
      fs.symlinkSync(at, path.join(modules, name))
    }
    fs.writeFileSync(
      path.join(directory, "program.mjs"),
      `import { make } from ${JSON.stringify(path.resolve("dist/promise.js"))}
       import * as before from "before"
       const synapse = await make({ sandbox: false })
       const bash = (command) => synapse.handle({ id: "1", name: "Bash", arguments: { command } })
       await bash("job:start cat; (read program.mjs | wc; exit 4)")
       await bash("job:send 1 x; exit 3")
       const after = await import("after")
       await synapse.dispose()
       for (const { url } of [before, after, await import("disposed")]) console.log(url)`
    )
    const { stdout } = await promisify(execFile)(process.execPath, ["program.mjs"], { cwd: directory })
    const store = fs.realpathSync(path.join(directory, "store"))
    assert.strictEqual(stdout, names.map((name) => `file://${store}/${name}/index.js\n`).join(""))
  }))

describe("a program that is careless or hostile", () => {
  it("is refused a call of the shell by the command that the shell waits for", async () => {
    const inner = { output: "" }
    const synapse = await make({
      sandbox: false,
      commands: [
        {
          name: "nest",
          summary: "s",
          usage: "nest",
          run: async () => {
            await Promise.resolve()
            inner.output = (await synapse.handle(call("echo inner"))).output
            return "done\n"
          }
        }
      ]
    })
    assert.strictEqual((await synapse.handle(call("nest | cat"))).output, "done\n")
    assert.include(inner.output, "can't run another in that shell")
    assert.strictEqual((await synapse.handle(call("echo after"))).output, "after\n")
    await synapse.dispose()
  })

  it("gets a result for whatever it calls", async () => {
    const synapse = await make({ sandbox: false })
    const circular: Record<string, unknown> = {}
    circular["self"] = circular
    const refuses = { aborted: false, addEventListener: () => assert.fail("refused"), removeEventListener: () => {} }
    const throwing = {
      get id(): string {
        throw new Error("no id")
      }
    }
    const results = [
      synapse.handle({ id: "1", name: "Bash", arguments: circular }),
      synapse.handle({ id: "2", name: "Bash", arguments: { command: 10n } }),
      synapse.handle(throwing as never),
      synapse.handle(call("echo never", "4"), { signal: refuses as never }),
      synapse.handle(call("echo never", "5"), { signal: { aborted: false, addEventListener: () => {} } as never })
    ]
    for (const result of results) {
      const { extras, isError } = await result
      assert.deepStrictEqual([isError, extras.failureCategory], [true, "invalid_usage"])
    }
    assert.strictEqual((await synapse.handle(call("echo free", "4"))).output, "free\n")
    await synapse.dispose()
    assert.isFalse(await synapse.cancel("4"))
  })

  it("does not run without a sandbox by what is not the setting itself", async () => {
    let asked = 0
    const changing = {
      get enabled() {
        return asked++ === 0
      }
    }
    for (const settings of [
      Object.create({ sandbox: { enabled: false } }),
      { sandbox: Object.create({ enabled: false }) }
    ]) {
      const synapse = await make(settings)
      const { output } = await synapse.handle(call("cat /proc/1/comm"))
      assert.strictEqual(output, "bwrap\n")
      await synapse.dispose()
    }
    const synapse = await make({ sandbox: changing })
    assert.strictEqual((await synapse.handle(call("cat /proc/1/comm"))).output, "bwrap\n")
    await synapse.dispose()
  })
})
