/**
 * Runs a command once in the current sandbox when its turn has come, with the grants that are lent to it for this run.
 * Where the sandbox crashes before the command begins, the command runs once more, in a new sandbox.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { CommandError } from "../domain/CommandError.js"
import * as Slices from "../domain/Slices.js"
import * as Job from "../session/Job.js"
import type { CurrentSandbox } from "./CurrentSandbox.js"
import type { Granting } from "./Granting.js"
import type * as Negotiation from "./Negotiation.js"
import type { Execute, SandboxBackend, SandboxResult, SandboxTurn } from "./SandboxBackend.js"

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
  readonly granting: Pick<Granting, "lend" | "takeNotices">
}

/**
 * The functions by which commands are run, in the order of the calls.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attempts extends Pick<Negotiation.Door, "attempt"> {
  /** Returns the number of commands that have begun. */
  readonly begun: () => number
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

const isCrash = (error: CommandError) => error._tag === "ExecutionFailed" && error.kind === "crash"

/**
 * Makes the functions which run commands.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ current, directory, granting }: AttemptDoor): Attempts => {
  /** The attempts that wait for their sandbox or their turn, in their order, and those that were given up. */
  const waiting = new Set<object>()
  const givenUp = new WeakSet<object>()
  /** The number of commands that have begun. */
  let begun = 0
  /** The number of attempts that have begun and not ended. */
  let running = 0
  /** The number of those that run or wait, but for those that run freely, and the directory of the last. */
  let open = 0
  let latest = directory

  /** Tests whether no command runs or waits, as far as a sandbox knows that. */
  const isFree = () => open === 0 && current.peek()?.backend.isFree?.() !== false

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

  const executed = (execute: Execute, command: string, options: Negotiation.AttemptOptions | undefined) =>
    Effect.suspend(() => {
      begun++
      return Slices.pass(command, execute(command, options))
    })

  const noted = (backend: SandboxBackend, result: SandboxResult) => {
    const notices = granting.takeNotices()
    return {
      backend,
      result: notices.length === 0 ? result : { ...result, notices: [...notices, ...(result.notices ?? [])] }
    }
  }

  /**
   * Runs a command in a sandbox that is free, and holds no turn there, for its session queues later commands itself.
   */
  const runFreely = (
    backend: SandboxBackend,
    cwd: string,
    command: string,
    options: Negotiation.AttemptOptions | undefined
  ) => {
    latest = cwd
    return Effect.matchEffect(executed(backend.execute, command, options), {
      // It is the first to ask for the next sandbox: whoever waited for a turn in this one hears of its end later.
      onFailure: (error) =>
        isCrash(error)
          ? Effect.zipRight(
              current.retire(backend),
              inTurn(cwd, (next, turn) =>
                Effect.map(executed(turn.execute, command, options), (result) => noted(next, result))
              )
            )
          : Effect.fail(error),
      onSuccess: (result) => Effect.succeed(noted(backend, result))
    })
  }

  return {
    begun: () => begun,
    attempt: (command, options, grants) => {
      const cwd = options?.cwd ?? directory
      const run = (backend: SandboxBackend, turn: SandboxTurn) =>
        Effect.map(granting.lend(backend, turn, grants, executed(turn.execute, command, options)), (result) =>
          noted(backend, result)
        )
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
        const now = current.peek()
        const isPlain = grants.length === 0 && options?.restarted === undefined
        if (isPlain && now?.cwd === cwd && open === 0 && now.backend.isFree?.() === true) {
          return runFreely(now.backend, cwd, command, options)
        }
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
        isFree() && (restarted === Effect.void || current.peek() === undefined)
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
      if (running === 0 && next !== undefined && current.peek()?.backend.isFree?.() !== false) givenUp.add(next)
    }
  }
}
