/**
 * Keeps the masks of a running sandbox: finds what the rules name by now, and proves that it is masked before a command runs.
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

/** How often what was moved is looked for again. */
const mostRounds = 3

const moved = () =>
  new ExecutionFailed({
    kind: "sandbox",
    reason: "no sandbox: what the blacklist names is being moved while the sandbox starts; try again when it rests"
  })

/**
 * Adds to a namespace what a sandbox needs to stay masked. Walks go through the whitelist, and through what was made writable
 * while the sandbox ran.
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
