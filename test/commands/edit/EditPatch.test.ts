import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import * as FileCall from "../../support/commands/FileCall.js"

const patch = (files: MemoryFiles.MemoryFiles, text: string) =>
  FileCall.run(Edit.make, ["--patch"], { files, stdin: [Buffer.from(text)] })

const refused = (files: MemoryFiles.MemoryFiles, text: string) =>
  Effect.map(FileCall.failed(Edit.make, ["--patch"], { files, stdin: [Buffer.from(text)] }), ({ message }) => message)

const envelope = (...lines: ReadonlyArray<string>) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n")

const code = "class A:\n  def f():\n    return 1\n\nclass B:\n  def f():\n    return 1\n"

/** What one file of this content is after a patch. */
const result = (content: string, text: string) =>
  Effect.gen(function* () {
    const files = MemoryFiles.make({ f: content })
    yield* patch(files, text)
    return files.get("f")?.toString("latin1")
  })

describe("edit --patch", () => {
  it.effect("applies a patch between Begin Patch and End Patch, and names what it did", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ "a.txt": "one\ntwo\nthree\n", "old.txt": "x\n", "gone.txt": "y" })
      const text = envelope(
        "*** Update File: a.txt",
        "@@",
        " one",
        "-two",
        "+2",
        "*** Update File: old.txt",
        "*** Move to: new/name.txt",
        "@@",
        "-x",
        "+z",
        "*** Add File: ./n.txt",
        "+first",
        "+",
        "+third",
        "*** Delete File: gone.txt"
      )
      const { stdout } = yield* patch(files, text)
      assert.strictEqual(
        stdout,
        "Updated a.txt (+1 -1)\nMoved old.txt to new/name.txt (+1 -1)\nAdded n.txt (3 lines)\nDeleted gone.txt\n"
      )
      const now = ["a.txt", "old.txt", "new/name.txt", "n.txt", "gone.txt"].map((name) => files.get(name)?.toString())
      assert.deepStrictEqual(now, ["one\n2\nthree\n", undefined, "z\n", "first\n\nthird\n", undefined])
    })
  )

  it.effect("keeps a file in its encoding, and refuses what that lacks", () =>
    Effect.gen(function* () {
      const update = (old: string, next: string) => envelope("*** Update File: f", "@@", `-${old}`, `+${next}`)
      const said = (content: string, text: string, ...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const files = MemoryFiles.make({ f: Buffer.from(content, "latin1") })
          const options = { files, stdin: [Buffer.from(text)] }
          const outcome = yield* Effect.either(FileCall.run(Edit.make, ["--patch", ...args], options))
          const told = outcome._tag === "Left" ? outcome.left.message : outcome.right.stdout
          return [told.trimEnd(), files.get("f")?.toString("latin1")]
        })
      assert.deepStrictEqual(yield* said("\xff\xfea\0\n\0", update("a", "é")), [
        "Updated f (UTF-16LE) (+1 -1)",
        "\xff\xfe\xe9\0\n\0"
      ])
      const gbk = "\xd7\xa2\xca\xcd\xce\xc4\xbc\xfe\n80\n"
      const unnamed = "edit: f: no file was changed: It is not UTF-8: name its encoding, as --encoding latin1 or"
      for (const text of [update("注释文件", "注"), update("80", "端")]) {
        const [told, content] = yield* said(gbk, text)
        assert.include(told, unnamed)
        assert.strictEqual(content, gbk)
      }
      assert.deepStrictEqual(yield* said(gbk, update("注释文件", "注"), "--encoding", "gbk"), [
        "Updated f (GBK) (+1 -1)",
        "\xd7\xa2\n80\n"
      ])
      assert.deepStrictEqual(yield* said(`# coding: gbk\n${gbk}`, update("80", "😀")), [
        "edit: f: no file was changed: GBK has no 😀",
        `# coding: gbk\n${gbk}`
      ])
      assert.strictEqual((yield* said(gbk, update("80", "90")))[1], gbk.replace("80", "90"))
      assert.strictEqual((yield* said("one\rtwo\r", update("two", "2")))[1], "one\r2\r")
    })
  )

  it.effect("finds a hunk by its @@ lines where the context is there more than once", () =>
    Effect.gen(function* () {
      const hunk = ["-    return 1", "+    return 2"]
      assert.strictEqual(
        yield* result(code, envelope("*** Update File: f", "@@ class B:", ...hunk)),
        code.replace(/1\n$/, "2\n")
      )
      assert.strictEqual(
        yield* result(code, envelope("*** Update File: f", "@@ class A:", "@@ def f():", ...hunk)),
        code.replace("1", "2")
      )
      assert.strictEqual(
        yield* result(code, envelope("*** Update File: f", "@@ class A:", "+  x = 1")),
        code.replace("A:\n", "A:\n  x = 1\n")
      )
      assert.strictEqual(
        yield* result(code, envelope("*** Update File: f", "@@", ...hunk, "*** End of File")),
        code.replace(/1\n$/, "2\n")
      )
      assert.strictEqual(yield* result("a", envelope("*** Update File: f", "@@", "+b", "+c")), "a\nb\nc")
      const files = MemoryFiles.make({ f: code })
      const how = { "@@": "more lines of context tell which", "@@ def f():": "its @@ lines don't tell which" }
      for (const [line, reason] of Object.entries(how)) {
        assert.strictEqual(
          yield* refused(files, envelope("*** Update File: f", line, ...hunk)),
          `edit: f: no file was changed: the hunk (line 3 of the patch) does not fit: it matches at lines 3, 7: ${reason}`
        )
      }
    })
  )

  it.effect("keeps the line ends of the file", () =>
    Effect.gen(function* () {
      const text = envelope("*** Update File: f", "@@", " a", "-b", "+x", "+y")
      assert.strictEqual(yield* result("a\r\nb\r\nc\r\n", text), "a\r\nx\r\ny\r\nc\r\n")
      assert.strictEqual(yield* result("a\nb", text), "a\nx\ny")
      assert.strictEqual(yield* result("a\nb\n", text.replaceAll("\n", "\r\n")), "a\nx\ny\n")
      const unified = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+x\n"
      assert.strictEqual(yield* result("a\r\nb\r\n", unified), "a\r\nx\r\n")
      assert.strictEqual(yield* result("0\na\nb", unified), "0\na\nx")
    })
  )

  it.effect("puts a hunk where its lines are, whatever line it names, if they are there once", () =>
    Effect.gen(function* () {
      const unified = "--- f\n+++ f\n@@ -1,3 +1,3 @@ def x\n a\n-b\n+x\n c\n"
      assert.strictEqual(yield* result("0\n0\na\nb\nc\n", unified), "0\n0\na\nx\nc\n")
      assert.include(
        yield* refused(MemoryFiles.make({ f: "0\na\nb\nc\na\nb\nc\n" }), unified),
        "it matches at lines 2, 5: more lines of context tell which"
      )
    })
  )

  it.effect("names the file, the hunk, the nearest place and what differs there, and changes nothing", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ a: "1\n", f: "import x\n\ndef f(one):\n\treturn one\n\nprint(f(1))\n" })
      const said = (...hunk: ReadonlyArray<string>) =>
        refused(files, envelope("*** Update File: a", "@@", "-1", "+2", "*** Update File: f", "@@", ...hunk))
      const head = "edit: f: no file was changed: the hunk (line 7 of the patch) does not fit: "
      assert.strictEqual(
        yield* said(" def f(one):", "-    return one", "+    return 2"),
        `${head}Lines 3-4 match but for white space or the case of letters:\n     3\tdef f(one):\n     4\t\treturn one`
      )
      assert.strictEqual(
        yield* said(" def f(one):", "-\treturn two", "+x"),
        `${head}The nearest lines:\n     3\tdef f(one):\nAround it, this differs first:\n     4\t\treturn one\nwhere the old text has:\n      \t\treturn two`
      )
      assert.strictEqual(
        yield* said(" print(f(1))", "-end", "+x"),
        `${head}The nearest lines:\n     6\tprint(f(1))\nThe file ends\nwhere the old text has:\n      \tend`
      )
      assert.strictEqual(yield* said("-nothing like it", "+x"), `${head}No line of the file is like it.`)
      const second = envelope("*** Update File: f", "@@", "-print(f(1))", "+x", "@@", "-import x", "+y")
      assert.strictEqual(
        yield* refused(files, second),
        "edit: f: no file was changed: hunk 2 of 2 (line 6 of the patch) does not fit: " +
          "it matches only line 1, above the hunk before it: hunks go from the top down"
      )
      assert.strictEqual(files.writes(), 0)
    })
  )

  it.effect("finds the hunks of a diff by their lines where it has no numbers, or counts wrongly", () =>
    Effect.gen(function* () {
      const head = "--- a/f\n+++ b/f\n"
      const hunk = " class B:\n   def f():\n-    return 1\n+    return 2\n"
      const other = " class A:\n+  x = 1\n   def f():\n"
      const second = code.replace(/1\n$/, "2\n")
      const both = second.replace("A:\n", "A:\n  x = 1\n")
      const headers = [
        "@@",
        "@@ ... @@",
        "@@ class B:",
        "@@ -1,2 +1,2 @@",
        "@@ -5,9 +5,9 @@",
        "@@ -5,3 +5,4 @@",
        "@@ -40,1 +40,1"
      ]
      for (const header of headers) {
        for (const begin of [head, "diff --git a/f b/f\n", `diff --git a/f b/f\n${head}`]) {
          assert.strictEqual(yield* result(code, `${begin}${header}\n${hunk}`), second, header)
          assert.strictEqual(yield* result(code, `${begin}@@\n${other}${header}\n${hunk}\n`), both, header)
        }
      }
      assert.strictEqual(yield* result(code, `${head}@@ class B:\n-    return 1\n+    return 2\n`), second)
      assert.strictEqual(yield* result(code, `${head}@@ class B:\n+  x = 1\n`), code.replace("B:\n", "B:\n  x = 1\n"))
      const files = MemoryFiles.make({ f: code, g: "a\n-- x\n" })
      for (const header of ["@@", "@@ -3,9 +3,9 @@"]) {
        assert.strictEqual(
          yield* refused(files, `${head}${header}\n-    return 1\n+    return 2\n`),
          "edit: f: no file was changed: the hunk (line 3 of the patch) does not fit: it matches at lines 3, 7: more lines of context tell which"
        )
      }
      // What looks like a file's header is one above a hunk only.
      yield* patch(files, `--- g\n+++ g\n@@\n a\n--- x\n+++ y\n${head}@@\n${hunk}`)
      assert.deepStrictEqual([`${files.get("g")}`, `${files.get("f")}`], ["a\n++ y\n", second])
      yield* patch(
        files,
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1,9 @@\n+one\n+two\ndiff --git a/m b/m\nnew file mode 100644\n@@\n+m\n"
      )
      assert.deepStrictEqual([`${files.get("n")}`, `${files.get("m")}`], ["one\ntwo\n", "m\n"])
    })
  )

  it.effect("applies a patch without Begin Patch, with and without End Patch", () =>
    Effect.gen(function* () {
      const text = "*** Update File: f\n@@\n-a\n+b\n"
      assert.strictEqual(yield* result("a\n", text), "b\n")
      assert.strictEqual(yield* result("a\n", `\n${text}*** End Patch\n`), "b\n")
    })
  )

  it.effect("refuses what is no patch, and names the line", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "a\nb\n" })
      const none = "standard input holds no change: neither a unified diff nor *** Begin Patch"
      const head = "--- a/f\n+++ b/f\n"
      const kinds = "each line of a hunk begins with a blank, - or +"
      const cases: Readonly<Record<string, string>> = {
        "": none,
        "\0\0": none,
        "hello\n": none,
        [`${head}@@ -1 +1 @@\n-a\nx\n`]: `line 5 of the patch: "x": ${kinds}, or the header on line 3 counts it wrongly`,
        [`${head}@@\n-a\nx\n`]: `line 5 of the patch: "x": ${kinds}`,
        [`${head}@@\n+b\n`]:
          "line 3 of the patch: a hunk that only adds lines needs a line of the file above or below them, to tell where they belong",
        [`${head}@@ -2,0 +3 @@\n+b\n+c\n`]:
          "line 3 of the patch: a hunk that only adds lines needs a line of the file above or below them, to tell where they belong",
        [`${head}@@-1 +1@@\n-a\n+b\n`]: 'line 3 of the patch: "@@-1 +1@@" is no header of a hunk (@@ -1,3 +1,4 @@)',
        [`${head}@@ -1,99999999999999999999 +1,3 @@\n a\n`]:
          "line 3 of the patch: a hunk that takes no line away and adds none",
        "@@ -1 +1 @@\n-a\n+b\n":
          "line 1 of the patch: a hunk without a file: before it go the lines --- <file> and +++ <file>",
        "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n":
          "line 1 of the patch: neither the old nor the new file has a name",
        "Binary files a/f and b/f differ\n": 'line 1 of the patch: a binary file: "Binary files a/f and b/f differ"',
        "diff --git a/i.png b/i.png\nindex 1..2 100644\nGIT binary patch\nliteral 1\n":
          'line 3 of the patch: a binary file: "i.png"',
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n":
          "line 3 of the patch: mode 120000: only regular files can be patched, no links and no submodules",
        "diff --cc f\n@@@ -1 -1 +1 @@@\n": "line 1 of the patch: the diff of a merge, which has several old files",
        "*** Begin Patch\n*** Update File: f\n@@\n-a\n": "line 5 of the patch: the patch ends without *** End Patch",
        [envelope("*** Update File: f", "@@", "x")]:
          'line 4 of the patch: "x": each line of a hunk begins with a blank, - or +',
        [envelope("*** Add File: g", "x")]: 'line 3 of the patch: "x": each line of a new file begins with +',
        [envelope("*** Update File: f", "@@", " a")]:
          "line 3 of the patch: a hunk that takes no line away and adds none",
        [envelope("*** Rename File: f")]:
          'line 2 of the patch: "*** Rename File: f" is where a file must be named (*** Update File: <file>)'
      }
      for (const [text, message] of Object.entries(cases)) {
        assert.strictEqual(yield* refused(files, text), `edit: no file was changed: ${message}`, text)
      }
      assert.strictEqual(files.writes(), 0)
    })
  )

  it.effect("refuses files that do not lie below the current directory", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "a\n", "src/f": "a\n" })
      for (const name of ["../f", "/etc/passwd", "src/../f", "/work/../etc/x", "", "d/", "/workshop/f", "a\0b"]) {
        const quoted = JSON.stringify(name).replaceAll('"', "'")
        for (const text of [
          `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-a\n+b\n`,
          envelope(`*** Delete File: x/${name}`)
        ]) {
          if (!text.startsWith("---") && !/\.\.|\0|\/$/.test(name)) continue
          assert.match(yield* refused(files, text), /is no file below the current directory|has a name/, quoted)
        }
      }
      assert.strictEqual(files.writes(), 0)
      // An absolute name below it is meant.
      yield* patch(files, envelope("*** Update File: /work/src/f", "@@", "-a", "+b"))
      assert.strictEqual(files.get("src/f")?.toString(), "b\n")
    })
  )

  it.effect("refuses to make a file that is there, and to change one that is not", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "a\nb\n", g: "x" })
      const cases: Readonly<Record<string, string>> = {
        [envelope("*** Add File: f", "+x")]: "f: no file was changed: it exists already: update it instead",
        [envelope("*** Update File: f", "*** Move to: g")]: "g: no file was changed: it exists already",
        [envelope("*** Update File: h", "@@", "-a", "+b")]: "h: no file was changed: No such file or directory",
        [envelope("*** Delete File: h")]: "h: no file was changed: No such file or directory",
        "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n": "f: no file was changed: it holds more than the patch deletes"
      }
      for (const [text, message] of Object.entries(cases))
        assert.strictEqual(yield* refused(files, text), `edit: ${message}`)
      // What the patch itself takes away makes room.
      yield* patch(
        files,
        envelope("*** Delete File: f", "*** Add File: f", "+new", "*** Update File: g", "*** Move to: h")
      )
      assert.deepStrictEqual([files.get("f"), files.get("g"), files.get("h")].map(String), ["new\n", "undefined", "x"])
    })
  )

  it.effect("renames in a row, and takes the modes of git", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ a: "1\n", b: "2\n" })
      const { stdout } = yield* patch(
        files,
        "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n" +
          "diff --git a/b b/c\nsimilarity index 100%\nrename from b\nrename to c\n" +
          "diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+x\n-- \n2.39.5\n\n"
      )
      assert.strictEqual(stdout, "Moved a to b\nMoved b to c\nAdded run (1 line)\n")
      assert.deepStrictEqual([files.get("a"), files.get("b"), files.get("c")].map(String), ["undefined", "1\n", "2\n"])
      assert.strictEqual(yield* files.mode("run"), "755")
      yield* patch(files, "diff --git a/run b/run\nold mode 100755\nnew mode 100644\n")
      assert.strictEqual(yield* files.mode("run"), "644")
    })
  )

  it.effect("reports all hunks that don't fit, what is applied already, and where the names fit", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ a: "1\n2\n3\n", b: "x\n", "c/d.ts": "1\n" })
      const hunks = ["@@", "-one", "+1", " 2", "@@", "-0", "+2", " 3", "@@", "-3", "+4"]
      const text = envelope("*** Update File: a", ...hunks, "*** Update File: b", "-z", "+y", "*** Delete File: n")
      assert.strictEqual(
        yield* refused(files, text),
        [
          "edit: a: no file was changed: hunk 1 of 3 (line 3 of the patch) is applied already: its new text is at line 1",
          "a: hunk 2 of 3 (line 7 of the patch) is applied already: its new text is at line 2",
          "b: the hunk (line 15 of the patch) does not fit: No line of the file is like it.",
          "n: No such file or directory"
        ].join("\n")
      )
      const many = Array.from({ length: 8 }, (_, index) => `*** Delete File: n${index}`)
      assert.strictEqual(
        (yield* refused(files, envelope(...many))).split("\n").slice(4).join("\n"),
        "n4: No such file or directory\n… and 3 more that do not fit"
      )
      assert.strictEqual(
        yield* refused(files, envelope("*** Update File: work/c/d.ts", "-1", "+2")),
        "edit: work/c/d.ts: no file was changed: No such file or directory, but c/d.ts is here: the patch names files from a directory above: cd .. && edit --patch"
      )
      assert.strictEqual(files.get("a")?.toString(), "1\n2\n3\n")
    })
  )

  it.effect("takes a patch as its only word, which is no name of a file", () =>
    Effect.gen(function* () {
      for (const word of [envelope("*** Update File: f", "-a", "+b").trim(), "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b"]) {
        const files = MemoryFiles.make({ f: "a\n" })
        yield* FileCall.run(Edit.make, ["--patch", word], { files })
        assert.strictEqual(files.get("f")?.toString(), "b\n", word)
      }
    })
  )

  it.effect("calls applied already only what its line or its context makes sure", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ a: "add:\n  a + b\n}\nsub:\n  a - b\n}\n" })
      const none = "does not fit"
      const at = (line: number) => `is applied already: its new text is at line ${line}`
      for (const [hunk, said] of [
        [["@@ -5,1 +5,1 @@", "-  a % b", "+  a + b"], none],
        [["@@", "-  a % b", "+  a + b"], none],
        [["@@ -2,1 +2,1 @@", "-  a % b", "+  a + b"], at(2)],
        [["@@ -5,2 +5,2 @@", " add:", "-  a % b", "+  a + b"], at(1)],
        [["@@", " sub:", "-  a % b", "+  a - b", " }"], at(4)],
        [["@@ -3,1 +3,1 @@", "-)", "+}"], none]
      ] as const) {
        const message = yield* refused(files, ["--- a", "+++ a", ...hunk, ""].join("\n"))
        assert.include(message, said.startsWith("is") ? said : "does not fit", hunk.join("|"))
        if (!said.startsWith("is")) assert.notInclude(message, "applied", hunk.join("|"))
      }
    })
  )

  it.effect("is told how to take a patch from a file", () =>
    Effect.gen(function* () {
      const { message } = yield* FileCall.failed(Edit.make, ["--patch", "my fix.diff"], {})
      assert.strictEqual(
        message.split("\n").slice(0, 3).join("\n"),
        "edit: the patch, which names its files, is standard input, or the one argument.\nUsage: edit <file> <old> <new> [--all] | --patch < <patch>\n  edit --patch < 'my fix.diff'"
      )
    })
  )

  it.effect("needs standard input, and nothing else", () =>
    Effect.gen(function* () {
      const usage = "edit: the patch, which names its files, is standard input, or the one argument."
      for (const args of [["--patch"], ["-p", "f", "g"], ["--patch", "--all"]]) {
        const stdin = args.length === 1 ? undefined : ["x"]
        const { _tag, message } = yield* FileCall.failed(Edit.make, args, stdin === undefined ? {} : { stdin })
        assert.deepStrictEqual([_tag, message.split("\n")[0]], ["InvalidUsage", usage])
      }
    })
  )
})

describe("apply_patch", () => {
  const text = envelope("*** Update File: f", "@@", "-a", "+b")
  const applied = (args: ReadonlyArray<string>, stdin?: string) =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "a\n" })
      const input = stdin === undefined ? {} : { stdin: [Buffer.from(stdin)] }
      const { stdout } = yield* FileCall.run(Edit.makeApplyPatch, args, { files, ...input })
      return [stdout, files.get("f")?.toString()]
    })

  it.effect("applies a patch on standard input, in its argument, and in JSON", () =>
    Effect.gen(function* () {
      const done = ["Updated f (+1 -1)\n", "b\n"]
      assert.deepStrictEqual(yield* applied([], text), done)
      assert.deepStrictEqual(yield* applied([text]), done)
      for (const key of ["input", "patch"])
        assert.deepStrictEqual(yield* applied([JSON.stringify({ [key]: text })]), done)
    })
  )

  it.effect("shows the call that is right for any other", () =>
    Effect.gen(function* () {
      for (const args of [[text, "a"], ["{}"], []]) {
        const error = yield* FileCall.failed(Edit.makeApplyPatch, args, { files: MemoryFiles.make({}) })
        assert.match(error.message, /standard input[\s\S]*\*\*\* Update File: a\.txt/)
      }
    })
  )
})
