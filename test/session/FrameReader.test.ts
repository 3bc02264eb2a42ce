import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { FrameReader } from "../../src/session/internal/Protocol.js"

const nonce = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
const other = "ffffffff-4e5f-4a6b-8c7d-9e0f1a2b3c4d"

const frame = (body: string, of = nonce) => `\x1e${of} ${body} ${of}\x1e`

/** Feeds a text in pieces cut at these places. */
const read = (reader: FrameReader, text: string, cuts: ReadonlyArray<number> = []) => {
  const bytes = Buffer.from(text, "latin1")
  const at = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length]
  return at.slice(1).flatMap((end, i) => reader.read(bytes.subarray(at[i], end)))
}

const expecting = (expected = nonce) => {
  const reader = new FrameReader()
  reader.expect(expected)
  return reader
}

const latin1 = FastCheck.string({
  unit: FastCheck.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))
})

/** What a shell may print between frames: anything, forged and broken frames too, but none of this nonce. */
const junk = FastCheck.oneof(
  latin1.filter((text) => !text.includes(nonce)),
  FastCheck.constantFrom("\x1e", frame("0 /", other), "#? ", "1) ", `\x1e${nonce.slice(0, 20)}`, ` ${other}\x1e`, "\n")
)

describe("FrameReader", () => {
  it.prop(
    "finds a frame in any junk, however it is cut",
    [
      FastCheck.array(junk, { maxLength: 5 }),
      FastCheck.array(junk, { maxLength: 5 }),
      latin1.filter((text) => !text.includes(nonce)),
      FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 })
    ],
    ([before, after, body, cuts]) => {
      const text = `${before.join("")}${frame(body)}${after.join("")}`
      assert.deepStrictEqual(read(expecting(), text, cuts), [body])
    },
    { fastCheck: { numRuns: 200 } }
  )

  it.prop(
    "gives several frames in order",
    [
      FastCheck.array(FastCheck.constantFrom("A", "0 /", "1 /tmp", ""), { maxLength: 6 }),
      FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 })
    ],
    ([bodies, cuts]) => {
      assert.deepStrictEqual(read(expecting(), bodies.map((body) => frame(body)).join("noise"), cuts), bodies)
    }
  )

  it("drops the frames of another nonce, and of the one before", () => {
    const reader = expecting()
    assert.deepStrictEqual(read(reader, frame("0 /", other)), [])
    assert.deepStrictEqual(read(reader, frame("0 /").slice(0, 30)), [])
    reader.expect(other)
    assert.deepStrictEqual(read(reader, `${frame("0 /").slice(30)}${frame("1 /", other)}`), ["1 /"])
  })

  it("forgets what is far too long to be a frame", () => {
    const reader = expecting()
    assert.deepStrictEqual(read(reader, `\x1e${nonce} 0 /`), [])
    for (let i = 0; i < 5; i++) assert.deepStrictEqual(reader.read(Buffer.alloc(4_000_000, "x")), [])
    assert.deepStrictEqual(read(reader, ` ${nonce}\x1e`), [])
    assert.deepStrictEqual(read(reader, frame("A")), ["A"])
  })

  it("reports a begin by a nonce of its own, before all else", () => {
    const reader = new FrameReader()
    reader.expect(nonce, other)
    assert.deepStrictEqual(read(reader, `\x1e${other} A\x1e${frame("0 /")}\x1e${other} A\x1e`), ["A", "0 /"])
    assert.deepStrictEqual(read(reader, frame("1 /", other)), [])
  })

  it("tells status, options, directory and removed aliases", () => {
    const reader = expecting()
    assert.deepStrictEqual(reader.status(`42 hBx ${nonce} /tmp/a b\n ${nonce} { } `), {
      status: 42,
      sure: true,
      options: "hBx",
      cwd: "/tmp/a b\n",
      removed: ["{", "}"],
      pipeline: [],
      ended: undefined,
      left: undefined
    })
    assert.deepStrictEqual(reader.status(`?2 h ${nonce}  ${nonce} `), {
      status: 2,
      sure: false,
      options: "h",
      cwd: "",
      removed: [],
      pipeline: [],
      ended: undefined,
      left: undefined
    })
    const codes = (text: string) => reader.status(`0 h ${nonce}  ${nonce}  ${nonce} ${text}`)?.pipeline
    assert.deepStrictEqual(["3 0 141", "3", "", "301", "a 0", "1000 0"].map(codes), [[3, 0, 141], [], [], [], [], []])
    const children = reader.status(`0 h ${nonce}  ${nonce}  ${nonce}  ${nonce}  12:3 13:127: 15:127:15 ${nonce} 14`)
    assert.deepStrictEqual(
      [[...(children?.ended ?? [])], children?.left],
      [
        [
          [12, 3],
          [13, undefined],
          [15, 127]
        ],
        14
      ]
    )
    const of = (cwd: string) => reader.status(`0 h ${nonce} ${cwd} ${nonce} `)
    assert.strictEqual(of("/\xc3\xbc")?.cwd, "/ü")
    assert.deepStrictEqual(
      [16_384, 16_385].map((length) => of("x".repeat(length))?.cwd.length),
      [16_384, 0]
    )
  })

  it("takes nothing else for an end", () => {
    const reader = expecting()
    for (const body of ["", "A", "0", "x /tmp", `1000 h ${nonce} / ${nonce} `, `0 h ${nonce} /`]) {
      assert.strictEqual(reader.status(body), undefined)
    }
    assert.strictEqual(reader.status(`0 h ${other} / ${other} `), undefined)
  })
})
