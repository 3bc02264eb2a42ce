import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import * as FileCall from "../../support/commands/FileCall.js"

type Tree = Readonly<Record<string, string>>

const missing = ["diff", "patch", "git"].filter(
  (program) => ChildProcess.spawnSync(program, ["--version"]).status !== 0
)

let base = ""
beforeAll(() => {
  base = Fs.mkdtempSync(Path.join(Os.tmpdir(), "edit-diffs-"))
})
afterAll(() => Fs.rmSync(base, { recursive: true, force: true }))

/** Runs a program, and returns its status and what it wrote, as Latin-1. */
const program = (cwd: string, name: string, args: ReadonlyArray<string>, input = "") => {
  const env = { PATH: process.env["PATH"] ?? "", HOME: base, GIT_CONFIG_NOSYSTEM: "1", GIT_CEILING_DIRECTORIES: base }
  const { status, stdout } = ChildProcess.spawnSync(name, args, { cwd, input: Buffer.from(input, "latin1"), env })
  return { status, stdout: stdout.toString("latin1") }
}

/** Fills a directory with these files, and no others. */
const fill = (directory: string, tree: Tree): string => {
  Fs.rmSync(directory, { recursive: true, force: true })
  Fs.mkdirSync(directory, { recursive: true })
  for (const [name, content] of Object.entries(tree)) {
    Fs.mkdirSync(Path.dirname(`${directory}/${name}`), { recursive: true })
    Fs.writeFileSync(`${directory}/${name}`, content, "latin1")
  }
  return directory
}

/** Reads a directory back. */
const treeOf = (directory: string): Tree =>
  Object.fromEntries(
    Fs.readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => Fs.statSync(`${directory}/${name}`).isFile() && !/\.(orig|rej)$/.test(name))
      .map((name) => [name, Fs.readFileSync(`${directory}/${name}`, "latin1")])
  )

/** Applies a patch by `edit --patch`; undefined where it refuses. */
const edited = async (tree: Tree, patch: string): Promise<Tree | string> => {
  const bytes = Object.entries(tree).map(([name, content]) => [name, Buffer.from(content, "latin1")] as const)
  const files = MemoryFiles.make(Object.fromEntries(bytes))
  const names = new Set(Object.keys(tree))
  for (const name of allNames) names.add(name)
  const ran = FileCall.run(Edit.make, ["--patch"], { files, stdin: [Buffer.from(patch, "latin1")] })
  const refusal = await Effect.runPromise(
    Effect.match(ran, { onFailure: (error) => error.message, onSuccess: () => "" })
  )
  const after = [...names].flatMap((name) => {
    const content = files.get(name)
    return content === undefined ? [] : [[name, content.toString("latin1")] as const]
  })
  if (refusal === "") return Object.fromEntries(after)
  assert.deepStrictEqual(Object.fromEntries(after), tree, "what is refused changes nothing")
  return refusal
}

const allNames = ["x", "d/y z", "d/é.txt", 'q"t\\.txt', "n/e/w"]
const anyLine = FastCheck.constantFrom(
  "",
  "a",
  "b",
  "c",
  "}",
  "-- x",
  "++ y",
  "\\ z",
  "@@ -1 +1 @@",
  "\xff\xe9",
  "long line"
)
const anyLines = FastCheck.array(anyLine, { maxLength: 30 })
const anyEnd = FastCheck.constantFrom("\n", "\n", "\r\n")

/** A change of lines: a few spots where lines are taken away and others put in. */
const anyEdits = FastCheck.array(
  FastCheck.record({
    at: FastCheck.nat(30),
    removed: FastCheck.nat(3),
    added: FastCheck.array(anyLine, { maxLength: 3 })
  }),
  { minLength: 1, maxLength: 4 }
)

const changed = (
  lines: ReadonlyArray<string>,
  edits: ReadonlyArray<{ at: number; removed: number; added: Array<string> }>
) =>
  edits.reduce((all, { added, at, removed }) => all.toSpliced(Math.min(at, all.length), removed, ...added), [...lines])

const toText = (lines: ReadonlyArray<string>, end: string, isEnded: boolean): string =>
  lines.length === 0 ? "" : lines.join(end) + (isEnded || lines.at(-1) === "" ? end : "")

/** A file before and after: changed, made, deleted, or as it was. */
const anyFile = FastCheck.record({
  lines: anyLines,
  edits: anyEdits,
  end: anyEnd,
  ended: FastCheck.tuple(FastCheck.boolean(), FastCheck.boolean()),
  fate: FastCheck.constantFrom("changed", "changed", "changed", "made", "deleted", "kept", "unended")
}).map(({ edits, end, ended, fate, lines }) => {
  const before = toText(lines, end, ended[0])
  const after = toText(changed(lines, edits), end, ended[1])
  if (fate === "made") return { after }
  if (fate === "deleted") return { before }
  if (fate === "kept") return { before, after: before }
  return { before, after }
})

const anyTrees = FastCheck.tuple(...allNames.map(() => anyFile)).map((files) => {
  const side = (which: "before" | "after"): Tree =>
    Object.fromEntries(
      files.flatMap((file: { readonly before?: string; readonly after?: string }, index) =>
        file[which] === undefined ? [] : [[allNames[index] as string, file[which] as string]]
      )
    )
  return { before: side("before"), after: side("after") }
})

const anyContext = FastCheck.constantFrom(0, 1, 3)

describe.skipIf(missing.length > 0)(
  `edit --patch, beside patch and git apply${missing.length > 0 ? ` (no ${missing})` : ""}`,
  () => {
    it(
      "does what patch does with what diff -ruN writes",
      () =>
        FastCheck.assert(
          FastCheck.asyncProperty(anyTrees, anyContext, async ({ after, before }, context) => {
            fill(`${base}/a`, before)
            fill(`${base}/b`, after)
            const { stdout: patch } = program(base, "diff", ["-ruN", `-U${context}`, "a", "b"])
            FastCheck.pre(patch !== "")
            const { status } = program(`${base}/a`, "patch", ["-p1", "-s", "--binary", "-F0"], patch)
            assert.strictEqual(status, 0, patch)
            assert.deepStrictEqual(await edited(before, patch), treeOf(`${base}/a`), patch)
          }),
          { numRuns: 12 }
        ),
      120_000
    )

    it("does what git apply does with what git diff writes", () => {
      const repository = fill(`${base}/r`, {})
      program(repository, "git", ["init", "-q"])
      const tree = (files: Tree): string => {
        for (const name of Fs.readdirSync(repository)) {
          if (name !== ".git") Fs.rmSync(`${repository}/${name}`, { recursive: true })
        }
        for (const [name, content] of Object.entries(files)) {
          Fs.mkdirSync(Path.dirname(`${repository}/${name}`), { recursive: true })
          Fs.writeFileSync(`${repository}/${name}`, content, "latin1")
        }
        program(repository, "git", ["add", "-A"])
        return program(repository, "git", ["write-tree"]).stdout.trim()
      }
      return FastCheck.assert(
        FastCheck.asyncProperty(
          anyTrees,
          anyContext,
          FastCheck.boolean(),
          FastCheck.boolean(),
          async ({ after, before }, context, isPrefixed, isMoved) => {
            // A file that moves, as git finds it.
            const moved = isMoved && before["x"] !== undefined && after["n/e/w"] === undefined
            const { x: _, ...rest } = after
            const then = moved ? { ...rest, "n/e/w": `${before["x"]}` } : after
            const [from, to] = [tree(before), tree(then)]
            const args = ["diff", "-M", `-U${context}`, ...(isPrefixed ? [] : ["--no-prefix"]), from, to]
            const { stdout: patch } = program(repository, "git", args)
            FastCheck.pre(patch !== "")
            fill(`${base}/g`, before)
            const apply = ["apply", "--unidiff-zero", "--whitespace=nowarn", isPrefixed ? "-p1" : "-p0"]
            assert.strictEqual(program(`${base}/g`, "git", apply, patch).status, 0, patch)
            // Without context, git itself may take away another line of the same text, whose line end is another.
            if (context > 0) assert.deepStrictEqual(treeOf(`${base}/g`), then, patch)
            assert.deepStrictEqual(await edited(before, patch), then, patch)
          }
        ),
        { numRuns: 12 }
      )
    }, 120_000)

    it("puts hunks where patch puts them in a file that has moved on, or refuses them", async () => {
      let both = 0
      await FastCheck.assert(
        FastCheck.asyncProperty(anyLines, anyEdits, anyEdits, async (lines, edits, others) => {
          const [before, after] = [toText(lines, "\n", true), toText(changed(lines, edits), "\n", true)]
          fill(`${base}/a`, { x: before })
          fill(`${base}/b`, { x: after })
          const { stdout: patch } = program(base, "diff", ["-u", "a/x", "b/x"])
          FastCheck.pre(patch !== "")
          const now = toText(changed(lines, others), "\n", true)
          fill(`${base}/a`, { x: now })
          const { status } = program(`${base}/a`, "patch", ["-p1", "-s", "-F0", "-f"], patch)
          const result = await edited({ x: now }, patch)
          if (status !== 0 || typeof result === "string") return
          both++
          assert.deepStrictEqual(result, treeOf(`${base}/a`), patch)
        }),
        { numRuns: 40 }
      )
      assert.isAbove(both, 2)
    }, 120_000)

    it("does what git apply --recount does where a hunk counts wrongly, and the same without numbers, or refuses", async () => {
      let [counted, bare] = [0, 0]
      const anyOff = FastCheck.tuple(FastCheck.integer({ min: -3, max: 3 }), FastCheck.integer({ min: -3, max: 3 }))
      await FastCheck.assert(
        FastCheck.asyncProperty(anyLines, anyEdits, anyOff, async (lines, edits, [old, added]) => {
          const [before, after] = [toText(lines, "\n", true), toText(changed(lines, edits), "\n", true)]
          fill(`${base}/a`, { x: before })
          fill(`${base}/b`, { x: after })
          const { stdout: patch } = program(base, "diff", ["-u", "a/x", "b/x"])
          FastCheck.pre(patch !== "")
          const off = (count = "1", by: number) => Math.max(0, Number(count) + by)
          const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/gm
          const wrong = patch.replace(
            header,
            (_, at, count, at2, count2) => `@@ -${at},${off(count, old)} +${at2},${off(count2, added)} @@`
          )
          const found = await edited({ x: before }, wrong)
          const { status } = program(`${base}/a`, "git", ["apply", "--recount", "--whitespace=nowarn"], wrong)
          if (status === 0 && typeof found !== "string") {
            counted++
            assert.deepStrictEqual(found, treeOf(`${base}/a`), wrong)
          }
          // Without numbers, this is the header of another file.
          if (/\n--- x\n\+\+\+ y\n@@/.test(patch)) return
          const unnumbered = await edited({ x: before }, patch.replace(header, "@@"))
          if (typeof unnumbered === "string") return
          bare++
          assert.deepStrictEqual(unnumbered, { x: after }, patch)
        }),
        { numRuns: 40 }
      )
      assert.isAbove(Math.min(counted, bare), 2)
    }, 120_000)
  }
)
