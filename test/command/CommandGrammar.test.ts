import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as CommandGrammar from "../../src/command/CommandGrammar.js"
import type { CommandCall } from "../../src/command/CommandHandler.js"
import * as Parameter from "../../src/command/Parameter.js"
import * as Advice from "../../src/domain/Advice.js"
import * as CommandError from "../../src/domain/CommandError.js"
import * as CommandResult from "../../src/domain/CommandResult.js"

const usage = "edit <file> <old> [<new>] [--all] [--offset N] [--limit N] [--mode slow|fast]"

const grammar = CommandGrammar.make({
  name: "edit",
  summary: "Changes a file.",
  usage,
  help: "edit - change a file\n",
  config: {
    all: Parameter.flag("all"),
    offset: Parameter.count("offset").pipe(Parameter.withDefault(0)),
    limit: Parameter.count("limit", 1).pipe(Parameter.withAlias("n"), Parameter.optional),
    mode: Parameter.choice("mode", ["slow", "fast"]).pipe(Parameter.withDefault("slow")),
    file: Parameter.operand("file"),
    old: Parameter.operand("old"),
    replacement: Parameter.operand("new").pipe(Parameter.withDefault("default"))
  }
})

/** The parameters of words that fit; what is said of the others, without the two lines that are always the same. */
const parsed = (...args: ReadonlyArray<string>) =>
  Effect.map(Effect.either(grammar.parse(args)), (either) =>
    Either.isRight(either)
      ? either.right
      : either.left.message.replace(`\nUsage: ${usage}\nBash(command="edit --help") shows more.`, "")
  )

const defaults = {
  all: false,
  offset: 0,
  limit: undefined as number | undefined,
  mode: "slow" as "fast" | "slow",
  replacement: "default"
}
const flat = (params: Effect.Effect.Success<ReturnType<typeof grammar.parse>>) => ({
  ...params,
  limit: Option.getOrUndefined(params.limit)
})
const read = (...args: ReadonlyArray<string>) => Effect.map(grammar.parse(args), flat)

describe("CommandGrammar", () => {
  it.effect("reads options before, between and behind the operands", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read("f", "a"), { ...defaults, file: "f", old: "a" })
      assert.deepStrictEqual(yield* read("--offset", "1", "f", "--all", "a", "true", "-n=2", "--mode=fast"), {
        all: true,
        offset: 1,
        limit: 2,
        mode: "fast",
        file: "f",
        old: "a",
        replacement: "true"
      })
      assert.deepStrictEqual(yield* read("f", "", "", "--all=false", "-n", "3"), {
        ...defaults,
        limit: 3,
        file: "f",
        old: "",
        replacement: ""
      })
    })
  )

  it.effect("passes every operand through as it is", () =>
    Effect.gen(function* () {
      const texts = ["", "\n", " a\t", "-h", "-", "-5", "- x", "--\n", "--all yes", "\u001b[1m", "é🙂", "a=b"]
      const dashed = ["--help", "--version", "--wizard", "--completions", "--log-level", "--all", "--", "-abc", "-n"]
      const large = "--x 1\n".repeat(200_000)
      for (const text of [...texts, large]) {
        assert.deepStrictEqual(yield* read(text, text, text), { ...defaults, file: text, old: text, replacement: text })
      }
      for (const text of [...texts, ...dashed, large]) {
        assert.deepStrictEqual(yield* read("--", text, text, text), {
          ...defaults,
          file: text,
          old: text,
          replacement: text
        })
      }
    })
  )

  it.effect("refuses what does not fit, and says what, and how to go on", () =>
    Effect.gen(function* () {
      const refusals: ReadonlyArray<readonly [args: ReadonlyArray<string>, reason: string]> = [
        [[], "<file> is missing."],
        [["f", "--all"], "<old> is missing."],
        [["f", "a", "b", "c\nd", "e"], '"c\\nd" is one operand too many.'],
        [["f", "a", "b", "x".repeat(1000)], `"${"x".repeat(60)}" … is one operand too many.`],
        [
          ["f", "a", "--al"],
          "Unknown option --al: did you mean --all? A word that begins with a dash and is no option goes after --."
        ],
        [
          ["f", "a", "--version"],
          "Unknown option --version: there are --all, --offset, -n, --limit, --mode. A word that begins with a dash and is no option goes after --."
        ],
        [["f", "a", "--limit", "1", "-n", "1"], "--limit is given twice."],
        [["f", "a", "--offset"], "--offset needs a value after it."],
        [["f", "a", "--all=yes"], '--all stands alone, or is --all=true or --all=false; it was "--all=yes".'],
        ...["x", "-1", "1.5", "1e3", " 1", "0x1", "", "9007199254740992", "9".repeat(50)].map(
          (value) =>
            [
              ["f", "a", "--offset", value],
              `--offset must be a whole number from 0 to 9007199254740991; it was ${JSON.stringify(value)}.`
            ] as const
        ),
        [["f", "a", "--limit=0"], '--limit must be a whole number from 1 to 9007199254740991; it was "0".'],
        [["f", "a", "--mode", "quick"], '--mode must be one of slow, fast; it was "quick".']
      ]
      for (const [args, reason] of refusals) assert.strictEqual(yield* parsed(...args), `edit: ${reason}`)
      const error = yield* Effect.flip(grammar.parse([]))
      assert.strictEqual(
        error.message,
        `edit: <file> is missing.\nUsage: ${usage}\nBash(command="edit --help") shows more.`
      )
    })
  )

  it.effect("names an option that has to be given, and reads repeated ones", () =>
    Effect.gen(function* () {
      const task = CommandGrammar.make({
        name: "task",
        summary: "",
        usage: "task",
        help: "",
        config: {
          prompt: Parameter.option("prompt"),
          tags: Parameter.option("tag").pipe(Parameter.repeated),
          files: Parameter.operand("file").pipe(Parameter.repeated)
        }
      })
      assert.match((yield* Effect.flip(task.parse(["a"]))).reason, /^task: --prompt is missing\.$/)
      assert.deepStrictEqual(yield* task.parse(["a", "--tag=x", "--prompt", "-h", "b", "--tag", "--version"]), {
        prompt: "-h",
        tags: ["x", "--version"],
        files: ["a", "b"]
      })
      for (const prompt of ["--help", "--prompt", "--tag", "-ab", "--a=b", "", " x ", "a\n"]) {
        assert.deepStrictEqual(yield* task.parse(["--prompt", prompt]), { prompt, tags: [], files: [] })
        assert.deepStrictEqual(yield* task.parse([`--prompt=${prompt}`]), { prompt, tags: [], files: [] })
      }
    })
  )

  it.effect.prop(
    "lets any operands after -- through",
    [FastCheck.array(FastCheck.fullUnicodeString(), { minLength: 2, maxLength: 3 })],
    ([operands]) =>
      Effect.gen(function* () {
        const [file = "", old = "", replacement = "default"] = operands
        assert.deepStrictEqual(yield* read("--all", "--", ...operands), {
          ...defaults,
          all: true,
          file,
          old,
          replacement
        })
      })
  )

  const operands = FastCheck.array(
    FastCheck.string().filter((text) => !/^--?[A-Za-z-]/.test(text)),
    {
      minLength: 2,
      maxLength: 3
    }
  )
  const options = FastCheck.record({
    all: FastCheck.constantFrom(["--all"], ["--all=true"]),
    offset: FastCheck.nat().chain((n) => FastCheck.constantFrom(["--offset", `${n}`], [`--offset=${n}`])),
    limit: FastCheck.integer({ min: 1 }).chain((n) => FastCheck.constantFrom(["--limit", `${n}`], [`-n=${n}`]))
  })
  /** Where each option goes among the operands. */
  const places = FastCheck.array(FastCheck.nat(), { minLength: 3, maxLength: 3 })

  it.effect.prop("reads the same in any order", [operands, options, places, places], ([operands, options, ...orders]) =>
    Effect.gen(function* () {
      const arranged = orders.map((order) => {
        const groups = operands.map((operand) => [operand])
        const given = Object.values(options)
        for (const [index, group] of given.entries()) {
          groups.splice((order[index] as number) % (groups.length + 1), 0, group)
        }
        return groups.flat()
      })
      const expected = yield* read(...Object.values(options).flat(), "--", ...operands)
      for (const args of arranged) assert.deepStrictEqual(yield* read(...args), expected)
    })
  )

  it("says what to do next as data, which is put in the words of whoever reads it", () => {
    const error = CommandGrammar.misuse({ name: "edit", usage: "edit <file>" }, "no.", [
      ["edit a"],
      ["edit <<E", "b", "E"]
    ])
    assert.strictEqual(error.reason, "edit: no.")
    assert.strictEqual(
      error.message,
      'edit: no.\nUsage: edit <file>\n  edit a\n  edit <<E\n  b\n  E\nBash(command="edit --help") shows more.'
    )
    assert.strictEqual(
      CommandError.toText(error, Advice.person),
      "edit: no.\nUsage: edit <file>\n  edit a\n  edit <<E\n  b\n  E\n`edit --help` shows more."
    )
  })
})

describe("toHandler", () => {
  const handler = CommandGrammar.toHandler(
    grammar,
    (params, call, { timeout }) =>
      Effect.succeed(CommandResult.make({ stdout: `${call.name} ${params.file} ${params.old} ${timeout}` })),
    { usesFiles: true }
  )
  const run = (...args: ReadonlyArray<string>) => {
    const call: CommandCall = {
      name: "edit",
      args,
      cwd: "/",
      stdin: undefined,
      write: () => Effect.die("it writes nothing"),
      files: {
        read: () => assert.fail("it reads nothing"),
        write: () => Effect.die("it writes nothing"),
        writeAll: () => Effect.never,
        exit: () => Effect.never,
        mode: () => Effect.never,
        exclusive: () => Effect.die("it needs no turn")
      }
    }
    return handler.run(call, { timeout: 5 })
  }

  it.effect("tells what the command says of itself", () =>
    Effect.sync(() => {
      const { run: _, hasHelp: __, ...described } = handler
      assert.deepStrictEqual(described, { name: "edit", summary: "Changes a file.", usage, usesFiles: true })
    })
  )

  it.effect("answers -h as the first argument, --help as the first and as the last", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("-h", "x"), CommandResult.make({ stdout: `Usage: ${usage}\n` }))
      assert.deepStrictEqual(yield* run("--help"), CommandResult.make({ stdout: "edit - change a file\n" }))
      assert.deepStrictEqual(yield* run("f", "-h"), CommandResult.make({ stdout: "edit f -h 5" }))
      assert.deepStrictEqual(yield* run("--", "-h", "--help"), CommandResult.make({ stdout: "edit -h --help 5" }))
      const help = CommandResult.make({ stdout: "edit - change a file\n" })
      for (const args of [
        ["--help", "--", "x"],
        ["f", "--help"],
        ["f", "a", "b", "c", "--help"],
        ["--wrong", "--help"]
      ]) {
        assert.deepStrictEqual(yield* run(...args), help)
      }
      assert.deepStrictEqual(yield* run("f", "--", "--help"), CommandResult.make({ stdout: "edit f --help 5" }))
      assert.match((yield* Effect.flip(run("f", "--help", "a"))).message, /^edit: Unknown option --help: /)
    })
  )

  it.effect("fails with what is wrong, without running", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Effect.flip(run()), yield* Effect.flip(grammar.parse([])))
    })
  )
})
