import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Cli from "../../src/cli/Cli.js"
import { Invocation } from "../../src/cli/Invocation.js"
import * as Program from "../../src/cli/Program.js"
import { program } from "../../src/cli/Program.js"
import { runBy } from "../support/cli/Program.js"

/** The same words, read by `@effect/cli` whatever they are. */
const byCli = (args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    let exitCode = 0
    const setExitCode = (code: number) =>
      Effect.sync(() => {
        exitCode = code
      })
    const invocation = Invocation.of({ args, setExitCode })
    return Effect.provideService(
      Effect.map(Cli.run(args), (code) => code ?? exitCode),
      Invocation,
      invocation
    )
  })

const answer = (read: typeof program) => (args: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const commands: Array<string> = []
      const script = (command: string) => {
        commands.push(command)
        return { stdout: "out\n", exitCode: 3 }
      }
      const call = '{"id":"1","name":"Bash","arguments":{"command":"called"}}\n'
      return { ...(yield* runBy(read, args, script, [call])), commands }
    })
  )

const plain = (args: ReadonlyArray<string>) => Program.find(args) !== undefined

const word = FastCheck.constantFrom(
  "ls -la",
  "true",
  "a",
  "-x",
  "--json",
  "1",
  "0",
  "",
  " ",
  "/tmp",
  "/nowhere",
  "*.pem",
  "ü",
  "=",
  "exec",
  "--"
)
const option = FastCheck.oneof(
  FastCheck.constantFrom(
    "--json",
    "--no-sandbox",
    "--json=true",
    "--json=false",
    "--no-sandbox=false",
    "--help",
    "-h",
    "--version",
    "--log-level",
    "--allow-unix-sockets"
  ),
  FastCheck.tuple(
    FastCheck.constantFrom("--cwd", "--timeout", "--allow", "--deny", "--env", "--ask", "--unknown"),
    word
  ).map(([name, value]) => `${name}=${value}`)
).map((text) => [text])
const pair = FastCheck.tuple(
  FastCheck.constantFrom("--cwd", "--timeout", "--allow", "--deny", "--env", "--ask", "--json", "--brief"),
  word
)
const words = FastCheck.tuple(
  FastCheck.constantFrom("exec", "call"),
  FastCheck.array(FastCheck.oneof(option, pair), { maxLength: 4 }),
  FastCheck.array(word, { maxLength: 2 })
).map(([name, options, rest]) => [name, ...options.flat(), ...rest])

describe("words that are plain", () => {
  it("mean what @effect/cli reads in them", async () => {
    let found = 0
    await FastCheck.assert(
      FastCheck.asyncProperty(words, async (args) => {
        if (!plain(args)) return
        found++
        assert.deepStrictEqual(await answer(program)(args), await answer(byCli)(args), JSON.stringify(args))
      }),
      { numRuns: 3000 }
    )
    assert.isAbove(found, 50)
  }, 120_000)

  it("are what an agent's program is called with", () => {
    for (const args of [
      ["exec", "true"],
      ["exec", "--timeout", "300", "--json", "sleep 1"],
      ["exec", "--no-sandbox", "--cwd", "/tmp", "--", "-x"],
      ["exec", "--allow", "/tmp", "--allow=/var/tmp", "--deny", "*.pem", "ls"],
      ["exec", "--env", "A_B", "--env", "C", "ls"],
      ["exec", "--ask", "never", "ls"],
      ["call"],
      ["call", "--ask=terminal"],
      ["call", "--cwd=/tmp", "--no-sandbox"],
      ["read", "anything", "--at", "all"]
    ]) {
      assert.isTrue(plain(args), args.join(" "))
    }
  })

  it("are none where anything is unusual", () => {
    for (const args of [
      [],
      ["--help"],
      ["exec"],
      ["exec", ""],
      ["exec", "--help"],
      ["exec", "-h"],
      ["exec", "ls", "--help"],
      ["exec", "ls", "--json"],
      ["exec", "ls", "-la"],
      ["exec", "--timeout", "0", "ls"],
      ["exec", "--timeout", "ls"],
      ["exec", "--cwd", "/nowhere", "ls"],
      ["exec", "--deny", "", "ls"],
      ["exec", "--env", "A=b", "ls"],
      ["exec", "--json", "--json", "ls"],
      ["exec", "--jsonn", "ls"],
      ["call", "ls"],
      ["call", "--"],
      ["tools"]
    ]) {
      assert.isFalse(plain(args), args.join(" "))
    }
  })
})
