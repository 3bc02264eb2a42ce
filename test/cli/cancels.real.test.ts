/** The built program: calls and their cancellations at any time, over a real bash. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Conversation from "../support/cli/Conversation.js"
import { start } from "../support/cli/Real.js"

const SEED = Number(process.env["SEED"] ?? 1)

const commands = [
  "echo on",
  "seq 3000",
  "sleep 60",
  "echo begun; sleep 60; echo no",
  "sleep 60 & wait",
  "(sleep 60; echo no) | cat",
  "while :; do :; done",
  "echo $(sleep 60)",
  "cat <(sleep 60)",
  "echo on > >(sleep 60)",
  "sleep 60 | write never",
  "TodoWrite '{\"todos\":[]}'",
  "(exit 7)",
  "exit 7"
] as const

/** A line, or the milliseconds until the next one is written; `N` stands for the round's number. */
type Step = Conversation.Line | number

const id = FastCheck.constantFrom("N.a", "N.b", "N.c")

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.record({ id, command: FastCheck.constantFrom(...commands) }) },
  { weight: 5, arbitrary: id },
  { weight: 4, arbitrary: FastCheck.nat(25) },
  FastCheck.record({ id, command: FastCheck.constant("echo on"), restart: FastCheck.constant(true) })
)

const round = FastCheck.array(step, { minLength: 3, maxLength: 9 })

const inRound = (line: Conversation.Line, at: number): Conversation.Line =>
  Conversation.isCall(line) ? { ...line, id: line.id.replace("N", String(at)) } : line.replace("N", String(at))

const kept = "a  b"

describe.each([[[]], [["--no-sandbox"]]])("synapse call %j", (options) => {
  it("S47 S48: gives one answer for an id, whenever the cancellation comes, and keeps its shell", async () => {
    const { child, ended, says } = start(["call", ...options])
    const lines: Array<Conversation.Line> = []
    const say = (line: Conversation.Line) => {
      lines.push(line)
      child.stdin.write(Conversation.write(line))
    }
    const rounds = FastCheck.sample(round, { numRuns: 20, seed: SEED })
    for (const [at, steps] of rounds.entries()) {
      say({ id: `${at}.set`, command: `kept='${kept}'` })
      for (const step of steps) {
        if (typeof step === "number") await new Promise((resolve) => setTimeout(resolve, step))
        else say(inRound(step, at))
      }
      for (const each of ["N.a", "N.b", "N.c"]) say(inRound(each, at))
      // A restart that was cancelled may have been made or not.
      const isRestarted = steps.some((step) => typeof step === "object" && step.restart === true)
      say({ id: `${at}.probe`, command: isRestarted ? `echo '<${kept}>'` : 'echo "<$kept>"' })
      await says(`{"toolCallId":"${at}.probe"`)
    }
    child.stdin.end()
    const { exitCode, stderr, stdout } = await ended
    assert.deepStrictEqual([exitCode, stderr], [0, ""])
    const answers = Conversation.read(stdout.toString())
    const kinds = Conversation.check(lines, answers)
    for (const at of rounds.keys()) {
      const probe = answers.find(({ toolCallId }) => toolCallId === `${at}.probe`)
      assert.strictEqual(probe?.output, `<${kept}>\n`, JSON.stringify(rounds[at]))
    }
    assert.isAbove(kinds.cancelled, 5)
  }, 60_000)
})

describe("synapse call --events", () => {
  it("tells of a job that begins and ends, between the results", async () => {
    const { child, ended, says } = start(["call", "--no-sandbox", "--events"])
    child.stdin.write(`${JSON.stringify({ id: "1", name: "Bash", arguments: { command: "(sleep 0.3; exit 3) &" } })}\n`)
    await says('"state":"exited"')
    child.stdin.end()
    const lines = (await ended).stdout.toString().trimEnd().split("\n")
    const seen = lines.map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      seen.flatMap(({ event, job }) => (event === "job" ? [[job.id, job.state, job.exitCode]] : [])),
      [
        [1, "running", undefined],
        [1, "exited", 3]
      ]
    )
    assert.deepStrictEqual(
      seen.flatMap(({ toolCallId }) => toolCallId ?? []),
      ["1"]
    )
  })
})
