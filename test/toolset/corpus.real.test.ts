/**
 * A corpus of calls as an agent makes them: what a model gets to read, to the letter, and what each line that Synapse adds
 * is worth to it. `SYNAPSE_CORPUS=record` writes what the calls answer now into the fixtures; a line that was not judged
 * before has the judgement `?` then, and the tests fail until it has been read and judged.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Entry from "../support/corpus/Entry.js"
import * as Ground from "../support/corpus/Ground.js"
import * as Session from "../support/corpus/Session.js"
import { has } from "../support/escape/Ground.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"
import * as Directory from "../support/sandbox/Directory.js"

const isRecording = process.env["SYNAPSE_CORPUS"] === "record"

/** The environment that the sessions begin with; each test file begins with the run's. */
Object.assign(process.env, Ground.environment, { API_TOKEN: "secret" })

const nameOf = ({ arguments: given, command, tool }: Entry.Entry): string =>
  command ?? `${tool} ${JSON.stringify(given)}`

const judge = ({ answer, entry, plain }: Session.Answered): Readonly<Record<string, Entry.Judgement>> =>
  Object.fromEntries(Entry.added(entry, answer).map((line) => [plain(line), entry.judged?.[plain(line)] ?? "?"]))

const record = (kind: string, answers: ReadonlyArray<Session.Answered>): void =>
  Entry.save(
    kind,
    answers.map((answered) => ({
      ...Entry.inputOf(answered.entry),
      ...Entry.actual(answered.answer, answered.plain),
      judged: judge(answered)
    }))
  )

const check = (answers: ReadonlyArray<Session.Answered>): void => {
  for (const answered of answers) {
    const { answer, entry, plain } = answered
    const [actual, expected] = [Entry.actual(answer, plain), Entry.expected(entry)]
    assert.deepStrictEqual(
      { ...actual, output: Entry.compared(entry, actual.output), judged: judge(answered) },
      { ...expected, output: Entry.compared(entry, expected.output), judged: entry.judged ?? {} },
      nameOf(entry)
    )
  }
}

/** The kinds whose answers depend on the shell that runs them. */
const shells = new Set(["missing", "output", "pipelines", "session", "status", "syntax"])

describe("the corpus", () => {
  for (const kind of Entry.kinds) {
    const entries = Entry.load(kind).filter(
      ({ asRoot, command = "", exitCode }) =>
        (asRoot !== true || isRecording || Directory.isRoot) &&
        // What is missing on most machines may be installed on this one.
        (kind !== "missing" || exitCode !== 127 || !has(/^[\w-]*/.exec(command)?.[0] || "?"))
    )
    it.live.runIf(isSandboxed)(
      `answers to the letter: ${kind}`,
      () => Effect.map(Session.run(entries, true), (answers) => (isRecording ? record(kind, answers) : check(answers))),
      { concurrent: true, timeout: 120_000 }
    )
    it.live.runIf(!isRecording && (!isSandboxed || shells.has(kind)))(
      `answers to the letter: ${kind} (without a sandbox)`,
      () =>
        Effect.map(
          Session.run(
            entries.filter(({ sandbox }) => sandbox !== true),
            false
          ),
          check
        ),
      { concurrent: true, timeout: 120_000 }
    )
  }

  const all = Entry.kinds.flatMap(Entry.load)
  const judgements = all.flatMap(({ judged = {} }) => Object.values(judged))

  it("has at least 150 calls, of which a third fails", () => {
    assert.isAtLeast(all.length, 150)
    assert.isAtLeast(all.filter(({ failureCategory }) => failureCategory !== undefined).length, all.length / 3)
  })

  it("repeats nothing of the output in the message, but where the call itself was wrong (S30, S46)", () => {
    const repeated = all.filter(({ message = "", output = [] }) => {
      const [said, shown] = [Entry.sentencesIn(message), Entry.sentencesIn(output.join("\n"))]
      return said.some((each) => output.join("\n").includes(each)) || shown.some((each) => message.includes(each))
    })
    assert.deepStrictEqual(
      repeated
        .filter(({ message = "" }) => !/^(?:Unknown tool: |Invalid parameters for Bash:\n)/.test(message))
        .map(nameOf),
      []
    )
  })

  it("tells a model nothing wrong, and less than one line in ten in vain", () => {
    assert.deepStrictEqual(
      judgements.filter((judgement) => !/^(?:right|needless: .+)$/.test(judgement)),
      []
    )
    assert.isBelow(judgements.filter((judgement) => judgement.startsWith("needless")).length, judgements.length / 10)
  })
})
