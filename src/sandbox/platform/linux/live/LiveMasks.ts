/**
 * Maintains the masks of a running sandbox: finds what the blacklist names by now, and verifies before the first
 * command that all of it is masked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as PathRule from "../../../policy/PathRule.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type * as SandboxPlatform from "../../SandboxPlatform.js"
import type { Indexes } from "../plan/IndexFile.js"
import type { Layout } from "../plan/Layout.js"
import * as Masks from "../plan/Masks.js"
import * as Unworkable from "../plan/Unworkable.js"
import type { LiveNamespace } from "./LiveNamespace.js"
import * as MaskWatch from "./MaskWatch.js"

/** The most walks for files that are moved, before the start fails. */
const mostRounds = 24

/**
 * The walks that must find everything masked where directories go on changing: each may miss what is moved to where it
 * has just been.
 */
const enough = 8

/** Milliseconds between two walks, and a random part that nobody can be in step with. */
const pause = 1
const random = 3

/** Milliseconds by which the kernel's clock for changes may be behind. */
const behind = 20

const moved = () =>
  new ExecutionFailed({
    kind: "sandbox",
    reason: "no sandbox: what the blacklist names is being moved while the sandbox starts; try again when it rests"
  })

/**
 * Adds to a running sandbox the scans that keep its masks complete. A scan walks the directories of the whitelist, and
 * those that were made writable while the sandbox ran.
 *
 * @param walked the time, in milliseconds, at which the walk for the layout began
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  door: LiveNamespace,
  policy: SandboxPolicy,
  layout: Layout,
  walked: number,
  indexes?: Indexes
): LiveNamespace & Omit<SandboxPlatform.LiveSandbox, "network"> => {
  const { cwd, openings, others, roots, session, sessions, unsearched } = layout
  const bound = new Set<string>()
  const opened = new Set(openings.map(({ mask }) => mask.path))
  const granted = PathRule.make(policy.granted ?? [])
  let awaited: ReadonlyArray<Rule> = []
  const search = (certainty?: Masks.Certainty): Effect.Effect<Pick<Masks.Found, "calm" | "masks">, ExecutionFailed> =>
    Effect.tryPromise({
      try: async () => {
        const all = [...roots, ...bound]
        const area = {
          roots: all,
          needed: [...all, cwd, session],
          vital: layout.vital,
          hidden: ["/dev", "/proc", sessions, ...others, ...unsearched]
        }
        const found = await Masks.search(policy, area, indexes, certainty)
        awaited = found.awaited
        return {
          masks: found.masks.filter(({ path }) => granted.find(path) === undefined && !opened.has(path)),
          calm: found.calm
        }
      },
      catch: (error) =>
        new ExecutionFailed({
          kind: "sandbox",
          reason: `the directories could not be searched: ${error instanceof Error ? error.message : error}`
        })
    })
  return {
    ...door,
    addBind: (path, identity) =>
      Effect.tap(door.addBind(path, identity), () => {
        bound.add(path)
      }),
    removeBind: (path) =>
      Effect.tap(door.removeBind(path), () => {
        bound.delete(path)
      }),
    scan: Effect.map(search(), ({ masks }) => masks),
    prove: (learn) =>
      Effect.gen(function* () {
        yield* door.verify
        const late = Unworkable.missed(policy, layout)
        if (late !== undefined) {
          return yield* new ExecutionFailed({ kind: "sandbox", reason: `no sandbox: ${Unworkable.replaced(late)}` })
        }
        let since = walked
        let hold = false
        for (let round = 0, agreeing = 0; round < mostRounds; round++) {
          const began = Date.now()
          const { calm, masks } = yield* search({ since: since - behind, hold })
          const isNew = !door.areMounted(masks)
          if (isNew && learn === undefined) return yield* moved()
          const isTaught = learn !== undefined && (isNew || awaited.length > 0)
          if (isTaught) yield* Effect.ignore(learn(masks))
          // Nothing has changed since the last walk began: that one missed nothing.
          if (calm === "still" && (isTaught ? door.areMounted(masks) : !isNew)) return
          agreeing = isNew || calm === "moving" ? 0 : agreeing + 1
          if (agreeing === enough) return
          since = began
          // Other programs may just be removing their own.
          if (calm === "moving") hold = true
          yield* Effect.sleep(pause + random * Math.random())
        }
        return yield* moved()
      }),
    watch: (options) =>
      MaskWatch.make({
        door,
        policy,
        masks: layout.masks,
        vital: layout.vital,
        roots: () => [...roots, ...bound],
        awaited: () => awaited,
        ...options
      })
  }
}
