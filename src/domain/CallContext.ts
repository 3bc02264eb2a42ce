/**
 * The context of a call, local to the fiber that runs it, so that functions need not pass it on.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { dual } from "effect/Function"
import * as GlobalValue from "effect/GlobalValue"
import * as Advice from "./Advice.js"
import type { CommandInput, Read } from "./CommandInput.js"
import * as CommandListener from "./CommandListener.js"
import type { CommandResult } from "./CommandResult.js"

/**
 * The context of a call. The call's listener is kept apart, in `CommandListener.current`.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallContext {
  /** The standard input of Synapse commands whose line gives them none. The shell's own commands never read it. */
  readonly input: CommandInput | undefined
  /**
   * The standard input of whole lines, which the shell's own commands also read. Without it, their input is empty.
   *
   * @internal
   */
  readonly stdin: Read | undefined
  /**
   * How a command uses the session's terminal: it runs on the terminal, or reads an entry from it.
   *
   * @internal
   */
  readonly terminal: "command" | "entry" | undefined
  /**
   * The timeout of calls that name none, in milliseconds. It also applies to calls that Synapse answers without the
   * shell.
   */
  readonly timeout: number | undefined
  /** The audience of the messages that commands print in a shell. It is read when Synapse's layer is built. */
  readonly audience: Advice.Audience
  /**
   * The bridge that this call belongs to, or the queue whose turn it holds. Undefined for a call from outside.
   *
   * @internal
   */
  readonly within: unknown
}

/**
 * The context of the calls that a fiber makes.
 *
 * @since 0.1.0
 * @category fiber refs
 */
export const current: FiberRef.FiberRef<CallContext> = GlobalValue.globalValue("synapse/CallContext", () =>
  FiberRef.unsafeMake<CallContext>({
    input: undefined,
    stdin: undefined,
    terminal: undefined,
    timeout: undefined,
    audience: Advice.model,
    within: undefined
  })
)

/**
 * Reads one field of the context.
 *
 * @since 0.1.0
 * @category getters
 */
export const get = <Field extends keyof CallContext>(field: Field): Effect.Effect<CallContext[Field]> =>
  Effect.map(FiberRef.get(current), (context) => context[field])

/**
 * The fields that `locally` changes, and the listener.
 *
 * @since 0.1.0
 * @category models
 */
export interface Changes extends Partial<CallContext> {
  readonly listener?: CommandListener.CommandListener
}

/**
 * Runs an effect with some fields changed: `CallContext.locally({ listener: { onOutput } })`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const locally: {
  (changes: Changes): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, changes: Changes): Effect.Effect<A, E, R>
} = dual(2, <A, E, R>(self: Effect.Effect<A, E, R>, { listener, ...changes }: Changes) => {
  const within = Effect.locallyWith(self, current, (context) => ({ ...context, ...changes }))
  return listener === undefined ? within : Effect.locally(within, CommandListener.current, listener)
})

const encoder = new TextEncoder()

/**
 * Tells the listener the output of a Synapse command that ran without the shell. Waits until the listener has taken it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const tell = (result: CommandResult): Effect.Effect<void> =>
  Effect.flatMap(FiberRef.get(CommandListener.current), ({ onOutput }) =>
    onOutput === undefined
      ? Effect.void
      : Effect.promise(async () => {
          if (result.stdout !== "") await onOutput("stdout", encoder.encode(result.stdout))
          if (result.stderr !== "") await onOutput("stderr", encoder.encode(result.stderr))
        })
  )
