import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { KeptOutput, LineOrder } from "../../src/domain/KeptOutput.js"
import * as ToolReturn from "../../src/toolset/ToolReturn.js"

const shown = (stdout: string, stderr: string, order: LineOrder, kept?: KeptOutput) =>
  ToolReturn.of({ stdout, stderr, order, ...(kept === undefined ? {} : { kept }) })

describe("the lines of both streams", () => {
  it("stand in the order in which they came", () => {
    assert.strictEqual(
      shown("a\nb\nc\n", "1\n2\n", [
        ["stdout", 1],
        ["stderr", 1],
        ["stdout", 2],
        ["stderr", 1]
      ]),
      "a\n1\nb\nc\n2\n"
    )
  })

  it("are never joined, also where a stream ends without a newline", () => {
    assert.strictEqual(
      shown("a\nb", "1", [
        ["stderr", 1],
        ["stdout", 2]
      ]),
      "1\na\nb"
    )
  })

  it("come last where their order is not known", () => {
    assert.strictEqual(shown("a\nb\n", "1\n2\n", [["stderr", 1]]), "1\na\nb\n2\n")
  })

  it("are what a terminal shows of them", () => {
    assert.strictEqual(
      shown("10%\r20%\r100%\nend\n", "\x1b[31mred\x1b[m\nblue\n", [
        ["stderr", 1],
        ["stdout", 1],
        ["stderr", 1]
      ]),
      "red\n100%\nblue\nend\n"
    )
  })

  it("stay with their stream where they are not the stream's own: a moving cursor, what is no text", () => {
    const order: LineOrder = [
      ["stderr", 1],
      ["stdout", 2]
    ]
    assert.strictEqual(shown("a\n\x1b[Ab\n", "1\n", order), "b\n1\n")
    const bytes = Buffer.alloc(64, "\0\xff\x01\x80", "latin1").toString()
    assert.match(shown(`${bytes}\nb\n`, "1\n", order), /^\[binary output: .*\]\nb\n1\n$/)
  })

  it("keep their order around what the limit leaves out of a stream", () => {
    const stdout = Array.from({ length: 100 }, (_, i) => `out ${100 + i}\n`).join("")
    const where = "all of it: /o/1.txt"
    const order: LineOrder = [
      ["stdout", 2],
      ["stderr", 1],
      ["stdout", 96],
      ["stderr", 1],
      ["stdout", 2]
    ]
    assert.strictEqual(
      shown(stdout, "1\n2\n", order, { limit: 68, stdout: { bytes: 800, where } }),
      `out 100\nout 101\n1\nout 102\nout 103\n[… 736 bytes left out; ${where} …]\nout 196\nout 197\n2\nout 198\nout 199\n`
    )
  })

  it("keep their order around what the session has left out", () => {
    const where = "all of it: /o/1.txt"
    const head = "a\nhalf of a"
    const gap = `\n[… 5000 bytes left out; ${where} …]\n`
    const kept = { bytes: 5013, where, gap: { start: head.length, end: head.length + gap.length, bytes: 5000 } }
    assert.strictEqual(
      shown(
        `${head}${gap}y\nz\n`,
        "1\n2\n3\n",
        [
          ["stdout", 1],
          ["stderr", 1],
          ["stdout", 3],
          ["stderr", 1],
          ["stdout", 1]
        ],
        { limit: 100, stdout: kept }
      ),
      `a\n1\nhalf of a${gap}y\n2\nz\n3\n`
    )
  })

  const line = FastCheck.string({ unit: FastCheck.constantFrom("x", "é", "\t", "\r", "\0"), maxLength: 8 })
  const text = FastCheck.record({ lines: FastCheck.array(line, { maxLength: 20 }), end: line }).map(
    ({ end, lines }) => `${lines.map((one) => `${one}\n`).join("")}${end}`
  )
  const outputs = FastCheck.record({
    stdout: text,
    stderr: text.map((one) => one.replaceAll("x", "y")),
    order: FastCheck.array(
      FastCheck.tuple(FastCheck.constantFrom("stdout" as const, "stderr" as const), FastCheck.nat(4)),
      { maxLength: 20 }
    ),
    limit: FastCheck.integer({ min: 1, max: 200 })
  })
  const linesOf = (all: string) => all.split("\n").sort()
  const marks = /\n?\[… \d+ bytes left out; .* …\]\n/g

  it.prop(
    "are the same lines as without an order, whole, and those of each stream in their own order",
    [outputs],
    ([{ order, stderr, stdout }]) => {
      const unordered = ToolReturn.of({ stdout, stderr })
      const ordered = shown(stdout, stderr, order)
      assert.deepStrictEqual(linesOf(ordered).filter(Boolean), linesOf(unordered).filter(Boolean))
      for (const stream of ["x", "y"]) {
        const own = (all: string) => all.split("\n").filter((one) => one.includes(stream))
        assert.deepStrictEqual(own(ordered), own(unordered))
      }
    },
    { fastCheck: { numRuns: 150 } }
  )

  it.prop("take no more room than the limit and its marks", [outputs], ([{ limit, order, stderr, stdout }]) => {
    const where = "all of it: /o/1.txt"
    const kept = {
      limit,
      stdout: { bytes: Buffer.byteLength(stdout), where },
      stderr: { bytes: Buffer.byteLength(stderr), where }
    }
    assert.isAtMost(shown(stdout, stderr, order, kept).replace(marks, "").length, limit + 1)
  })
})
