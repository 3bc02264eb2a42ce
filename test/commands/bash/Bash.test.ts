import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Bash from "../../../src/commands/bash/Bash.js"
import { help } from "../../../src/commands/bash/Bash.js"
import { InvalidUsage } from "../../../src/domain/CommandError.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import { SandboxManager } from "../../../src/sandbox/SandboxManager.js"

/** Runs `bash …` and answers what the session received. */
const received = (
  text: string,
  scripts: ReadonlyArray<string> = [],
  options: { readonly restart?: boolean; readonly timeout?: number } = {}
) =>
  Effect.gen(function* () {
    const commands: Array<string> = []
    const given: Array<unknown> = []
    const layerSandbox = Layer.mock(SandboxManager, {
      conditions: () => ({ timeout: 1, yield: 0, confinement: { _tag: "Open" } }),
      cwd: Effect.succeed("/work/here"),
      isFile: (path) => Effect.sync(() => scripts.includes(path)),
      execute: (command, options) => {
        commands.push(command)
        const { line, ...others } = typeof options === "object" ? options : {}
        assert.strictEqual(line?.text, command)
        given.push(others)
        return Effect.succeed(CommandResult.make({ stdout: "hi\n" }))
      }
    })
    const handler = yield* Effect.provide(Bash.make, layerSandbox)
    const result = yield* handler.runLine(CommandLine.parse(text), options)
    assert.deepStrictEqual(
      given,
      commands.map(() => options)
    )
    return { commands, result }
  })

describe("bash", () => {
  it.effect("S34: runs the command in the session, without the prefix", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* received("bash echo hi"), {
        commands: ["echo hi"],
        result: { stdout: "hi\n", stderr: "", exitCode: 0 }
      })
      const commands = {
        "bash   echo  'a  b' | cat": "echo  'a  b' | cat",
        "  bash cd /tmp && pwd\n": "cd /tmp && pwd\n",
        "A=1 bash make all": "A=1 make all",
        "A=$x bash make $all": "A=$x make $all",
        "bash B='1 2' C=$x make": "B='1 2' C=$x make",
        ">log bash make": ">log make",
        "bash B=1": "B=1",
        "A=1 bash B+='2 3' C=$x a[1]=y": "A=1 B+='2 3' C=$x a[1]=y",
        "bash a=(1 2)": "a=(1 2)",
        "bash B=1 && make": "B=1 && make",
        "bash B=1\necho hi": "B=1\necho hi",
        "bash \\\n  make": "make",
        "bash make *.c ~ {a,b} $(x)": "make *.c ~ {a,b} $(x)",
        "bash ! true": "! true",
        "bash [ -f x ] && ls": "[ -f x ] && ls",
        "bash if true; then ls; fi": "if true; then ls; fi",
        "bash time make": "time make",
        "bash cat <<'EOF'\nbash x\nEOF\n": "cat <<'EOF'\nbash x\nEOF\n",
        "bash bash -c ls": "bash -c ls"
      }
      for (const [text, expected] of Object.entries(commands)) {
        assert.deepStrictEqual((yield* received(text)).commands, [expected])
      }
    })
  )

  it.effect("S35: without a command, it says how it is used", () =>
    Effect.gen(function* () {
      for (const text of ["bash", "bash   ", "bash # nothing", "bash\n\n"]) {
        const error = yield* Effect.flip(received(text))
        assert.instanceOf(error, InvalidUsage)
        assert.strictEqual(error.exitCode, 1)
        assert.include(error.message, "Usage: bash <command>")
      }
    })
  )

  it.effect("S36: a -h among the words of a command is the command's own", () =>
    Effect.gen(function* () {
      for (const words of ["echo -h", "ls --help", "-h x", "--help | cat"]) {
        const { commands } = yield* received(`bash ${words}`)
        assert.strictEqual(commands.length, 1)
        assert.include(commands[0], words)
      }
    })
  )

  it.effect("S49: answers its help where that is the only argument, and runs nothing", () =>
    Effect.gen(function* () {
      const asked = { commands: [], result: { stdout: help, stderr: "", exitCode: 0 } }
      assert.deepStrictEqual(yield* received("bash    --help"), asked)
      assert.deepStrictEqual(yield* received("bash '--help'  # please\n"), asked)
      assert.deepStrictEqual(yield* received("bash -h"), {
        commands: [],
        result: { stdout: "Usage: bash <command>\n", stderr: "", exitCode: 0 }
      })
    })
  )

  it.effect("leaves to bash what can only mean a bash of its own", () =>
    Effect.gen(function* () {
      const lines = [
        "bash -c 'cd /; pwd'",
        "bash -x s.sh",
        "bash --version",
        "bash +e x",
        "bash ./run now",
        'bash "$HOME/x" y',
        "bash build.sh --fast",
        "bash <<EOF\nls\nEOF",
        "bash < commands",
        "bash && x",
        "bash | cat",
        "bash\necho hi",
        "bash B=1 >log",
        "bash <in B=1",
        "bash B='1",
        // Words that bash makes something of.
        "bash $S",
        'bash "$M" x',
        "bash ${M:-x}",
        "bash $(x)",
        "bash `x`",
        "bash $((1))",
        "bash inst*",
        "bash inst?",
        "bash ins[t]",
        "bash @(inst|build)",
        "bash in!(x)",
        "bash {a,b}",
        "bash ~/x",
        "bash ~",
        "bash <(x)",
        "bash x$Y",
        "X=1 bash $M",
        ">log bash $M",
        "bash X=1 $M",
        // Words that nobody quotes who means a command.
        'bash "my script"',
        "bash 'make'",
        "bash $'make'",
        "bash \\make",
        "bash ma'ke'",
        // Redirections.
        "bash <<<x",
        "bash >log make",
        "bash 2>/dev/null make",
        "bash {fd}>log make",
        "bash &>log make",
        // What is not closed is bash's own error.
        'bash "make',
        "bash $(make"
      ]
      for (const line of lines) assert.deepStrictEqual((yield* received(line)).commands, [line])
    })
  )

  it.effect("hands on the timeout and the restart of the call", () =>
    Effect.gen(function* () {
      for (const text of ["bash make", "bash -c make"]) {
        const { commands } = yield* received(text, [], { restart: true, timeout: 5 })
        assert.strictEqual(commands.length, 1)
      }
    })
  )

  it.effect("takes a word for a script where a file of that name is in the session's directory", () =>
    Effect.gen(function* () {
      const { commands } = yield* received("bash build all", ["/work/here/build"])
      assert.deepStrictEqual(commands, ["bash build all"])
    })
  )

  it("has a help that snapshots what the model sees", () => {
    assert.match(help, /^bash - run a command in this session\n\nUSAGE\n {2}bash <command>\n\nARGUMENTS\n/)
    for (const section of ["OPTIONS", "A BASH OF ITS OWN", "EXIT CODE"]) assert.include(help, `\n${section}\n`)
    assert.isAtMost(Math.max(...help.split("\n").map((line) => line.length)), 120)
  })
})
