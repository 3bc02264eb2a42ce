/** Calls and their cancellations in any order, over a scripted shell. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Conversation from "../support/cli/Conversation.js"
import { run } from "../support/cli/Program.js"

const SEED = Number(process.env["SEED"] ?? 1)

/** Yields to everything else `count` times. */
const turns = (count: number) =>
  Effect.repeatN(
    Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve))),
    count
  )

const id = FastCheck.constantFrom("a", "b", "c", "d", "e", "f")
const command = FastCheck.oneof(
  { weight: 3, arbitrary: FastCheck.constant("now") },
  { weight: 3, arbitrary: FastCheck.constant("hang") },
  FastCheck.nat(4).map((count) => `turns ${count}`),
  FastCheck.nat(4).map((count) => `stubborn ${count}`)
)

/** A line, or the turns until the next one is read. */
type Step = Conversation.Line | number

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  { weight: 5, arbitrary: FastCheck.record({ id, command }) },
  { weight: 5, arbitrary: id },
  { weight: 3, arbitrary: FastCheck.nat(6) },
  FastCheck.record({ id, command, restart: FastCheck.constant(true) }),
  FastCheck.record({ id, command, name: FastCheck.constant("Nosuch") }),
  FastCheck.constantFrom("never", "")
)

/** Calls that hold the session: the next ones wait for the end of these. */
const crowd = Array.from({ length: 5 }, (_, at): Conversation.Call => ({ id: `crowd ${at}`, command: "hang" }))

const conversation = FastCheck.tuple(FastCheck.boolean(), FastCheck.array(step, { maxLength: 30 })).chain(
  ([isCrowded, steps]) =>
    isCrowded
      ? FastCheck.shuffledSubarray(crowd, { minLength: crowd.length }).chain((leaving) =>
          FastCheck.nat(steps.length).map((at): ReadonlyArray<Step> => {
            const leave = leaving.map((call) => call.id)
            return [...crowd, ...steps.slice(0, at), ...leave, ...steps.slice(at)]
          })
        )
      : FastCheck.constant<ReadonlyArray<Step>>(steps)
)

/** Ends what hangs, and asks for one more answer. */
const end: ReadonlyArray<Conversation.Line> = [..."abcdef", { id: "probe", command: "now" }]

describe("a server of calls", () => {
  it("S47: gives one answer for an id, whenever the cancellation comes", async () => {
    const seen: Array<Conversation.Kinds> = []
    await FastCheck.assert(
      FastCheck.asyncProperty(conversation, async (steps) => {
        const lines = [...steps.filter((each) => typeof each !== "number"), ...end]
        const input = [...steps, ...end].map((each) =>
          typeof each === "number" ? Effect.as(turns(each), "") : Conversation.write(each)
        )
        let began = 0
        const answer = (text: string) => {
          began++
          const [word = "", count = "0"] = text.split(" ")
          if (word === "hang") return Effect.never
          const done = Effect.as(turns(Number(count)), { stdout: text })
          return word === "now" ? { stdout: text } : word === "stubborn" ? Effect.uninterruptible(done) : done
        }
        const { exitCode, stderr, stdout } = await Effect.runPromise(run(["call"], answer, input))
        assert.deepStrictEqual([exitCode, stderr], [0, ""])
        const answers = Conversation.read(stdout)
        const kinds = Conversation.check(lines, answers)
        const tools = lines.filter(Conversation.isCall).filter(({ name }) => name === undefined)
        assert.isAtMost(began, tools.length - kinds.refused - kinds.notRun, "commands that ran")
        for (const { extras, output, toolCallId } of answers) {
          if (extras.exitCode !== 0) continue
          const given = tools.some((call) => call.id === toolCallId && call.command === output)
          assert.isTrue(given, `${toolCallId}: ${output}`)
        }
        assert.strictEqual(answers.find(({ toolCallId }) => toolCallId === "probe")?.output, "now")
        seen.push(kinds)
      }),
      { seed: SEED, numRuns: 30 }
    )
    for (const kind of ["completed", "cancelled", "notRun", "refused", "late", "unknown"] as const) {
      assert.isAbove(seen.filter((kinds) => kinds[kind] > 0).length, 2, kind)
    }
  }, 60_000)

  it.effect("reads cancellations while a thousand calls are in flight, and answers them before all others", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const calls = Array.from({ length: 1000 }, (_, at): Conversation.Call => ({ id: String(at), command: "wait" }))
      const { stdout } = yield* run(["call"], () => Effect.as(Deferred.await(gate), {}), [
        calls.map(Conversation.write).join(""),
        Effect.as(turns(3), ["999", "0"].map(Conversation.write).join("")),
        Effect.as(Effect.zipRight(turns(50), Deferred.succeed(gate, undefined)), "")
      ])
      const answers = Conversation.read(stdout)
      assert.deepStrictEqual(
        answers.slice(0, 2).map(({ extras, toolCallId }) => [toolCallId, extras.exitCode]),
        [
          ["999", 130],
          ["0", 130]
        ]
      )
      Conversation.check([...calls, "999", "0"], answers)
    })
  )
})
