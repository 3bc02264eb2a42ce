/**
 * Maintains the masks of a running sandbox: finds what the blacklist names by now, and verifies before the first
 * command that all of it is masked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as PathRule from "../../../policy/PathRule.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type * as SandboxPlatform from "../../SandboxPlatform.js"
import type { Indexes } from "../plan/IndexFile.js"
import type { Layout } from "../plan/Layout.js"
import * as Masks from "../plan/Masks.js"
import type { LiveNamespace } from "./LiveNamespace.js"
import * as MaskWatch from "./MaskWatch.js"

/** The number of scans for files that were moved, before the start fails. */
const mostRounds = 3

const moved = () =>
  new ExecutionFailed({
    kind: "sandbox",
    reason: "no sandbox: what the blacklist names is being moved while the sandbox starts; try again when it rests"
  })

/**
 * Adds to a running sandbox the scans that keep its masks complete. A scan walks the directories of the whitelist, and
 * those that were made writable while the sandbox ran.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  door: LiveNamespace,
  policy: SandboxPolicy,
  layout: Layout,
  indexes?: Indexes
): LiveNamespace & Omit<SandboxPlatform.LiveSandbox, "network"> => {
  const { cwd, roots, session, sessions } = layout
  const bound = new Set<string>()
  const granted = PathRule.make(policy.granted ?? [])
  const scan = Effect.promise(async () => {
    const all = [...roots, ...bound]
    const area = { roots: all, needed: [...all, cwd, session], hidden: ["/dev", "/proc", sessions] }
    const masks = await Masks.find(policy, area, indexes)
    return masks.filter(({ path }) => granted.find(path) === undefined)
  })
  return {
    ...door,
    addBind: (path) =>
      Effect.tap(door.addBind(path), () => {
        bound.add(path)
      }),
    removeBind: (path) =>
      Effect.tap(door.removeBind(path), () => {
        bound.delete(path)
      }),
    scan,
    prove: (learn) =>
      Effect.gen(function* () {
        yield* door.verify
        let expected: ReadonlyArray<SandboxPlatform.Mask> = layout.masks
        for (let round = 0; !door.areMounted(expected); round++) {
          if (round === mostRounds || learn === undefined) return yield* moved()
          expected = yield* scan
          yield* learn(expected)
        }
      }),
    watch: (options) => MaskWatch.make({ door, policy, masks: layout.masks, ...options })
  }
}
