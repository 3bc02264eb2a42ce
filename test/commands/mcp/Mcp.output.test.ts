import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Output from "../../../src/commands/mcp/internal/Mcp.output.js"
import { Attachments } from "../../../src/commands/mcp/internal/Mcp.output.js"
import * as Mcp from "../../../src/commands/mcp/Mcp.js"
import type { McpOutput } from "../../../src/extension/mcp/McpClient.js"
import { FileError } from "../../../src/files/Files.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"

const files = MemoryFiles.make()

const put = (output: McpOutput, given = files) =>
  Mcp.putMcpAnswer(
    { name: "mcp:demo:t", args: [], cwd: "/", stdin: undefined, write: () => Effect.void, files: given, room: 1000 },
    output,
    Output.partsOf(output, "t"),
    new Attachments()
  )

/** What a result is put out as, without the random part of paths. */
const shown = (output: McpOutput, given = files) =>
  Effect.map(put(output, given), ({ exitCode, stderr, stdout }) => [
    exitCode,
    `${stdout}${stderr}`.replaceAll(/\S*synapse-mcp-[0-9a-f]{12}/g, "<tmp>")
  ])

const blocks = (...content: McpOutput["content"]): McpOutput => ({ content })

describe("the result of an MCP tool", () => {
  it.effect("S29: is text as it is, and other blocks as JSON after it, in their order", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* shown(
          blocks(
            { type: "text", text: "a" },
            { type: "object", value: { b: 1 } },
            { type: "text", text: "c\n" },
            { type: "text", text: "" },
            { type: "resource", resource: { uri: "file:///x", text: "d" } },
            { type: "text" }
          )
        ),
        [0, 'a\n{"type":"object","value":{"b":1}}\nc\nd\n{"type":"text"}\n']
      )
      assert.deepStrictEqual(yield* shown(blocks()), [0, ""])
    })
  )

  it.effect("says structured content once", () =>
    Effect.gen(function* () {
      const of = (structuredContent: unknown, ...texts: ReadonlyArray<string>) =>
        Effect.map(
          shown({ content: texts.map((text) => ({ type: "text", text })), structuredContent }),
          ([, text]) => text
        )
      assert.strictEqual(yield* of({ a: 1 }), '{"a":1}\n')
      assert.strictEqual(yield* of({ a: 1 }, '{\n  "a": 1\n}'), '{\n  "a": 1\n}\n')
      assert.strictEqual(yield* of({ a: 1 }, '{"a":2}'), '{"a":2}\n{"a":1}\n')
      assert.strictEqual(yield* of({ a: 1 }, "{a"), '{a\n{"a":1}\n')
      assert.strictEqual(yield* of({ result: "done" }, "done"), "done\n")
      assert.strictEqual(yield* of({ result: ["a", { b: 1 }] }, "a", '{"b": 1}'), 'a\n{"b": 1}\n')
      assert.strictEqual(yield* of({ result: 4 }, "four"), 'four\n{"result":4}\n')
      assert.strictEqual(yield* of(null, "x"), "x\n")
      // As server-filesystem, server-memory and others put it.
      assert.strictEqual(yield* of({ content: "hello\n" }, "hello\n"), "hello\n")
      assert.strictEqual(yield* of({ content: "hello" }, "hello\n"), "hello\n")
      assert.strictEqual(yield* of({ content: "4" }, "4"), "4\n")
      assert.strictEqual(
        yield* of({ entities: [{ name: "Ada" }] }, '[\n  { "name": "Ada" }\n]'),
        '[\n  { "name": "Ada" }\n]\n'
      )
      assert.strictEqual(yield* of({ content: "a", more: 1 }, "a"), 'a\n{"content":"a","more":1}\n')
      assert.strictEqual(yield* of({ content: " a" }, "a"), 'a\n{"content":" a"}\n')
      assert.strictEqual(yield* of({ content: { a: 1 } }, '{"a":2}'), '{"a":2}\n{"content":{"a":1}}\n')
      assert.strictEqual(yield* of({}, "a"), "a\n{}\n")
    })
  )

  it.effect("saves what is no text, and names it", () =>
    Effect.gen(function* () {
      const base64 = Buffer.from("some bytes").toString("base64")
      assert.deepStrictEqual(
        yield* shown(
          blocks(
            { type: "image", data: base64, mimeType: "image/png" },
            { type: "audio", data: base64, mimeType: "audio/wav; rate=1" },
            { type: "resource", resource: { uri: "x:///a/../b c.tar.gz?q", blob: base64 } },
            { type: "resource", resource: { uri: "", blob: base64, mimeType: "evil\u001b[2J\n" } },
            { type: "image", data: "!", mimeType: "image/png" },
            { type: "image", data: 5 }
          )
        ),
        [
          0,
          [
            "[image saved: <tmp>/t-1.png (image/png, 10 bytes)]",
            "[audio saved: <tmp>/t-2.wav (audio/wav; rate=1, 10 bytes)]",
            "[resource x:///a/../b c.tar.gz?q saved: <tmp>/b-c-tar-3.gz (unknown type, 10 bytes)]",
            "[resource saved: <tmp>/t-4.bin (evil\\u001b[2J\\n, 10 bytes)]",
            "[image not saved: its data is no base64 (image/png, 0 bytes)]",
            '{"type":"image","data":5}',
            ""
          ].join("\n")
        ]
      )
      // An image block whose data is no image is not shown as an image.
      assert.notProperty(yield* put(blocks({ type: "image", data: base64, mimeType: "image/png" })), "images")
    })
  )

  it.effect("saves a hundred files of one result, and says how many more there are", () =>
    Effect.gen(function* () {
      const image = { type: "image", data: "AAAA", mimeType: "image/png" }
      const many = blocks({ type: "text", text: "all:" }, ...Array.from({ length: 20_000 }, () => image))
      const [, text] = yield* shown({ ...many, content: [...many.content, { type: "text", text: "the end" }] })
      const lines = String(text).trimEnd().split("\n")
      assert.lengthOf(lines, 103)
      assert.strictEqual(lines[100], "[image saved: <tmp>/t-100.png (image/png, 3 bytes)]")
      assert.deepStrictEqual(lines.slice(101), ["the end", "[19,900 more files not saved: of one result, 100 are]"])
    })
  )

  it.effect("says why it can't save", () =>
    Effect.gen(function* () {
      const denied = (path: string) => new FileError({ path, kind: "denied", reason: "Permission denied" })
      const refusing = { ...files, read: () => Stream.empty, write: denied }
      assert.deepStrictEqual(yield* shown(blocks({ type: "image", data: "AAAA", mimeType: "image/png" }), refusing), [
        0,
        "[image not saved: <tmp>/t-1.png: Permission denied (image/png, 3 bytes)]\n"
      ])
    })
  )

  it.effect("keeps files among those of the session, where it has some", () =>
    Effect.gen(function* () {
      const kept: Array<readonly [string, string, string]> = []
      const image = { type: "image", data: "AAAA", mimeType: "image/png" }
      const keep = (prefix: string, ending: string, content: Uint8Array) => {
        kept.push([prefix, ending, Buffer.from(content).toString("base64")])
        return kept.length < 3
          ? Effect.succeed(`/s/output/${prefix}${kept.length}.${ending}`)
          : Effect.fail(
              new FileError({ path: `${prefix}*.${ending}`, kind: "io", reason: "it is larger than 1 bytes" })
            )
      }
      const named = {
        type: "resource",
        resource: { uri: "x:/../../../etc/pass wd", blob: "AAAA", mimeType: "__proto__" }
      }
      const output = blocks(image, named, image)
      const { stdout } = yield* Mcp.putMcpAnswer(
        { name: "mcp:d:t", args: [], cwd: "/", stdin: undefined, write: () => Effect.void, files, keep },
        output,
        Output.partsOf(output, "t"),
        new Attachments()
      )
      assert.deepStrictEqual(stdout.split("\n"), [
        "[image saved: /s/output/t-1.png (image/png, 3 bytes)]",
        "[resource x:/../../../etc/pass wd saved: /s/output/pass-wd-2.bin (__proto__, 3 bytes)]",
        "[image not saved: t-*.png: it is larger than 1 bytes (image/png, 3 bytes)]",
        ""
      ])
      assert.deepStrictEqual(kept[1], ["pass-wd-", "bin", "AAAA"])
    })
  )

  it.effect("is exit code 1 and standard error where the tool has failed", () =>
    Effect.gen(function* () {
      const result = yield* put({ content: [{ type: "text", text: "no" }], isError: true, structuredContent: { a: 1 } })
      assert.deepStrictEqual(result, { stdout: "", stderr: 'no\n{"a":1}\n', exitCode: 1 })
      assert.strictEqual(
        (yield* put({ content: [], isError: true })).stderr,
        "mcp:demo:t: the tool failed, and its server does not say why.\n"
      )
    })
  )
})
