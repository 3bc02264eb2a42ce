/** Against bash, which reads what was completed. */
import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Completion from "../../src/terminal/Completion.js"

const directories: Readonly<Record<string, ReadonlyArray<Completion.Name>>> = {
  ".": [
    { name: "src", isDirectory: true },
    { name: "my file", isDirectory: false },
    { name: "my folder", isDirectory: true },
    { name: "-x", isDirectory: false },
    { name: "~a", isDirectory: false },
    { name: "it's", isDirectory: false },
    { name: "$HOME", isDirectory: false },
    { name: "red\x1b[31m", isDirectory: false },
    { name: ".hidden", isDirectory: false }
  ],
  "src/": [{ name: "a.ts", isDirectory: false }],
  "/": [{ name: "tmp", isDirectory: true }],
  "/home/me/": [{ name: "no tes", isDirectory: false }]
}

const complete = Completion.make({
  commands: Effect.succeed(["echo", "exit", "git", "mcp:list", "mcp:call", "skill:pdf"]),
  ownCommands: ["/help", "/tools", "/todo"],
  options: (command) => (command === "read" ? ["--offset", "--limit"] : []),
  list: (directory) => Effect.succeed(directories[directory] ?? []),
  home: "/home/me"
})

/** The texts after completion with each word, where `text` is typed up to its end. */
const completed = async (text: string): Promise<ReadonlyArray<string>> => {
  const { start, words } = await Effect.runPromise(complete(text, text.length))
  return words.map((word) => text.slice(0, start) + word.text)
}

describe("Completion", () => {
  it("finds commands where one begins, options behind one, else paths", async () => {
    const cases: Readonly<Record<string, ReadonlyArray<string>>> = {
      e: ["echo ", "exit "],
      "ls | gi": ["ls | git "],
      "A=1 sudo gi": ["A=1 sudo git "],
      "if true; then mcp:": ["if true; then mcp:call ", "if true; then mcp:list "],
      "/to": ["/todo ", "/tools "],
      "read --l": ["read --limit "],
      "read -- --l": [],
      "echo a > sr": ["echo a > src/"],
      "cat src/": ["cat src/a.ts "],
      "cd m": ["cd my\\ folder/"],
      "cat .h": ["cat .hidden "],
      "cat $HO": [],
      "cat ~/no": ["cat ~/no\\ tes "],
      "cat <(ls sr": []
    }
    for (const [text, expected] of Object.entries(cases)) assert.deepStrictEqual(await completed(text), expected, text)
  })

  it("writes names so that bash reads them, in the quotes that were begun", async () => {
    const cases: Readonly<Record<string, ReadonlyArray<string>>> = {
      "cat my": ["cat my\\ file ", "cat my\\ folder/"],
      "cat my\\ fi": ["cat my\\ file "],
      "cat 'my": ["cat 'my file' ", "cat 'my folder/"],
      'cat "my f': ['cat "my file" ', 'cat "my folder/'],
      "cat -": ["cat ./-x "],
      "cat \\~": ["cat \\~a "],
      "cat it": ["cat it\\'s "],
      "cat 'it": ["cat 'it'\\''s' "],
      'cat "\\$H': ['cat "\\$HOME" '],
      "cat red": ["cat $'red\\e[31m' "],
      "cat $'red": ["cat $'red\\e[31m' "]
    }
    for (const [text, expected] of Object.entries(cases)) assert.deepStrictEqual(await completed(text), expected, text)
  })

  it("replaces the word before the place only", async () => {
    const { start, words } = await Effect.runPromise(complete("cat sr && ls", 6))
    assert.deepStrictEqual([start, words], [4, [{ text: "src/", shown: "src/" }]])
  })

  it("quotes every name for bash", () => {
    const names = FastCheck.sample(FastCheck.fullUnicodeString({ minLength: 1 }), { numRuns: 150, seed: 5 })
      .concat([
        "a\u200bb",
        "\u202e",
        "\x7f\x1b0\n\t",
        "~",
        "~x",
        "#a",
        "{a,b}",
        "*?[x]",
        "!x",
        "a\\",
        "=x",
        "-n",
        "👨‍👩‍👧"
      ])
      .filter((name) => !name.includes("\0") && !/\p{Cs}/u.test(name))
    const words = names.flatMap((name) =>
      (["", "'", '"', "$'"] as const).map((quote) => Completion.write(name, quote, true))
    )
    const printed = ChildProcess.spawnSync("bash", ["--norc", "--noprofile"], {
      input: words.map((word) => `printf '%s\\0' x ${word}\n`).join(""),
      encoding: "utf8",
      env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", HOME: "/" }
    })
    assert.strictEqual(printed.stderr, "")
    const expected = names.flatMap((name) => Array(4).fill(["x", name])).flat()
    assert.deepStrictEqual(printed.stdout.split("\0").slice(0, -1), expected)
  })
})
