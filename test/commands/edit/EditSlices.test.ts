import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as Matches from "../../../src/commands/edit/internal/Edit.matches.js"
import * as Slices from "../../../src/domain/Slices.js"
import type { Files } from "../../../src/files/Files.js"
import * as FileCall from "../../support/commands/FileCall.js"

const MiB = 1024 ** 2

const chunked = (bytes: Buffer, sizes: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const chunks: Array<Buffer> = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

/** A file of blank blocks of a MiB, with texts in some of them, that is nowhere whole; and what is written to it. */
const huge = (blocks: number, texts: (reading: number) => Readonly<Record<number, string>>) => {
  const seen = { readings: 0, written: 0, found: [] as Array<string>, isCommitted: false }
  const files: Files = {
    exclusive: (_, effect) => effect,
    writeAll: () => Effect.void,
    exit: () => Effect.void as Effect.Effect<undefined>,
    mode: () => Effect.succeed("644"),
    read: () =>
      Stream.suspend(() => {
        const put = texts(++seen.readings)
        return Stream.range(0, blocks - 1).pipe(
          Stream.rechunk(1),
          Stream.map((at) => {
            const block = Buffer.alloc(MiB, "\n")
            block.write(put[at] ?? "", 1000)
            return block
          })
        )
      }),
    write: (_, content) =>
      Effect.map(
        Stream.runForEach(content instanceof Uint8Array ? Stream.succeed(content) : content, (chunk) =>
          Effect.sync(() => {
            seen.written += chunk.length
            const text = Buffer.from(chunk).toString().trim()
            if (text !== "") seen.found.push(text)
          })
        ),
        () => {
          seen.isCommitted = true
        }
      )
  }
  return { files: files as FileCall.Ground["files"] & {}, seen }
}

const edit = (ground: { readonly files: FileCall.Ground["files"] & {} }, ...args: ReadonlyArray<string>) =>
  FileCall.run(Edit.make, ["f", ...args], ground)

describe("edit, of bytes that come in chunks", () => {
  it("finds and replaces what a search in the whole finds, however they come", () => {
    const text = FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "\n"), maxLength: 60 })
    const old = FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 6 })
    const sizes = FastCheck.array(FastCheck.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
    FastCheck.assert(
      FastCheck.property(text, old, old, sizes, FastCheck.boolean(), (whole, old, replacement, sizes, all) => {
        const chunks = chunked(Buffer.from(whole), sizes)
        const pattern = Slices.now(Matches.prepare(old))
        const found = new Matches.Occurrences(pattern)
        for (const chunk of chunks) Slices.now(found.push(chunk))
        const first = whole.indexOf(old)
        assert.deepStrictEqual(
          { count: found.count, first: found.first, size: found.size },
          { count: whole.split(old).length - 1, first, size: whole.length }
        )
        if (first >= 0) assert.strictEqual(found.lines[0], whole.slice(0, first).split("\n").length)
        const replacer = new Matches.Replacer(pattern, Buffer.from(replacement), all)
        const parts: Array<Uint8Array> = []
        for (const chunk of chunks) for (const part of replacer.push(chunk)) if (part !== undefined) parts.push(part)
        for (const part of replacer.end()) if (part !== undefined) parts.push(part)
        const expected = all ? whole.replaceAll(old, () => replacement) : whole.replace(old, () => replacement)
        assert.strictEqual(Buffer.concat(parts).toString(), expected)
      }),
      { numRuns: 2000 }
    )
  })

  it.live("S51: edits a file that is larger than what is held of it, and reads it twice for that", () =>
    Effect.gen(function* () {
      const ground = huge(70, () => ({ 2: "old", 69: "old again" }))
      const line = 2 * MiB + 1000 + 1
      const last = 69 * MiB - 3 + 1000 + 1
      assert.deepStrictEqual(
        (yield* edit(ground, "old", "new")).stdout,
        `1 more match: line ${last}; --all replaces every one\nReplaced 1 occurrence in f (line ${line})\n-old\n+new\n`
      )
      assert.deepStrictEqual(ground.seen, {
        readings: 2,
        written: 70 * MiB,
        found: ["new", "old again"],
        isCommitted: true
      })
      const all = huge(70, () => ({ 2: "old", 69: "old again" }))
      assert.deepStrictEqual(
        (yield* edit(all, "old", "older", "--all")).stdout,
        `Replaced 2 occurrences in f (lines ${line}, ${last})\n-old\n+older\n`
      )
      assert.deepStrictEqual(all.seen.found, ["older", "older again"])
      assert.strictEqual(all.seen.written, 70 * MiB + 4)
    })
  )

  it.live("S52: looks for what is near in the beginning of a large file, and says so", () =>
    Effect.gen(function* () {
      const ground = huge(66, () => ({ 1: "Some Text", 65: "some  text" }))
      const { exitCode, stderr } = yield* edit(ground, "some text", "x")
      assert.deepStrictEqual(
        [exitCode, stderr],
        [
          1,
          "edit: f: the old text was not found; the file is unchanged\n" +
            "In its first 64 MiB, which alone were searched for what comes near:\n" +
            `Line ${MiB + 1001} matches but for: the case of letters\n${MiB + 1001}\tSome Text\n`
        ]
      )
      assert.deepStrictEqual(ground.seen, { readings: 1, written: 0, found: [], isCommitted: false })
    })
  )

  it.live("leaves a large file alone that another changes between the two readings", () =>
    Effect.gen(function* () {
      for (const change of [{ 3: "old" }, { 2: "old", 68: "old" }, {}]) {
        const ground = huge(70, (reading) => (reading === 1 ? { 2: "old" } : change))
        assert.deepStrictEqual(yield* FileCall.failed(Edit.make, ["f", "old", "new"], ground), {
          _tag: "ExecutionFailed",
          exitCode: 1,
          message: "edit: f: it was changed meanwhile, and is left as it is now; edit it again"
        })
        assert.isFalse(ground.seen.isCommitted)
      }
    })
  )

  it.live("is heard no more where it is interrupted, whatever it does", () =>
    Effect.gen(function* () {
      for (const old of ["not there", "old"]) {
        const ground = huge(1_000_000, () => ({ 2: "old" }))
        const fiber = yield* Effect.fork(edit(ground, old, "new"))
        yield* Effect.sleep(30)
        assert.strictEqual((yield* Fiber.interrupt(fiber))._tag, "Failure")
        assert.isFalse(ground.seen.isCommitted)
      }
    })
  )
})
