/** What a person sees: the editor on xterm.js. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Entered } from "../../src/terminal/internal/Entered.js"
import { type EditorOnXterm, using } from "../support/terminal/EditorOnXterm.js"

const text = (text: string) => Entered.Text({ text })

/** Enters a text, and returns it. */
const enter = async (editor: EditorOnXterm, keys: string): Promise<string> => {
  const entered = editor.read()
  editor.type(`${keys}\r`)
  const answer = await entered
  return answer._tag === "Text" ? answer.text : answer._tag
}

const [up, down, left, right, home] = ["\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x1b[H"]

describe("LineEditor", () => {
  it("edits with the keys of emacs", () =>
    using({}, async (editor) => {
      const cases: Readonly<Record<string, string>> = {
        "bc\x01a\x05d": "abcd",
        [`bc${home}a${right}${right}d${left}\x06e`]: "abcde",
        "ab\x02\x02x\x04": "xb",
        "one two three\x17\x17x": "one x",
        "one two\x15three": "three",
        "one two\x1bb\x0bx\x19": "one xtwo",
        "one two\x1b\x7f\x17\x19!": "one two!",
        "ab\x14": "ba",
        "one-two\x01\x1bd\x1bf!": "-two!",
        "a日本\x7f語": "a日語",
        "👨‍👩‍👧x\x02\x7f": "x",
        "abc\x15\x1f\x7f": "ab",
        "a\x1b\rb": "a\nb",
        "x\x1a\x00\x1b[15~y": "xy",
        "\x1b[200~a\nb\x1b[201~c": "a\nbc",
        "'a\rb'": "'a\nb'",
        "ab\x01\x1b[C\x1b[3~": "a"
      }
      for (const [keys, expected] of Object.entries(cases)) {
        assert.strictEqual(await enter(editor, keys), expected, JSON.stringify(keys))
      }
    }))

  it("shows the prompt with its styles, the text, and controls as marks", () =>
    using({ columns: 20, rows: 8 }, async (editor) => {
      const entered = editor.read("\x1b[32mcode\x1b[0m $ ")
      editor.type("abc\x1b[200~\t\x1b[201~\u202ex")
      await editor.shows(["code $ abc      \\u20", "2ex"], [1, 3])
      assert.strictEqual(editor.xterm.buffer.active.getLine(0)?.getCell(0)?.getFgColor(), 2)
      editor.type("\r")
      assert.deepStrictEqual(await entered, text("abc\t\u202ex"))
      await editor.shows(["code $ abc      \\u20", "2ex"], [2, 0])
    }))

  it.each([20, 80])("wraps wide characters and emoji where the terminal of %i columns does", (columns) =>
    using({ columns, rows: 10 }, async (editor) => {
      const line = ["日本語", "wörld", "👨‍👩‍👧", "e\u0301", "😀", "1234567"].join("").repeat(5)
      const wrapped = (shown: string) => {
        const rows = [""]
        let column = 0
        for (const { segment } of new Intl.Segmenter().segment(shown)) {
          const width = /[日本語]|😀|👨/u.test(segment) ? 2 : 1
          if (column + width > columns) {
            rows.push("")
            column = 0
          }
          rows[rows.length - 1] += segment
          column += width
        }
        return { rows, end: [rows.length - 1, column] as const }
      }
      const entered = editor.read("$ ")
      editor.type(line)
      const first = wrapped(`$ ${line}`)
      await editor.shows(first.rows, first.end)
      editor.type("\x01x ")
      await editor.shows(wrapped(`$ x ${line}`).rows, [0, 4])
      editor.type("\x1f\x05")
      await editor.shows(first.rows, first.end)
      editor.type("\r")
      assert.deepStrictEqual(await entered, text(line))
    })
  )

  it("leaves nothing behind when the terminal becomes narrower or wider, and nothing else goes", () =>
    using({ columns: 40, rows: 12 }, async (editor) => {
      assert.strictEqual(await enter(editor, "first"), "first")
      const entered = editor.read("$ ")
      const line = `${"a".repeat(50)}${"b".repeat(20)}`
      editor.type(line)
      for (const columns of [40, 35, 20, 27, 80, 72]) {
        editor.resize(columns)
        const rows = `$ ${line}`.match(new RegExp(`.{1,${columns}}`, "g")) ?? []
        // Behind a full row, the cursor is in the next one.
        const end = columns === 72 ? ([2, 0] as const) : ([rows.length, rows.at(-1)?.length ?? 0] as const)
        await editor.shows(["$ first", ...rows], end)
      }
      editor.resize(80)
      editor.type("\x03")
      assert.deepStrictEqual(await entered, Entered.Interrupted())
      await editor.shows(["$ first", `$ ${line}^C`], [2, 0])
    }))

  it("erases no row above its own where the terminal does not break the cursor's row, as xterm.js does not", () =>
    using({ columns: 40, rows: 30 }, async (editor) => {
      assert.strictEqual(await enter(editor, "first"), "first")
      const entered = editor.read("$ ")
      const line = "a".repeat(70)
      editor.type(line)
      for (const columns of [40, 20, 11, 7, 30, 80, 9]) {
        editor.resize(columns)
        const rows = `$ ${line}`.match(new RegExp(`.{1,${columns}}`, "g")) ?? []
        await editor.shows(["$ first", ...rows], columns === 9 ? [9, 0] : [rows.length, rows.at(-1)?.length ?? 0])
      }
      editor.type("\x03")
      assert.deepStrictEqual(await entered, Entered.Interrupted())
    }))

  it("leaves nothing of wide characters behind, which a narrower terminal may break a column earlier", () =>
    using({ columns: 42, rows: 30 }, async (editor) => {
      assert.strictEqual(await enter(editor, "first"), "first")
      const entered = editor.read("$ ")
      const line = "日本語".repeat(20)
      editor.type(`${line}\x1b\rx`)
      for (const columns of [42, 21, 42, 11, 42, 7]) {
        editor.resize(columns)
        const rows = `$ ${line}`.match(new RegExp(`^.{${2 + ((columns - 2) >> 1)}}|.{1,${columns >> 1}}`, "gu")) ?? []
        await editor.shows(["$ first", ...rows, "> x"], [rows.length + 1, 3])
      }
      editor.type("\x03")
      assert.deepStrictEqual(await entered, Entered.Interrupted())
    }))

  it("shows a part of a text that is longer than the terminal, around the cursor", () =>
    using({ columns: 20, rows: 4 }, async (editor) => {
      const lines = Array.from({ length: 9 }, (_, at) => `line ${at}`)
      const entered = editor.read("$ ")
      editor.type(`\x1b[200~${lines.join("\n")}\x1b[201~`)
      await editor.shows(["> line 5", "> line 6", "> line 7", "> line 8"], [3, 8])
      for (let at = 0; at < 8; at++) editor.type(up)
      await editor.shows(["$ line 0", "> line 1", "> line 2", "> line 3"], [0, 8])
      editor.type("\r")
      assert.deepStrictEqual(await entered, text(lines.join("\n")))
    }))

  it("goes through the history by what stands before the cursor, and back to what was typed", () =>
    using({}, async (editor) => {
      for (const line of ["git log", "ls", "git diff", "ls", " hidden"]) await enter(editor, line)
      assert.strictEqual(await enter(editor, up), "ls")
      assert.strictEqual(await enter(editor, `git${up}${up}`), "git log")
      assert.strictEqual(await enter(editor, `git${up}${up}${up}${down}${down}${down}!`), "git!")
      assert.strictEqual(await enter(editor, `a\x1b\rb${up}${up}${down}${down}c`), "ac\nb")
    }))

  it("searches in the history, again for an older one, and gives up with Ctrl-G", () =>
    using({}, async (editor) => {
      for (const line of ["echo one", "echo two", "ls one"]) await enter(editor, line)
      const entered = editor.read("$ ")
      editor.type("draft\x12one")
      await editor.shows(["$ echo one", "$ echo two", "$ ls one", "(history: one) ls one"], [3, 18])
      editor.type("\x12")
      await editor.shows(["$ echo one", "$ echo two", "$ ls one", "(history: one) echo one"])
      editor.type("zz")
      await editor.shows(["$ echo one", "$ echo two", "$ ls one", "(no such command: onezz) echo one"])
      editor.type("\x07")
      await editor.shows(["$ echo one", "$ echo two", "$ ls one", "$ draft"], [3, 7])
      editor.type("\x12tw", "\x05!", "\r")
      assert.deepStrictEqual(await entered, text("echo two!"))
    }))

  it("completes as far as it is sure, then lists what there is, and how much more", () => {
    const words = ["checkout", "cherry-pick", "日本\n語"].map((word) => ({ text: word, shown: word }))
    const many = Array.from({ length: 500 }, (_, at) => ({ text: `file${at}`, shown: `file${at}` }))
    const complete = (line: string, place: number) => {
      const start = line.lastIndexOf(" ", place - 1) + 1
      const typed = line.slice(start, place)
      return Effect.succeed({ start, words: [...words, ...many].filter((word) => word.text.startsWith(typed)) })
    }
    return using({ columns: 30, rows: 12, complete }, async (editor) => {
      const entered = editor.read("$ ")
      editor.type("git c\t rest\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D")
      await editor.shows(["$ git che rest"], [0, 9])
      editor.type("\t", "\t")
      const listed = ["$ git che rest", "checkout     cherry-pick"]
      await editor.shows([...listed, "$ git che rest"], [2, 9])
      editor.type("c\t")
      await editor.shows([...listed, "$ git checkout rest"], [2, 14])
      editor.type("\x15\x0b日\t")
      await editor.shows([...listed, "$ 日本", "> 語"], [3, 4])
      editor.type("\x03")
      assert.deepStrictEqual(await entered, Entered.Interrupted())
      const next = editor.read("$ ")
      editor.type("file\t", "\t")
      await editor.hasRow("… 473 more")
      assert.include(editor.rows, "file0    file9    file18")
      editor.type("\r")
      assert.deepStrictEqual(await next, text("file"))
    })
  })

  it("stops to look for completions at Ctrl-C, and loses no key meanwhile", () =>
    using({ complete: () => Effect.never }, async (editor) => {
      const entered = editor.read("$ ")
      await editor.shows(["$"])
      editor.type("ab\t", "cd", "\x03", "next\r")
      assert.deepStrictEqual(await entered, Entered.Interrupted())
      assert.deepStrictEqual(await editor.read("$ "), text("next"))
    }))

  it("keeps what is typed ahead for the next text, and ends with Ctrl-D or the input", () =>
    using({}, async (editor) => {
      editor.type("one\rtwo\rth", "ree\r", "\x04", "four")
      assert.deepStrictEqual(
        [await editor.read(), await editor.read(), await editor.read(), await editor.read()],
        [text("one"), text("two"), text("three"), Entered.Ended()]
      )
      const last = editor.read()
      editor.end()
      assert.deepStrictEqual(await last, Entered.Ended())
    }))

  it("writes only what is needed", () =>
    using({}, async (editor) => {
      const entered = editor.read("$ ")
      editor.type("abc")
      await editor.shows(["$ abc"])
      const from = editor.written.length
      editor.type("d")
      await editor.shows(["$ abcd"])
      editor.type("\x02")
      await editor.shows(["$ abcd"], [0, 5])
      editor.type("x")
      await editor.shows(["$ abcxd"], [0, 6])
      assert.deepStrictEqual(editor.written.slice(from), ["d", "\b", "xd\b"])
      editor.type("\r")
      await entered
    }))

  it("clears the terminal and keeps the text", () =>
    using({}, async (editor) => {
      await enter(editor, "ls")
      const entered = editor.read("$ ")
      editor.type("ab\x0c")
      await editor.shows(["$ ab"], [0, 4])
      editor.type("\r")
      assert.deepStrictEqual(await entered, text("ab"))
    }))

  it("marks pasted text only while it reads, and leaves a whole line when it is interrupted", () =>
    using({}, async (editor) => {
      void editor.read("$ ")
      editor.type("ab\x02")
      await editor.shows(["$ ab"], [0, 3])
      assert.isTrue(editor.xterm.modes.bracketedPasteMode)
      await editor.interrupt()
      await editor.shows(["$ ab"], [1, 0])
      assert.isFalse(editor.xterm.modes.bracketedPasteMode)
    }))

  it("shows the same on a slow terminal", () =>
    using({ isSlow: true, columns: 20 }, async (editor) => {
      const entered = editor.read("$ ")
      for (const character of "a line that is longer than the terminal") editor.type(character)
      editor.type("\x01x", "\x05", "y")
      await editor.shows(["$ xa line that is lo", "nger than the termin", "aly"], [2, 3])
      editor.type("\r")
      assert.deepStrictEqual(await entered, text("xa line that is longer than the terminaly"))
      await editor.shows(["$ xa line that is lo", "nger than the termin", "aly"], [3, 0])
    }))
})
