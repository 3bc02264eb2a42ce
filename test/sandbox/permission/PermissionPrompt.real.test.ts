/** Against a real terminal, which `script` makes; the library is what `npm run build` makes. */
import { spawn, spawnSync } from "node:child_process"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"

const module = (name: string) => JSON.stringify(Path.resolve(import.meta.dirname, `../../../dist/sandbox/${name}.js`))

/** Asks twice, one after the other, and says the answers. */
const program = `
  import * as Effect from "effect/Effect"
  const { Permission } = await import(${module("permission/Permission")})
  const { layer } = await import(${module("permission/PermissionPrompt")})
  const { notWhitelisted } = await import(${module("policy/PolicyDecision")})
  const request = { resource: "/data", access: "write", rule: notWhitelisted, command: "x", reason: "r" }
  const ask = Effect.flatMap(Permission, ({ ask }) => ask(request))
  const both = Effect.all([ask, ask], { concurrency: 2 })
  console.log("answers:", (await Effect.runPromise(Effect.provide(both, layer))).join(" "))
`
const node = [process.execPath, "--input-type=module", "-e", program]
const quoted = node.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")

/** Types each line when the next question is there; ends the input then. */
const atTerminal = (lines: ReadonlyArray<string>, ahead = "") =>
  new Promise<string>((resolve, reject) => {
    // stdin and stdout are none of the terminal's: only /dev/tty is.
    const child = spawn("script", ["-qec", `${quoted} </dev/null`, "/dev/null"], { cwd: import.meta.dirname })
    child.stdin.write(ahead)
    const left = [...lines]
    let shown = ""
    let questions = 0
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString()
      while (shown.split(/Allow it\?|Type one of/).length - 1 > questions) {
        questions++
        const line = left.shift()
        if (line === undefined) child.stdin.end()
        else child.stdin.write(line)
      }
    })
    child.on("error", reject)
    child.on("close", () => resolve(/answers: (.*?)\r?\n/.exec(shown)?.[1] ?? shown))
  })

describe("a person at the terminal", () => {
  const cases: ReadonlyArray<readonly [lines: ReadonlyArray<string>, answers: string]> = [
    [["o\n", "session\n"], "allow_once allow_session"],
    [["Permanently\n", "d\n"], "allow_permanent deny"],
    // One letter may have been meant for a question that the command has printed.
    [["p\n", "p\n", "n\n"], "deny deny"],
    [["\n", "No\n"], "deny deny"],
    // A word that is no answer is asked about once more.
    [["yes\n", "y\n", "y\n", "o\n"], "deny allow_once"]
  ]
  for (const [lines, answers] of cases) {
    it(`types ${JSON.stringify(lines)}`, async () => assert.strictEqual(await atTerminal(lines), answers))
  }

  it("is not taken at what was typed before the question was there, with or without a line's end", async () => {
    assert.strictEqual(await atTerminal(["n\n", "s\n"], "o\no\ns\n"), "deny allow_session")
    assert.strictEqual(await atTerminal(["\n", "s\n"], "o"), "deny allow_session")
  })

  it("is asked again about more lines than one, as are pasted", async () => {
    assert.strictEqual(await atTerminal(["o\nls\n", "n\n", "s\ns\ns", "o\n"]), "deny allow_once")
    assert.strictEqual(await atTerminal(["o\n\n", "o\nx", "s\n"]), "deny allow_session")
  })

  it("denies by ending the input", async () => assert.strictEqual(await atTerminal(["s\n"]), "allow_session deny"))
})

describe("without a terminal", () => {
  it("everything is denied", () => {
    const { stdout } = spawnSync("setsid", ["--wait", ...node], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      input: "o\no\n"
    })
    assert.strictEqual(stdout, "answers: deny deny\n")
  })
})
