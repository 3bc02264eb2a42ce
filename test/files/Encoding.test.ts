import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Encoding from "../../src/files/Encoding.js"

const nameOf = (head: Uint8Array | string) => {
  const found = Encoding.detect(typeof head === "string" ? Buffer.from(head, "latin1") : head)
  return found === undefined ? undefined : Encoding.label(found)
}

describe("the encoding of a file", () => {
  it("is told by its mark, by what it declares, and by its line ends", () => {
    for (const [head, name] of [
      ["plain\n", undefined],
      ["", undefined],
      ["\xff\xfeh\0i\0", "UTF-16LE"],
      ["\xfe\xff\0h\0i", "UTF-16BE"],
      ["\xff\xfea\0\r\0b\0", "UTF-16LE, lines end in CR"],
      ["# -*- coding: gbk -*-\nx = '\xc4\xe3'\n", "GBK"],
      ["#!/usr/bin/python\n# vim: set fileencoding=shift_jis :\n", "SHIFT_JIS"],
      ["a\nb\n# coding: gbk\n", undefined],
      ["# -*- coding: latin-1 -*-\n", "WINDOWS-1252"],
      ['<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>\xe9</a>', "WINDOWS-1252"],
      ['<html><head><meta charset="big5">', "BIG5"],
      ["# coding: utf-8\n\xff", undefined],
      ["# coding: nonsense\n", undefined],
      ["# coding: latin1\n# caf\xc3\xa9\n", undefined],
      // What is examined ends within a character.
      [`# coding: latin1\n${"x".repeat(1006)}\xc3\xa9\n`, undefined],
      ['data = open("x", encoding="latin1").read()\n', undefined],
      [`${"x".repeat(1023)}\r\nb\r\n`, undefined],
      ["a\rb\rc", "lines end in CR"],
      ["a\r\nb\r\n", undefined],
      ["a\0b", undefined],
      // UTF-16 without a mark. Words between NULs have no line end, and numbers are control characters.
      ["h\0i\0\n\0", "UTF-16LE"],
      ["\0h\0i\0\n", "UTF-16BE"],
      ["\x07h\x98\x98 \0=\0\n\0", "UTF-16LE"],
      ["a\0b\0c\0", undefined],
      ["a\0\x01\0\n\0", undefined]
    ] as const)
      assert.strictEqual(nameOf(head), name, JSON.stringify(head))
  })

  it.effect("is the locale's where its bytes are not UTF-8 and fit", () =>
    Effect.gen(function* () {
      const local = (names: Record<string, string>) =>
        Effect.withConfigProvider(Encoding.ofLocale, ConfigProvider.fromMap(new Map(Object.entries(names))))
      assert.strictEqual(yield* local({ LC_ALL: "", LANG: "zh_CN.GBK" }), "gbk")
      assert.strictEqual(yield* local({ LC_CTYPE: "ja_JP.eucJP", LANG: "C.UTF-8" }), "euc-jp")
      for (const LANG of ["de_DE.UTF-8", "C", "de_DE.nonsense"]) assert.isUndefined(yield* local({ LANG }))
      const of = (text: Buffer | string) => Encoding.detect(Buffer.from(text as string, "latin1"), "gbk")?.name
      assert.deepStrictEqual(
        ["\xc4\xe3\n", Buffer.from("你\n"), "a\n", "\xc4 \n", "# coding: big5\n\xa4\xa4"].map(of),
        ["gbk", undefined, undefined, undefined, "big5"]
      )
    })
  )

  it("converts a text to UTF-8 however its bytes come, and back to the same bytes", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.constantFrom("gbk", "shift_jis", "windows-1252", "utf-16le", "utf-16be", "euc-kr", "koi8-r"),
        FastCheck.array(FastCheck.constantFrom("a", "\n", "é", "€", "你", "あ", "한", "я", "😀")),
        FastCheck.integer({ min: 1, max: 5 }),
        FastCheck.boolean(),
        async (name, parts, size, isCr) => {
          const encoding = { name, isCr }
          const text = parts.join("")
          const bytes = await Encoding.encode(text, encoding)
          if (typeof bytes === "string") return assert.include(parts, bytes.split(" has no ")[1])
          assert.strictEqual(await Encoding.decode(bytes, encoding), text)
          const convert = Encoding.toUtf8(encoding)
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
            convert(bytes.subarray(at * size, (at + 1) * size))
          )
          assert.strictEqual(Buffer.concat([...chunks, convert()]).toString(), text)
        }
      )
    ))

  it("is none of bytes that it has not", async () => {
    assert.isUndefined(await Encoding.decode(Buffer.from("\xc4", "latin1"), { name: "gbk", isCr: false }))
    assert.isUndefined(await Encoding.decode(Buffer.from("\xff", "latin1"), { name: "utf-8", isCr: true }))
    assert.isUndefined(Encoding.named("nonsense"))
    // A declaration is wrong where the text is UTF-8 all the same; a name that was given is not.
    const latin = { name: "windows-1252", isCr: false }
    assert.isUndefined(await Encoding.decode(Buffer.from("é"), latin, true))
    assert.strictEqual(await Encoding.decode(Buffer.from("é"), latin), "Ã©")
  })
})
