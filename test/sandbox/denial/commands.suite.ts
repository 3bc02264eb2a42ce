/**
 * The corpus of commands, one after the other in one real sandbox: the denials are named with the right rule, and
 * failures that the policy has no part in are none.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { CommandResult } from "../../../src/domain/CommandResult.js"
import * as Commands from "../../support/denial/Commands.js"
import { type Manager, type Place, sandboxedOn } from "../../support/sandbox/LocalApp.js"
import { notices } from "../../support/Told.js"

interface Outcome {
  readonly command: string
  readonly expected: string | undefined
  /** The rule that was named. */
  readonly named: string | undefined
  readonly result: CommandResult | undefined
}

/** Long enough for a machine that does much else. */
const timeout = 120_000

const outcome = (
  { cwd, execute }: Manager,
  place: Place,
  text: (command: string) => string,
  { command, rule }: Commands.Command
): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    Commands.tidy(place)
    if ((yield* cwd) !== place.project) yield* Effect.ignore(execute(`cd ${place.project}`))
    const ran = yield* Effect.either(execute(text(command), { timeout }))
    const expected = rule === undefined ? undefined : text(rule)
    if (Either.isRight(ran)) {
      const { right: result } = ran
      const passing = notices(result)?.find((notice) => notice.startsWith("The sandbox hides"))
      return { command, expected, named: result.denied?.rule ?? (passing && ruleIn(passing)), result }
    }
    const named = ran.left._tag === "Blocked" ? ran.left.rule : ran.left.message
    return { command, expected, named, result: undefined }
  })

/** Finds the rule that a notice names. */
const ruleIn = (notice: string): string => /\(rule "?(.+?)"?\)[;:.]/.exec(notice)?.[1] ?? notice

const show = ({ command, expected, named, result }: Outcome) =>
  `${command}\n    expected ${expected}, named ${named}; exit ${result?.exitCode}\n    ${result?.stderr.trim().slice(-600).replaceAll("\n", "\n    ")}`

const { benign, denied } = Commands.load("commands")
const unseen = Commands.load("unseen")

/** What an output holds proves less: much of it may be anybody's words. */
const forms = [
  ["", 0.95, (command: string) => command],
  [", where their messages are in the output", 0.6, (command: string) => `{ ${command}\n} 2>&1`]
] as const

/**
 * Of two users, each runs half of the commands in one form and the others in the other.
 *
 * @param part which of the two this is; undefined for an only one
 */
export const commands = (title: string, ground: string, part: 0 | 1 | undefined): void => {
  const half = <A>(list: ReadonlyArray<A>, form: number) =>
    part === undefined ? list : list.filter((_, at) => (at + form) % 2 === part)

  /** @param isAlone whether each command is the first one of its session */
  const outcomes = (list: ReadonlyArray<Commands.Command>, isAlone = false) =>
    sandboxedOn(ground)(
      (manager, place) =>
        Effect.suspend(() => {
          const text = Commands.settle(place)
          const next = isAlone ? manager.shutdown : Effect.void
          return Effect.forEach(list.filter(Commands.canRun), (each) =>
            Effect.zipRight(next, outcome(manager, place, text, each))
          )
        }),
      {},
      ["vault", "**/*.pem"]
    )

  describe(title, () => {
    it("is large enough", () => {
      assert.isAtLeast(denied.length, 242)
      assert.isAtLeast(benign.length, 219)
    })

    for (const [form, [where, share, as]] of forms.entries()) {
      const each = (list: ReadonlyArray<Commands.Command>) =>
        outcomes(half(list, form).map((one) => ({ ...one, command: as(one.command) })))

      it.live(
        `names at least ${100 * share} % of the denials with their rule, and none with another${where}`,
        () =>
          Effect.map(each(denied), (all) => {
            const wrong = all.filter(({ expected, named }) => named !== undefined && named !== expected)
            const missed = all.filter(({ named }) => named === undefined)
            const count = half(denied, form).length
            const skipped = count - all.length
            // A machine without most of the programs proves nothing.
            assert.isAtMost(skipped, count / 2, `${skipped} were skipped: their programs are not installed`)
            assert.deepStrictEqual(wrong.map(show), [])
            assert.isAtMost(missed.length, all.length * (1 - share), missed.map(show).join("\n"))
          }),
        { timeout: 600_000 }
      )

      it.live(
        `sees no denial in what fails for another reason${where}`,
        () =>
          Effect.map(each(benign), (all) => {
            assert.deepStrictEqual(all.filter(({ named }) => named !== undefined).map(show), [])
          }),
        { timeout: 600_000 }
      )
    }

    it.live(
      "names at least 95 % of the denials that it was not built with, and nothing else",
      () =>
        Effect.gen(function* () {
          const all = yield* outcomes(half([...unseen.denied, ...unseen.benign], 0))
          const wrong = all.filter(({ expected, named }) => named !== undefined && named !== expected)
          assert.deepStrictEqual(wrong.map(show), [])
          // To a command that goes on, a session tells of each rule once for a path: the first command of one is told.
          const untold = all.filter(({ expected, named }) => expected !== undefined && named === undefined)
          const rows = untold.map(({ command, expected = "" }) => ({ command, rule: expected }))
          const alone = rows.length === 0 ? [] : yield* outcomes(rows, true)
          const missed = alone.filter(({ expected, named }) => named !== expected)
          assert.isAtMost(
            missed.length,
            all.filter(({ expected }) => expected !== undefined).length * 0.05,
            missed.map(show).join("\n")
          )
        }),
      { timeout: 600_000 }
    )

    it.live.skipIf(part === 1)(
      "sees none either where that goes on, and succeeds",
      () => {
        const goingOn = benign.map(({ command, ...one }, at) => ({
          ...one,
          command: `${forms[at % 2 === 0 ? 0 : 1][2](command)}\n:`
        }))
        return Effect.map(outcomes(goingOn), (all) => {
          assert.deepStrictEqual(all.filter(({ named }) => named !== undefined).map(show), [])
        })
      },
      { timeout: 600_000 }
    )
  })
}
