/**
 * Runs a command once in the current sandbox when its turn has come, with the grants that are lent to it for this run.
 * Where the sandbox crashes before the command begins, the command runs once more, in a new sandbox.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { CommandError, ExecutionFailed } from "../domain/CommandError.js"
import * as Slices from "../domain/Slices.js"
import * as Job from "../session/Job.js"
import type { CurrentSandbox } from "./CurrentSandbox.js"
import type * as Negotiation from "./Negotiation.js"
import * as NewFile from "./NewFile.js"
import * as FileIdentity from "./policy/FileIdentity.js"
import * as Name from "./policy/Name.js"
import * as RealPath from "./policy/RealPath.js"
import { type Grant, type SandboxBackend, type SandboxTurn, withGrants } from "./SandboxBackend.js"

/**
 * The dependencies of `make`.
 *
 * @since 0.1.0
 * @category models
 */
export interface AttemptDoor {
  readonly current: CurrentSandbox
  /** The directory whose sandbox runs the commands that name no directory of their own. */
  readonly directory: string
  /** Adds a grant to the policy of every sandbox that is made from now on. */
  readonly remember: (grant: Grant) => void
  /** Run before a sandbox gets a grant, be it for one command; where it fails, the grant is not given. */
  readonly onGrant: (grant: Grant) => Effect.Effect<void, ExecutionFailed>
  /** Called when a command begins. */
  readonly onBegin: () => void
  /** Writes a grant into `sandbox.json`. */
  readonly rememberForGood: (grant: Grant) => Effect.Effect<void, CommandError>
}

/**
 * The functions by which commands are run and grants are given.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attempts extends Pick<Negotiation.Door, "attempt" | "keep" | "tryOut"> {
  /**
   * Gives up the command that is the next to begin, where none runs: what a restart ends is that one, though its sandbox
   * is not there yet. One that comes with a restart of its own is left alone.
   */
  readonly giveUp: () => void
  /**
   * Waits for its place behind the commands that came earlier, for what runs without the shell; returns at once where
   * none runs or waits. A restart is done in that place.
   */
  readonly inOrder: (restarted?: Effect.Effect<void>) => Effect.Effect<void>
}

/** The answer of a turn in a sandbox that has ended meanwhile: the next sandbox has the turn. */
const successor = Symbol()

/** The begin of a notice that a right took a new shell: what was kept in the old one is lost. */
const anew = "A new shell was started, and variables, functions and background jobs are gone"

/** Tests whether something else has come to the place of what was asked for. */
const isAnother = ({ identity, resource }: Grant): boolean =>
  identity === undefined ? RealPath.follow(resource).real !== resource : FileIdentity.of(resource) !== identity

const isCrash = (error: CommandError) => error._tag === "ExecutionFailed" && error.kind === "crash"

/**
 * Makes the functions that a negotiation uses to run commands and to give grants.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ current, directory, onBegin, onGrant, remember, rememberForGood }: AttemptDoor): Attempts => {
  let notices: Array<string> = []
  /** The attempts that wait for their sandbox or their turn, in their order, and those that were given up. */
  const waiting = new Set<object>()
  const givenUp = new WeakSet<object>()
  /** The number of attempts that have begun and not ended. */
  let running = 0
  /** The number of those that run or wait, and the directory of the last. */
  let open = 0
  let latest = directory

  /**
   * Takes a turn in the sandbox of a directory. Where that sandbox ends before the turn comes, the turn is taken in its
   * successor.
   */
  const inTurn = <A>(
    cwd: string,
    use: (backend: SandboxBackend, turn: SandboxTurn) => Effect.Effect<A, CommandError>
  ): Effect.Effect<A, CommandError> =>
    Effect.flatMap(current.get(cwd), (backend) => {
      const isOver = () => current.peek()?.backend !== backend
      let begun = false
      return backend
        .exclusive((turn): Effect.Effect<A | typeof successor, CommandError> => {
          if (isOver()) return Effect.succeed(successor)
          begun = true
          return use(backend, turn)
        })
        .pipe(
          Effect.matchEffect({
            onFailure: (error) => (!begun && isOver() ? inTurn(cwd, use) : Effect.fail(error)),
            onSuccess: (answer) => (answer === successor ? inTurn(cwd, use) : Effect.succeed(answer))
          })
        )
    })

  /** Ends a sandbox; the notice that says why comes with the next command's result. */
  const retire = (backend: SandboxBackend, notice: string) => current.retire(backend, () => void notices.push(notice))

  /** Runs with grants that are revoked afterwards; a sandbox that can't revoke one is ended. */
  const lend = <A>(
    backend: SandboxBackend,
    turn: SandboxTurn,
    grants: ReadonlyArray<Grant>,
    use: Effect.Effect<A, CommandError>
  ): Effect.Effect<A, CommandError> =>
    grants.length === 0
      ? use
      : Effect.zipRight(
          Effect.forEach(grants, onGrant, { discard: true }),
          withGrants(turn, grants, use, ({ resource }) =>
            retire(
              backend,
              `${anew}: ${Name.of(resource)} was allowed once, and that could not be taken back otherwise.`
            )
          )
        )

  return {
    attempt: (command, options, grants) => {
      const cwd = options?.cwd ?? directory
      const execute = (turn: SandboxTurn) =>
        Effect.suspend(() => {
          onBegin()
          return Slices.pass(command, turn.execute(command, options))
        })
      const run = (backend: SandboxBackend, turn: SandboxTurn) =>
        Effect.map(lend(backend, turn, grants, execute(turn)), (result) => {
          const all = [...notices, ...(result.notices ?? [])]
          notices = []
          return { backend, result: all.length === 0 ? result : { ...result, notices: all } }
        })
      const self = {}
      let isRunning = false
      const runInTurn = (backend: SandboxBackend, turn: SandboxTurn) =>
        Effect.suspend(() => {
          waiting.delete(self)
          if (givenUp.has(self)) return Job.restarted()
          isRunning = true
          running++
          const attempt = Effect.catchAll(run(backend, turn), (error) =>
            // No other command comes in between: it waits for this turn to end, and goes to the next sandbox then.
            isCrash(error) ? Effect.zipRight(current.retire(backend), inTurn(cwd, run)) : Effect.fail(error)
          )
          return options?.restarted === undefined ? attempt : Effect.zipRight(options.restarted, attempt)
        })
      return Effect.suspend(() => {
        if (options?.restarted === undefined) waiting.add(self)
        open++
        latest = cwd
        return Effect.ensuring(
          inTurn(cwd, runInTurn),
          Effect.sync(() => {
            waiting.delete(self)
            open--
            if (isRunning) running--
          })
        )
      })
    },
    // Where no place can be had, within a command that the shell has called or without a sandbox, none is needed.
    inOrder: (restarted = Effect.void) =>
      Effect.suspend(() =>
        open === 0 && (restarted === Effect.void || current.peek() === undefined)
          ? restarted
          : Effect.suspend(() => {
              open++
              const place = Effect.ignore(inTurn(latest, () => restarted))
              return Effect.ensuring(
                place,
                Effect.sync(() => void open--)
              )
            })
      ),
    giveUp: () => {
      const [next] = waiting
      if (running === 0 && next !== undefined) givenUp.add(next)
    },
    keep: (backend, grant, forGood) =>
      Effect.gen(function* () {
        const kept = Effect.sync(() => remember(grant))
        const given = yield* backend
          .exclusive((turn) =>
            Effect.zipRight(
              onGrant(grant),
              turn.grant(grant).pipe(
                Effect.zipLeft(kept),
                Effect.catchTag("ExecutionFailed", (error) =>
                  // No sandbox may have what was put in its place.
                  isAnother(grant)
                    ? Effect.fail(error)
                    : Effect.zipRight(
                        kept,
                        retire(backend, `${anew}: only a new sandbox can have ${Name.of(grant.resource)} allowed.`)
                      )
                )
              )
            )
          )
          .pipe(Effect.either)
        // A right that could not be given leaves nothing behind.
        if (Either.isLeft(given)) return { now: given.left.message, forGood: undefined }
        const written = forGood ? yield* Effect.either(rememberForGood(grant)) : undefined
        return { now: undefined, forGood: written?._tag === "Left" ? written.left.message : undefined }
      }),
    tryOut: (backend, grant) =>
      // It is made when the command runs again, and not for nothing.
      grant.isNew === true
        ? Effect.map(Effect.either(NewFile.check(grant.resource)), Either.getLeft)
        : backend
            .exclusive(
              (turn): Effect.Effect<void, CommandError | ExecutionFailed> => lend(backend, turn, [grant], Effect.void)
            )
            .pipe(Effect.either, Effect.map(Either.getLeft))
  }
}
