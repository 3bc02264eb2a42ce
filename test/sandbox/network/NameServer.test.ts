import { assert, describe, it } from "@effect/vitest"
import * as NameServer from "../../../src/sandbox/network/NameServer.js"

const packet = (labels: ReadonlyArray<string | Buffer>, type = 1, rest: ReadonlyArray<number> = []) =>
  Buffer.concat([
    Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0, 0, type, 0, 1, ...rest])
  ])

describe("the name server", () => {
  it("reads a question, and answers it with the address", () => {
    const question = NameServer.read(packet(["Example", "COM"]))
    assert.deepInclude(question, { name: "example.com", type: 1, id: 0x1234 })
    if (question === undefined || "code" in question) return assert.fail()
    const answer = NameServer.answer(question, NameServer.codes.none, "127.1.0.7")
    assert.strictEqual(answer.subarray(0, 12).toString("hex"), "123481800001000100000000")
    assert.deepStrictEqual([...answer.subarray(-4)], [127, 1, 0, 7])
    assert.strictEqual(NameServer.answer(question, NameServer.codes.noSuchName).readUInt16BE(2), 0x8183)
  })

  it("refuses what is no question for the name of a host", () => {
    const { codes } = NameServer
    const code = (bytes: Buffer) => {
      const read = NameServer.read(bytes)
      return read !== undefined && "code" in read ? read.code : read?.name
    }
    assert.isUndefined(code(Buffer.alloc(11)))
    assert.isUndefined(code(Buffer.from("ffff8180000100000000000000", "hex")))
    assert.strictEqual(code(packet(["a.b", "org"])), codes.noSuchName)
    assert.strictEqual(code(packet(["a\0b", "org"])), codes.noSuchName)
    assert.strictEqual(code(packet(["a\r\nb"])), codes.noSuchName)
    assert.strictEqual(code(packet([Buffer.from("é")])), codes.noSuchName)
    assert.strictEqual(code(packet([])), codes.noSuchName)
    assert.strictEqual(code(packet(Array.from({ length: 6 }, () => "a".repeat(63)))), codes.malformed)
    const pointer = Buffer.concat([packet([]).subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])])
    assert.strictEqual(code(pointer), codes.malformed)
    assert.strictEqual(code(packet(["a"]).subarray(0, -2)), codes.malformed)
    const two = packet(["a"])
    two[5] = 2
    assert.strictEqual(code(two), codes.malformed)
    assert.strictEqual(code(packet(["a"], 1, [1, 2, 3])), "a")
  })

  it("takes any bytes", () => {
    let seed = 7
    const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31)
    for (let at = 0; at < 2000; at++) {
      const bytes = Buffer.from(Array.from({ length: next() % 64 }, () => next() % 256))
      const read = NameServer.read(bytes)
      if (read !== undefined && "code" in read) assert.strictEqual(NameServer.refuse(bytes, read.code).length, 12)
    }
  })
})
