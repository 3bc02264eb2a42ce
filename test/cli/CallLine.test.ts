import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Lines } from "../../src/cli/CallAction.js"
import { run } from "../support/cli/Program.js"

const line = (id: string, command: string) => `{"id":"${id}","name":"Bash","arguments":{"command":"${command}"}}\n`

const answers = (stdout: string) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text))
    .map(({ message, toolCallId }) => [toolCallId, message])

describe("a line of synapse call", () => {
  it.effect("is refused where it is not UTF-8, with the call's id where that can be read, and runs nothing", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const lines = ["\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x9f\x98"].map((bytes, at) =>
        Buffer.from(line(String(at), `echo ${bytes}`), "latin1")
      )
      const { exitCode, stdout } = yield* run(
        ["call"],
        (command) => {
          ran.push(command)
          return { stdout: command }
        },
        [...lines, Buffer.from([0xff, 0x0a]), line("ok", "echo \ufffd")]
      )
      assert.deepStrictEqual([exitCode, ran], [0, ["echo \ufffd"]])
      assert.deepStrictEqual(
        answers(stdout).map(([id, message]) => [id, /^The line is not UTF-8, and was not run\./.test(String(message))]),
        [
          ["0", true],
          ["1", true],
          ["2", true],
          ["3", true],
          [null, true],
          ["ok", false]
        ]
      )
    })
  )

  it.effect("is refused where it holds half of a character, in a value or a name, however deep", () =>
    Effect.gen(function* () {
      const deep = `${"[".repeat(90)}"\\ud800"${"]".repeat(90)}`
      const deeper = `${"[".repeat(50_000)}${"]".repeat(50_000)}`
      const { stdout } = yield* run(["call"], (command) => ({ stdout: command }), [
        line("1", "echo \\ud800"),
        line("2", "\\udc00\\ud83d"),
        line("3", "echo \\ud83d\\ude00"),
        `{"id":"4","name":"Bash","arguments":{"command":${deep}}}\n`,
        `{"id":"5","name":"Bash","arguments":${JSON.stringify('{"command":"echo \\udfff"}')}}\n`,
        line("\\ud800", "fine"),
        `{"id":"6","name":"Bash","arguments":{"command":${deeper}}}\n`
      ])
      const said = new Map(answers(stdout) as unknown as ReadonlyArray<[string, string]>)
      for (const [id, half] of [
        ["1", "ud800, 5 in"],
        ["2", "udc00, 0 in"],
        ["4", "ud800, 0 in"],
        ["5", "udfff, 5 in"]
      ] as const)
        assert.include(said.get(id), half)
      assert.include(said.get(null as never), "nested too deeply")
      assert.strictEqual(said.get("3"), "Command executed successfully.")
      assert.strictEqual(said.get("\ud800"), "Command executed successfully.")
    })
  )

  it.effect("gets one answer for its id, whenever the cancellation comes; one that comes late has no id", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["call"], (command) => (command === "hang" ? Effect.never : { stdout: "" }), [
        `${line("1", "hang")}{"cancel":"1"}\n{"cancel":"1"}\n`,
        line("2", "a"),
        Effect.as(Effect.repeatN(Effect.yieldNow(), 100), '{"cancel":"2"}\n{"cancel":"1"}\n')
      ])
      const said = answers(stdout)
      assert.deepStrictEqual(said.filter(([id]) => id === "1").length, 1)
      assert.deepStrictEqual(said.filter(([id]) => id === "2").length, 1)
      assert.deepStrictEqual(
        said.filter(([id]) => id === null).map(([, message]) => message),
        ["No call with the id 2 is running.", "No call with the id 1 is running."]
      )
    })
  )

  it("is dropped beyond the limit, and the next one is whole", () => {
    const lines = new Lines(10)
    const bytes = Buffer.from(`${"x".repeat(10)}\n${"y".repeat(11)}\nz\n`)
    const found = [...bytes].flatMap((byte) => lines.push(Uint8Array.of(byte)))
    assert.deepStrictEqual(
      found.map((one) => (one === undefined ? undefined : Buffer.from(one).toString())),
      ["x".repeat(10), undefined, "z"]
    )
    assert.deepStrictEqual(lines.end(), [])
  })
})
