/**
 * Commands take turns: a right that is given for one of them is not there for another.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { CommandError } from "../domain/CommandError.js"
import type { CurrentSandbox } from "./CurrentSandbox.js"
import type * as Negotiation from "./Negotiation.js"
import { type Grant, type SandboxBackend, withGrants } from "./SandboxBackend.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface QueueOptions {
  readonly current: CurrentSandbox
  /** Whose sandbox commands run in. */
  readonly directory: string
  /** Makes a right part of the policy, whichever sandbox comes. */
  readonly remember: (grant: Grant) => void
  /** Makes it part of `sandbox.json`. */
  readonly rememberForGood: (grant: Grant) => Effect.Effect<void, CommandError>
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = ({
  current,
  directory,
  remember,
  rememberForGood
}: QueueOptions): Pick<Negotiation.Door, "attempt" | "keep" | "tryOut"> => {
  const turn = Effect.unsafeMakeSemaphore(1)
  let notices: Array<string> = []

  /** Ends that sandbox, and says why with the next command. */
  const retire = (backend: SandboxBackend, notice: string) => current.retire(backend, () => void notices.push(notice))

  /** A sandbox that keeps a right which was given for once is taken away whole. */
  const lend = <A>(
    backend: SandboxBackend,
    grants: ReadonlyArray<Grant>,
    use: Effect.Effect<A, CommandError>
  ): Effect.Effect<A, CommandError> =>
    withGrants(backend, grants, use, ({ resource }) =>
      retire(
        backend,
        `A new shell was started: ${resource} was allowed once, and that could not be taken back otherwise.`
      )
    )

  const run = (
    backend: SandboxBackend,
    command: string,
    options: Negotiation.AttemptOptions | undefined,
    grants: ReadonlyArray<Grant>
  ) =>
    Effect.map(lend(backend, grants, backend.execute(command, options)), (result) => {
      const all = [...notices, ...(result.notices ?? [])]
      notices = []
      return { backend, result: all.length === 0 ? result : { ...result, notices: all } }
    })

  return {
    attempt: (command, options, grants) =>
      turn.withPermits(1)(
        Effect.flatMap(Effect.zipRight(options?.restarted ?? Effect.void, current.get(directory)), (backend) =>
          Effect.catchIf(
            run(backend, command, options, grants),
            (error) => error._tag === "ExecutionFailed" && error.kind === "crash",
            () =>
              Effect.zipRight(
                current.retire(backend),
                Effect.flatMap(current.get(directory), (next) => run(next, command, options, grants))
              )
          )
        )
      ),
    keep: (backend, grant, forGood) =>
      turn.withPermits(1)(
        Effect.gen(function* () {
          const written = forGood ? yield* Effect.either(rememberForGood(grant)) : undefined
          remember(grant)
          const given = yield* Effect.flip(backend.grant(grant)).pipe(Effect.option)
          if (Option.isSome(given) && given.value._tag === "ExecutionFailed") {
            yield* retire(backend, `A new shell was started: only a new sandbox can have ${grant.resource} allowed.`)
          }
          return {
            now: Option.isSome(given) && given.value._tag === "NotThere" ? given.value.message : undefined,
            forGood: written?._tag === "Left" ? written.left.message : undefined
          }
        })
      ),
    tryOut: (backend, grant) =>
      turn.withPermits(1)(Effect.map(Effect.either(lend(backend, [grant], Effect.void)), Either.getLeft))
  }
}
