import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CommandCall } from "../../../src/command/CommandHandler.js"
import * as CommandError from "../../../src/domain/CommandError.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { type FakeTool, fake, object, text } from "../../support/commands/McpTools.js"

const echo: FakeTool = {
  description: "Echoes what it is given. At length.\nAnd more.",
  schema: object({ count: { type: "integer" }, note: { type: "string" } }, ["count"])
}

/** The end of one call of `mcp:demo:<tool>`, and the calls that came to the server. */
const ended = (
  tools: Readonly<Record<string, FakeTool>>,
  name: string,
  args: ReadonlyArray<string>,
  call: Partial<CommandCall> = {}
) =>
  Effect.gen(function* () {
    const { calls, make, options } = fake(tools)
    const handler = yield* make
    const written: Array<Uint8Array> = []
    const files = MemoryFiles.make()
    const result = yield* handler
      .run(
        {
          name,
          args,
          cwd: "/",
          stdin: undefined,
          write: (chunk) => Effect.sync(() => void written.push(chunk)),
          files,
          ...call
        },
        { timeout: 1234 }
      )
      .pipe(
        Effect.catchAll((error) =>
          Effect.succeed(CommandResult.make({ stderr: `${error._tag}: ${error.message}`, exitCode: error.exitCode }))
        )
      )
    return {
      ...result,
      stdout: Buffer.concat(written).toString() + result.stdout,
      parts: written.length,
      calls,
      options,
      files
    }
  })

const stdin = (...parts: ReadonlyArray<string | Uint8Array>) =>
  Stream.fromIterable(parts.map((part) => Buffer.from(part as string)))

describe("mcp:<server>:<tool>", () => {
  it.effect("calls the tool with the call's timeout, and puts out its text", () =>
    Effect.gen(function* () {
      const { calls, exitCode, options, stdout } = yield* ended({ echo }, "mcp:demo:echo", ["4", "--note", "x"])
      assert.deepStrictEqual([exitCode, stdout], [0, '{"note":"x","count":4}\n'])
      assert.deepStrictEqual([calls, options[0]?.timeout], [[["echo", { count: 4, note: "x" }]], 1234])
    })
  )

  it.effect("calls nothing where the words don't fit, and says the usage", () =>
    Effect.gen(function* () {
      const { calls, stderr } = yield* ended({ echo }, "mcp:demo:echo", ["x", "--nots=1"])
      assert.deepStrictEqual(calls, [])
      assert.strictEqual(
        stderr,
        [
          "InvalidUsage: mcp:demo:echo: Unknown option --nots: there are --count, --note. A word that begins with a dash and is no option goes after --.",
          "Usage: mcp:demo:echo <count> [--note <string>]",
          'Bash(command="mcp:demo:echo --help") shows more.'
        ].join("\n")
      )
      const missing = yield* ended({ t: { schema: object({ a: {}, b: {} }, ["a", "b"]) } }, "mcp:demo:t", [])
      assert.include(missing.stderr, "mcp:demo:t: a, b are missing.\nUsage: mcp:demo:t <a> <b>\n")
    })
  )

  it.effect("takes all arguments as one object", () =>
    Effect.gen(function* () {
      const of = (json: string, ...args: ReadonlyArray<string>) =>
        Effect.map(ended({ echo }, "mcp:demo:echo", args, { stdin: stdin(json) }), ({ calls, stderr }) =>
          calls.length > 0 ? calls[0]?.[1] : (stderr.split("\n")[0] ?? "").replace("InvalidUsage: mcp:demo:echo: ", "")
        )
      assert.deepStrictEqual(yield* of('{"count":1,"note":"x"}'), { count: 1, note: "x" })
      assert.deepStrictEqual(yield* of('{"count":1}', "--json", "-"), { count: 1 })
      assert.deepStrictEqual(yield* of("", "--json", '{"count":1}'), { count: 1 })
      assert.deepStrictEqual(yield* of("", "--json", '{"zzz":1}'), { zzz: 1 })
      assert.strictEqual(yield* of(""), "count is missing.")
      assert.strictEqual(yield* of("", "--json=-"), "--json -: nothing comes on standard input.")
      assert.strictEqual(yield* of("[1]"), "standard input: it must be an object: {…}.")
      assert.strictEqual(
        yield* of("hi"),
        'standard input has to be a JSON object of all arguments. Text goes into a word: "$(cat)".'
      )
      assert.include(yield* of("{", "--json", "-"), "standard input: it is no JSON: ")
      assert.include(yield* of("", "--json", "{'count':1}"), "--json: it is no JSON: ")
      assert.strictEqual(
        yield* of('{"count":9007199254740993}'),
        "standard input: 9007199254740993 is a number that JSON's readers round: pass it as a string."
      )
      assert.include(yield* of('{"count":1,"note":"\\ud800"}'), "half of a character")
      const foreign = yield* ended({ echo }, "mcp:demo:echo", [], { stdin: stdin(Buffer.from([0x22, 0xff])) })
      assert.include(foreign.stderr, "standard input is no UTF-8")
    })
  )

  it.effect("writes a long text in pieces, exactly", () =>
    Effect.gen(function* () {
      const long = `${"🙂é\ud800".repeat(400_000)}`
      const { parts, stdout } = yield* ended({ big: { answer: text("first", long, "last") } }, "mcp:demo:big", [])
      assert.isAbove(parts, 3)
      assert.isTrue(stdout === `first\n${Buffer.from(long).toString()}\nlast\n`)
    })
  )

  it.effect("lets the shell put out what is long, and does it itself where there is none", () =>
    Effect.gen(function* () {
      const long = "x".repeat(20_000)
      const { client, make } = fake({ big: { answer: long } })
      const handler = yield* make
      const asked: Array<ReadonlyArray<string>> = []
      const base = {
        name: "mcp:demo:big",
        args: [],
        cwd: "/",
        stdin: undefined,
        write: () => Effect.void,
        files: MemoryFiles.make()
      }
      const again = (words: ReadonlyArray<string>) =>
        Effect.suspend(() => {
          asked.push(words)
          return handler.run({ ...base, name: words[0] ?? "", args: words.slice(1) }, {})
        })
      const { stdout } = yield* handler.run({ ...base, byShell: again }, {})
      assert.strictEqual(stdout, `${long}\n`)
      assert.strictEqual(asked[0]?.[0], "mcp:demo:big")
      const none = () => new CommandError.ExecutionFailed({ kind: "sandbox", reason: "none" })
      assert.strictEqual((yield* handler.run({ ...base, byShell: none }, {})).stdout, `${long}\n`)
      // What has been put out can't be asked for again.
      const late = yield* Effect.flip(handler.run({ ...base, args: asked[0]?.slice(1) ?? [] }, {}))
      assert.include(late.message, "Unknown option --synapse-held")
      assert.strictEqual(client.known().length, 1)
    })
  )

  it.effect("tells the commands that are known, the same ones until they change", () =>
    Effect.gen(function* () {
      const { make } = fake({ echo, "a/b c": { title: "Titled\u001b[2J" }, bare: {} })
      const { known } = yield* make
      assert.strictEqual(known?.(), known?.())
      assert.deepStrictEqual(
        known?.().map(({ name, summary, usage }) => [name, summary, usage]),
        [
          ["mcp:demo:echo", "Echoes what it is given.", "mcp:demo:echo <count> [--note <string>]"],
          ["mcp:demo:a:b c", "Titled\\u001b[2J", "'mcp:demo:a:b c' [--json '{…}']"],
          ["mcp:demo:bare", "", "mcp:demo:bare [--json '{…}']"]
        ]
      )
    })
  )

  it.effect("takes no arguments without a tool in its name", () =>
    Effect.gen(function* () {
      for (const name of ["mcp:demo", "mcp:demo:", "mcp:"]) {
        assert.include((yield* ended({ echo }, name, ["x"])).stderr, "it has no tool in its name")
        for (const help of ["--help", "-h"]) assert.strictEqual((yield* ended({ echo }, name, [help])).exitCode, 0)
      }
      assert.include((yield* ended({ echo }, "mcp::x", [])).stderr, "it has no server in its name")
      assert.include((yield* ended({}, "mcp:demo", [])).advice?.flat().join("") ?? "", "the server has no tools")
    })
  )

  it.effect("names the tool that is meant by a part of its name, and what a name lacks", () =>
    Effect.gen(function* () {
      const schema = object({ text: { type: "string" } })
      const tools = { echo: { schema }, read_file: {}, read_text_file: {}, write_file: {} }
      const of = (name: string, ...args: ReadonlyArray<string>) =>
        Effect.map(ended(tools, name, args), ({ calls, stderr }) => {
          assert.deepStrictEqual(calls, [])
          return stderr
        })
      const lists = '\nBash(command="mcp:demo") lists its tools.'
      assert.strictEqual(
        yield* of("mcp:demo:read_text", "x"),
        `CommandNotFound: Unknown MCP tool: read_text (in mcp:demo:read_text). Did you mean mcp:demo:read_text_file?${lists}`
      )
      assert.include(yield* of("mcp:demo:ech"), " Did you mean mcp:demo:echo?")
      assert.include(yield* of("mcp:demo:read"), " Did you mean mcp:demo:read_file or mcp:demo:read_text_file?")
      assert.include(
        yield* of("mcp:demo:zzz"),
        "\nThere are these tools of demo: echo, read_file, read_text_file, write_file."
      )
      assert.include(
        yield* of("mcp:demo.echo", "a b"),
        "Unknown MCP server: demo.echo (in mcp:demo.echo). Did you mean"
      )
      const missing = (name: string, what: string) => `InvalidUsage: ${name}: it has no ${what} in its name`
      assert.include(yield* of("mcp:demo", "zzz"), `${missing("mcp:demo", "tool")}, so that it takes no arguments`)
      assert.include(yield* of("mcp::zzz"), `${missing("mcp::zzz", "server")}.\nUsage: `)
      assert.include(yield* of("mcp:nope", "x"), "CommandNotFound: Unknown MCP server: nope")
    })
  )

  it.effect("does not call a tool that only an MCP task can call, and says so", () =>
    Effect.gen(function* () {
      const tools = { slow: { needsTask: true, schema: object({}) } } as const
      const { calls, stderr } = yield* ended(tools, "mcp:demo:slow", [])
      const reason = "it can be called as an MCP task only, which Synapse does not offer"
      assert.deepStrictEqual([calls, stderr], [[], `InvalidUsage: mcp:demo:slow: ${reason}.`])
      const { stdout } = yield* ended(tools, "mcp:demo", [])
      assert.strictEqual(stdout, `mcp:demo:slow  # can't be called: ${reason}\n`)
    })
  )

  it.effect("shows the parts of an object that was given badly, once", () =>
    Effect.gen(function* () {
      const texts = { type: "array", items: { type: "string" } }
      const entity = object({ name: { type: "string" }, observations: texts }, ["name", "observations"])
      const schema = object({ entities: { type: "array", items: entity } }, ["entities"])
      const type = "{ name: string, observations: string[] }[]"
      const of = (...args: ReadonlyArray<string>) =>
        Effect.map(
          ended({ make: { schema } }, "mcp:demo:make", args),
          ({ stderr }) => stderr.replace("InvalidUsage: mcp:demo:make: ", "").split("\nUsage")[0]
        )
      assert.strictEqual(
        yield* of("--name", "Eve"),
        `Unknown option --name: there are --entities. A word that begins with a dash and is no option goes after --.\nentities: ${type}`
      )
      assert.strictEqual(yield* of(), `entities is missing.\nentities: ${type}`)
      assert.strictEqual(yield* of("Eve"), `entities must be ${type} in JSON; it was "Eve".`)
    })
  )
})
