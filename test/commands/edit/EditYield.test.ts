import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as Matches from "../../../src/commands/edit/internal/Edit.matches.js"
import * as Yield from "../../../src/domain/Yield.js"
import type { Files } from "../../../src/files/Files.js"
import * as FileCall from "../../support/commands/FileCall.js"

const MiB = 1024 ** 2
const blank = Buffer.alloc(MiB, "\n")

/** A file of blank blocks of a MiB, with texts in some of them, that is nowhere whole; and what is written to it. */
const huge = (blocks: number, texts: Readonly<Record<number, string>>) => {
  const seen = { written: 0, found: [] as Array<string>, isCommitted: false }
  const files: Files = {
    exclusive: (effect) => effect,
    writeAll: () => Effect.void,
    exit: () => Effect.void as Effect.Effect<undefined>,
    mode: () => Effect.succeed("644"),
    read: () =>
      Stream.range(0, blocks - 1).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.promise(Yield.turn)),
        Stream.map((at) => {
          const text = texts[at]
          if (text === undefined) return blank
          const block = Buffer.from(blank)
          block.write(text, 1000)
          return block
        })
      ),
    write: (_, content) =>
      Effect.map(
        Stream.runForEach(content instanceof Uint8Array ? Stream.succeed(content) : content, (chunk) =>
          Effect.sync(() => {
            seen.written += chunk.length
            if (blank.subarray(0, chunk.length).equals(chunk)) return
            seen.found.push(Buffer.from(chunk).toString().trim())
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

describe("edit, of large files", () => {
  it("finds and replaces what a plain search finds", () => {
    const text = FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "\n"), maxLength: 60 })
    const old = FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 6 })
    FastCheck.assert(
      FastCheck.property(text, old, old, FastCheck.boolean(), (whole, old, replacement, all) => {
        const [bytes, pattern] = [Buffer.from(whole), Buffer.from(old)]
        const found = Yield.now(Matches.find(bytes, pattern))
        const first = whole.indexOf(old)
        assert.deepStrictEqual(
          { count: found.count, first: found.first },
          { count: whole.split(old).length - 1, first }
        )
        if (first >= 0) assert.strictEqual(found.lines[0], whole.slice(0, first).split("\n").length)
        const expected = all ? whole.replaceAll(old, () => replacement) : whole.replace(old, () => replacement)
        const options = { all, size: Buffer.byteLength(expected) }
        const replaced = Yield.now(Matches.replaced(bytes, pattern, Buffer.from(replacement), options))
        assert.strictEqual(Buffer.from(replaced).toString(), expected)
      }),
      { numRuns: 200 }
    )
  })

  it.live("S51: replaces in a large file, however its packets end", () =>
    Effect.gen(function* () {
      const ground = huge(20, { 2: "old", 19: "old again" })
      const line = 2 * MiB + 1000 + 1
      const last = 19 * MiB - 3 + 1000 + 1
      assert.deepStrictEqual(
        (yield* edit(ground, "old", "older", "--all")).stdout,
        `Replaced 2 occurrences in f (lines ${line}, ${last})\n-old\n+older\n`
      )
      assert.deepStrictEqual(ground.seen, { written: 20 * MiB + 4, found: ["older", "older again"], isCommitted: true })
    })
  )

  it.live("S52: looks for what is near in the beginning of a large file, and says so", () =>
    Effect.gen(function* () {
      const ground = huge(66, { 1: "Some Text", 65: "some  text" })
      const { exitCode, stderr } = yield* edit(ground, "some text", "x")
      assert.deepStrictEqual(
        [exitCode, stderr],
        [
          1,
          "edit: f: the old text was not found; the file is unchanged\n" +
            "In its first 64 MiB, which alone were searched for what comes near:\n" +
            `Line ${MiB + 1001} matches but for white space or the case of letters:\n${MiB + 1001}\tSome Text\n`
        ]
      )
      assert.deepStrictEqual(ground.seen, { written: 0, found: [], isCommitted: false })
    })
  )

  it.live("refuses a file that is too large to hold", () =>
    Effect.gen(function* () {
      const ground = huge(1_000_000, { 2: "old" })
      assert.deepStrictEqual(yield* FileCall.failed(Edit.make, ["f", "old", "new"], ground), {
        _tag: "ExecutionFailed",
        exitCode: 1,
        message: "edit: f: more than 256 MiB, unchanged: use sed"
      })
      assert.isFalse(ground.seen.isCommitted)
    })
  )

  it.live("is heard no more where it is interrupted", () =>
    Effect.gen(function* () {
      for (const old of ["not there", "old"]) {
        const ground = huge(250, { 249: "old" })
        const fiber = yield* Effect.fork(edit(ground, old, "new"))
        yield* Effect.sleep(30)
        assert.strictEqual((yield* Fiber.interrupt(fiber))._tag, "Failure")
        assert.isFalse(ground.seen.isCommitted)
      }
    })
  )
})
