import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Quote from "../../src/bash/Quote.js"

const texts = FastCheck.sample(
  FastCheck.fullUnicodeString().map((text) => text.replaceAll("\0", "")),
  { numRuns: 500, seed: 7 }
).concat(["", "'", "''", "\\", "\n", '!$`"', "$(exit)", "-n", " a\tb ", "*?[x]", "~", "ü😀", "a=b", "EOF", "EOF\nEOF_"])

/** What a real bash puts out for commands that each end their output with a NUL. */
const outputs = (commands: ReadonlyArray<string>): ReadonlyArray<string> =>
  ChildProcess.spawnSync("/bin/bash", { input: commands.join("\n"), encoding: "utf8" })
    .stdout.split("\0")
    .slice(0, -1)

const bytes = (text: string): string => Buffer.from(text).toString()

describe("quote", () => {
  it("is read by a real bash as exactly that text", () => {
    const commands = texts.map((text) => `printf '%s\\0' ${Quote.quote(text)}`)
    assert.deepStrictEqual(outputs(commands), texts.map(bytes))
  })
})

describe("line", () => {
  it("shows bytes that are not UTF-8, and what can't be seen", () => {
    assert.deepStrictEqual(["a\udcff", "a\n", "\u202e", "it's"].map(Quote.line), [
      "$'a\\xff'",
      "$'a\\n'",
      "$'\\u202e'",
      "'it'\\''s'"
    ])
  })
})

describe("word", () => {
  it("is read by a real bash as exactly that text, and has quotes only where it must", () => {
    const commands = texts.map((text) => `printf '%s\\0' ${Quote.word(text)}`)
    assert.deepStrictEqual(outputs(commands), texts.map(bytes))
    assert.deepStrictEqual(["a/b-1.ts", "a b", "~", "a=b"].map(Quote.word), ["a/b-1.ts", "'a b'", "'~'", "'a=b'"])
  })
})

describe("hereDocument", () => {
  it("is read by a real bash as exactly the lines of that text", () => {
    const lines = texts.map((text) => `${text}\n`)
    const commands = lines.map((text) => `/bin/cat ${Quote.hereDocument(text)}\nprintf '\\0'`)
    assert.deepStrictEqual(outputs(commands), lines.map(bytes))
  })
})
