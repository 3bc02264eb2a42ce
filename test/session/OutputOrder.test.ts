import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { StreamName } from "../../src/domain/KeptOutput.js"
import { OutputCapture, OutputOrder } from "../../src/session/internal/OutputCapture.js"

/** The streams of a command, and the order in which they are read. */
const recorded = () => {
  const options = {
    limit: 1000,
    fileLimit: 0,
    file: () => {
      throw new Error("no file")
    }
  }
  const captures = { stdout: new OutputCapture(options), stderr: new OutputCapture(options) }
  const order = new OutputOrder()
  return {
    order,
    take: (stream: StreamName, text: string) => {
      captures[stream].push(Buffer.from(text))
      order.took(stream, Buffer.byteLength(text))
    },
    lines: () => {
      const [stdout, stderr] = [captures.stdout.finish(), captures.stderr.finish()]
      const lines = order.lines(captures.stdout.counter(stdout), captures.stderr.counter(stderr))
      return lines?.map(([stream, count]) => `${count} ${stream}`)
    }
  }
}

describe("OutputOrder", () => {
  it("is what was read, where each part is settled before the next", () => {
    const { lines, order, take } = recorded()
    for (const [stream, text] of [
      ["stdout", "a\nb\n"],
      ["stderr", "c\n"],
      ["stderr", "d\n"],
      ["stdout", "e\n"]
    ] as const) {
      take(stream, text)
      order.settle()
    }
    assert.deepStrictEqual(lines(), ["2 stdout", "2 stderr", "1 stdout"])
  })

  it("shares out the lines that were read together among the turns that were heard of", () => {
    const { lines, order, take } = recorded()
    for (const stream of ["stderr", "stdout", "stdout", "stderr", "stdout"] as const) order.wrote(stream)
    take("stdout", "a\nb\nc\nd\n")
    take("stderr", "1\n2\n")
    assert.deepStrictEqual(lines(), ["1 stderr", "2 stdout", "1 stderr", "2 stdout"])
  })

  it("puts standard output first where nothing was heard of", () => {
    const { lines, order, take } = recorded()
    take("stderr", "1\n")
    order.settle()
    take("stderr", "2\n")
    take("stdout", "a\n")
    assert.deepStrictEqual(lines(), ["1 stderr", "1 stdout", "1 stderr"])
  })

  it("is unknown where the second stream came after the first, or only one came", () => {
    const { lines, order, take } = recorded()
    take("stdout", "a\n")
    order.settle()
    assert.isUndefined(lines())
    take("stderr", "1\n")
    assert.isUndefined(lines())
  })

  it("counts a line where its last byte came, and the end of a stream as a line", () => {
    const { lines, order, take } = recorded()
    for (const [stream, text] of [
      ["stdout", "a"],
      ["stderr", "1\n"],
      ["stdout", "b\nc"],
      ["stderr", "2"]
    ] as const) {
      take(stream, text)
      order.settle()
    }
    assert.deepStrictEqual(lines(), ["1 stderr", "2 stdout", "1 stderr"])
  })

  it("forgets what was heard of and is not there", () => {
    const { lines, order, take } = recorded()
    order.wrote("stderr")
    order.settle()
    order.wrote("stdout")
    order.wrote("stderr")
    take("stdout", "a\n")
    take("stderr", "1\n")
    assert.isUndefined(lines())
  })

  it("knows the order of the lines around a gap", () => {
    const { lines, order, take } = recorded()
    const text = (from: number) => Array.from({ length: 100 }, (_, i) => `line ${from + i}\n`).join("")
    for (let at = 0; at < 20; at++) {
      take("stdout", text(1000 + at * 100))
      order.settle()
      take("stderr", `${at}\n`)
      order.settle()
    }
    // Half of the limit is 50 lines of 10 characters: the first 50, the line that tells of the gap, and the last 50.
    assert.deepStrictEqual(lines(), ["51 stdout", "19 stderr", "50 stdout", "1 stderr"])
  })

  it("is bounded, and loses the order in the middle first", () => {
    const { order, take, lines } = recorded()
    for (let at = 0; at < 20_000; at++) {
      take(at % 2 === 0 ? "stderr" : "stdout", "x\n")
      order.settle()
    }
    assert.isAtMost(order["groups"].length, 4096)
    const found = lines() ?? []
    assert.deepStrictEqual(found.slice(0, 3), ["1 stderr", "1 stdout", "1 stderr"])
    assert.deepStrictEqual(found.slice(-2), ["1 stderr", "1 stdout"])
  })

  const step = FastCheck.oneof(
    FastCheck.record({
      stream: FastCheck.constantFrom("stdout" as const, "stderr" as const),
      text: FastCheck.string({ unit: FastCheck.constantFrom("a", "é", "\n"), maxLength: 12 })
    }),
    FastCheck.constantFrom("settle" as const, "stdout" as const, "stderr" as const)
  )

  it.prop("has all lines of both streams", [FastCheck.array(step, { maxLength: 40 })], ([steps]) => {
    const { lines, order, take } = recorded()
    const texts = { stdout: "", stderr: "" }
    for (const one of steps) {
      if (one === "settle") order.settle()
      else if (typeof one === "string") order.wrote(one)
      else {
        texts[one.stream] += one.text
        take(one.stream, one.text)
      }
    }
    const found = lines()
    if (found === undefined) return
    for (const stream of ["stdout", "stderr"] as const) {
      const counts = found.filter((run) => run.endsWith(stream)).map((run) => Number.parseInt(run, 10))
      const text = texts[stream]
      const expected = text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0)
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        expected
      )
    }
  })
})
