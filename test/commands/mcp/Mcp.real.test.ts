import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../../src/domain/CallContext.js"
import type * as CommandListener from "../../../src/domain/CommandListener.js"
import { type FakeTool, fake, object, text } from "../../support/commands/McpTools.js"
import { type App, inApp, word } from "../../support/toolset/App.js"

/** One pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const long = `${"x".repeat(1023)}\n`.repeat(8 * 1024)

const tools: Readonly<Record<string, FakeTool>> = {
  echo: {
    description: "Echoes.",
    schema: object({ active: { type: "boolean" }, count: { type: "integer" } }, ["count", "active"])
  },
  say: { schema: object({ text: { type: "string" } }, ["text"]), answer: ({ text: said }) => text(String(said)) },
  list: { schema: object({ state: { type: "string" } }), answer: ({ state }) => text(`1 ${state}\n2 ${state}`) },
  show: { schema: object({ id: { type: "integer" } }, ["id"]), answer: ({ id }) => text(`issue ${id}`) },
  mixed: {
    answer: {
      content: [
        { type: "text", text: "Found it." },
        { type: "resource_link", uri: "file:///x", name: "x" }
      ]
    }
  },
  fail: { answer: { content: [{ type: "text", text: "no such issue" }], isError: true } },
  shot: { answer: { content: [{ type: "image", data: png, mimeType: "image/png" }] } },
  big: { answer: { content: [{ type: "text", text: long }] } },
  control: { answer: text("a\u001b[31mb\u0000c\r\n") },
  slow: {
    answer: (_, { onProgress }) => {
      onProgress?.({ progress: 1, total: 2, message: "half\u001b[2J\nof it" })
      onProgress?.({ progress: 2 })
      return text("done")
    }
  },
  "odd 'name'/$(id)": { answer: "odd" }
}

/** A test in an app of its own, with a client of its own. */
const inDemo = (
  name: string,
  use: (app: App & Pick<ReturnType<typeof fake>, "calls">) => Effect.Effect<unknown>,
  enabled?: boolean
): void => {
  const { calls, make } = fake(tools)
  inApp(name, (app) => use({ ...app, calls }), enabled, { "mcp:*": make })
}

const ok = (stdout: string) => ({ exitCode: 0, stdout, stderr: "" })

describe("mcp:<server>:<tool> in the shell", () => {
  inDemo("S17: an unknown server or tool is named whole, wherever it is called", ({ handle, run }) =>
    Effect.gen(function* () {
      for (const name of ["mcp:nonexistent:tool", "mcp:demo:nope"]) {
        const { extras, isError, output } = yield* handle({ command: `${name} x` })
        assert.deepStrictEqual([isError, extras.exitCode, extras.failureCategory], [true, 127, "command_not_found"])
        assert.include(output, `(in ${name}).`)
        const within = yield* run(`true; ${name} x | cat; echo \${PIPESTATUS[0]}`)
        assert.strictEqual(within.stdout, "127\n", name)
        assert.include(within.stderr, `(in ${name}).`)
      }
      const { message } = yield* handle({ command: "mcp:nonexistent:tool" })
      assert.include(message, 'Bash(command="mcp:nonexistent:tool --help")')
      const near = yield* handle({ command: "mcp:demo:controll" })
      assert.include(near.output, "Did you mean mcp:demo:control?")
    })
  )

  inDemo("S28: positional arguments take the types of the schema, in the order of required", ({ calls, run }) =>
    Effect.gen(function* () {
      const expected = { count: 4, active: true }
      assert.deepStrictEqual(yield* run('mcp:demo:echo "4" true'), ok('{"count":4,"active":true}\n'))
      assert.deepStrictEqual(yield* run('n=4; mcp:demo:echo "$n" true | cat'), ok('{"count":4,"active":true}\n'))
      assert.deepStrictEqual(calls, [
        ["echo", expected],
        ["echo", expected]
      ])
    })
  )

  inDemo("S29: text is put out as it is, and other blocks as JSON after it", ({ run }) =>
    Effect.gen(function* () {
      const expected = ok('Found it.\n{"type":"resource_link","uri":"file:///x","name":"x"}\n')
      assert.deepStrictEqual(yield* run("mcp:demo:mixed"), expected)
      assert.deepStrictEqual(yield* run("mcp:demo:mixed | cat"), expected)
    })
  )

  inDemo("stands in pipes, loops, substitutions, conditions and the background", ({ calls, run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* run(
          `mcp:demo:list --json '{"state":"open"}' | cut -d' ' -f1 | while read -r id; do mcp:demo:show "$id"; done`
        ),
        ok("issue 1\nissue 2\n")
      )
      assert.deepStrictEqual(yield* run('x=$(mcp:demo:show 3); echo "<$x>"'), ok("<issue 3>\n"))
      assert.deepStrictEqual(yield* run("mcp:demo:show 4 & wait; mcp:demo:show 5 >f; cat f"), ok("issue 4\nissue 5\n"))
      assert.deepStrictEqual(
        yield* run("if mcp:demo:fail 2>err; then echo yes; else echo no $?; cat err; fi; (mcp:demo:show 6)"),
        ok("no 1\nno such issue\nissue 6\n")
      )
      assert.strictEqual(calls.length, 8)
    })
  )

  inDemo("leaves the input of a loop alone, and takes its own where it is given none or asked to", ({ handle, run }) =>
    Effect.gen(function* () {
      const loop = yield* run("printf 'a\\nb\\n' | while read -r x; do mcp:demo:list | head -1; done")
      assert.deepStrictEqual(loop, ok("1 undefined\n1 undefined\n"))
      const json = '{"count":1,"active":false}'
      for (const command of [
        `echo '${json}' | mcp:demo:echo`,
        `echo '${json}' | mcp:demo:echo --json -`,
        `mcp:demo:echo <<'EOF'\n${json}\nEOF`,
        `mcp:demo:echo --json '${json}' </dev/null`
      ]) {
        assert.deepStrictEqual(yield* run(command), ok(`${json}\n`), command)
      }
      const { extras, output } = yield* handle({ command: "mcp:demo:list open <<'EOF'\nx\nEOF" })
      assert.deepStrictEqual([extras.exitCode, extras.failureCategory], [1, "invalid_usage"])
      assert.include(output, "It does not read standard input, but with --json -")
    })
  )

  inDemo("takes every character of a word", ({ calls, run }) =>
    Effect.gen(function* () {
      const all = [
        "$(id) `id` ${HOME} *",
        "a'b\"c\\d",
        "a\nb\tc",
        "; rm -rf x | y & z > w",
        "é🙂\u007f",
        "!! ~ # {a,b}",
        " "
      ]
      for (const each of all) {
        assert.deepStrictEqual(yield* run(`mcp:demo:say -- ${word(each)} | cat`), ok(`${each}\n`))
        assert.deepStrictEqual(yield* run(`mcp:demo:say --text=${word(each)}`), ok(`${each}\n`))
      }
      const foreign = yield* run("mcp:demo:say $'a\\xff' | cat")
      assert.include(foreign.stderr, 'text is no UTF-8, which JSON needs; it was "a\\xff".')
      assert.deepStrictEqual(calls.length, 2 * all.length)
    })
  )

  inDemo("is called by any name that a tool has, quoted, and with colons for slashes", ({ run }) =>
    Effect.gen(function* () {
      const odd = word("mcp:demo:odd 'name':$(id)")
      assert.deepStrictEqual(yield* run(word("mcp:demo:odd 'name'/$(id)")), ok("odd\n"))
      assert.deepStrictEqual(yield* run(odd), ok("odd\n"))
      assert.deepStrictEqual(yield* run(`${odd} | cat`), ok("odd\n"))
      assert.include((yield* run(`true; ${odd} x`)).stderr, `Usage: ${odd} [--json '{…}']`)
      assert.include((yield* run("mcp:demo")).stdout, `${odd} [--json`)
    })
  )

  inDemo("says with exit code 1, on standard error, that the tool has failed", ({ handle, run }) =>
    Effect.gen(function* () {
      const { extras, message } = yield* handle({ command: "mcp:demo:fail" })
      assert.deepStrictEqual(
        [extras.exitCode, extras.stdout, extras.stderr, extras.failureCategory],
        [1, "", "no such issue\n", "execution_error"]
      )
      assert.include(message, 'Bash(command="mcp:demo:fail --help")')
      assert.deepStrictEqual(yield* run("mcp:demo:fail | wc -c"), { ...ok("0\n"), stderr: "no such issue\n" })
    })
  )

  inDemo("puts out 8 MB down a pipe, and keeps for the model what it is not shown", ({ handle, run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("mcp:demo:big | wc -c"), ok(`${long.length}\n`))
      assert.deepStrictEqual(
        yield* run("mcp:demo:big >f; cksum <f; mcp:demo:big | cksum; rm f").pipe(
          Effect.map(({ stdout = "" }) => new Set(stdout.trim().split("\n")).size)
        ),
        1
      )
      assert.strictEqual((yield* run("mcp:demo:big | head -c 10")).stdout, "xxxxxxxxxx")
      const { extras, output } = yield* handle({ command: "mcp:demo:big" })
      assert.isBelow(output.length, 40_000)
      assert.strictEqual(extras.exitCode, 0)
      const file = (extras as { readonly stdoutFile?: string }).stdoutFile ?? ""
      assert.strictEqual(Fs.readFileSync(file, "utf8"), long)
    })
  )

  inDemo("puts out control characters byte for byte down a pipe, and none to the model", ({ handle, run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* run("mcp:demo:control | od -An -c | tr -s ' '"),
        ok(" a 033 [ 3 1 m b \\0 c \\r \\n\n")
      )
      const { output } = yield* handle({ command: "mcp:demo:control" })
      assert.notMatch(output, /[\u0000\u001b\r]/)
    })
  )

  for (const enabled of [true, false]) {
    inDemo(
      `saves an image, names it and shows it${enabled ? "" : " (without a sandbox)"}`,
      ({ calls, handle, run }) =>
        Effect.gen(function* () {
          const paths: Array<string> = []
          for (const command of ["mcp:demo:shot", "true; mcp:demo:shot"]) {
            const { extras, output } = yield* handle({ command })
            const [, path = ""] = /^\[image saved: (\S+) \(image\/png, 70 bytes\)\]$/m.exec(output) ?? []
            assert.match(path, /\/output\/shot-\d+\.png$/)
            paths.push(path)
            assert.deepStrictEqual(yield* run(`base64 -w0 ${path}; stat -c %a ${path}`), ok(`${png}600\n`))
            assert.deepStrictEqual(extras.images, [{ path, mediaType: "image/png", base64: png }])
          }
          assert.strictEqual(calls.length, 2)
          assert.deepStrictEqual(yield* run(`cmp ${paths.join(" ")}`), ok(""))
          assert.notProperty((yield* handle({ command: "mcp:demo:shot | cat" })).extras, "images")
        }),
      enabled
    )
  }

  inDemo("tells the progress that the server tells, also within a line", ({ run }) =>
    Effect.gen(function* () {
      for (const command of ["mcp:demo:slow", "true; mcp:demo:slow"]) {
        const heard: Array<CommandListener.CommandProgress> = []
        yield* CallContext.locally(run(command), {
          listener: {
            onProgress: (progress) => void heard.push(progress)
          }
        })
        assert.deepStrictEqual(
          heard,
          [
            { command: "mcp:demo:slow", progress: 1, total: 2, message: "half\\u001b[2J of it" },
            { command: "mcp:demo:slow", progress: 2 }
          ],
          command
        )
      }
    })
  )

  inDemo("lets a listener hear each output once, however it is put out", ({ run }) =>
    Effect.gen(function* () {
      for (const [command, expected] of [
        ["mcp:demo:show 1", "issue 1\n"],
        ["mcp:demo:big", long],
        ["true; mcp:demo:big", long]
      ] as const) {
        let heard = ""
        yield* CallContext.locally(run(command), {
          listener: {
            onOutput: (_, chunk) => {
              heard += Buffer.from(chunk).toString()
            }
          }
        })
        assert.isTrue(heard === expected, `${command}: ${heard.length}`)
      }
    })
  )

  inDemo("shows the help of a tool, and lists the tools of a server", ({ run }) =>
    Effect.gen(function* () {
      for (const command of ["mcp:demo:echo --help", "mcp:demo:echo -h", "mcp:demo:echo --help | cat"]) {
        const { stdout = "" } = yield* run(command)
        assert.include(
          stdout,
          "echo(count: integer, active: boolean)\n\nUSAGE\n  mcp:demo:echo <count> <active>\n",
          command
        )
      }
      assert.include((yield* run("mcp:demo")).stdout, "mcp:demo:echo <count> <active>  # Echoes.\n")
      assert.deepStrictEqual(yield* run("mcp:"), ok("mcp:demo  # home\n"))
      assert.deepStrictEqual(yield* run("mcp:demo | grep -c ."), ok("11\n"))
    })
  )
})
