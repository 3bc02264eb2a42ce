/**
 * Holds one connection for each server: opened when it is first needed, shared by all, opened anew where it has ended,
 * and closed where its entry has changed.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { McpEntry } from "./McpConfig.js"
import type { Gone, McpConnection, Usable } from "./McpConnection.js"

/**
 * The connections of all servers.
 *
 * @since 0.1.0
 * @category models
 */
export interface McpConnections {
  /**
   * Uses the connection of an entry. Where the server turns out to be gone before it was reached, it is connected to anew,
   * once.
   */
  readonly use: <A, E>(
    entry: Usable,
    use: (connection: McpConnection) => Effect.Effect<A, E | ExecutionFailed | Gone>
  ) => Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed>
  /** Closes the connections whose entries are not among these any more, or not as they were. */
  readonly retain: (entries: ReadonlyArray<McpEntry>) => Effect.Effect<void>
}

interface Slot {
  readonly fingerprint: string
  readonly opened: Deferred.Deferred<McpConnection, ExecutionFailed>
  /** The callers that wait for it; where the last one is interrupted, opening it is too. */
  waiting: number
  connection: McpConnection | undefined
  opening: Fiber.RuntimeFiber<void> | undefined
  scope: Scope.CloseableScope | undefined
}

/**
 * Makes connections with `open`, and closes all of them with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  open: (entry: Usable) => Effect.Effect<McpConnection, ExecutionFailed, Scope.Scope>
): Effect.Effect<McpConnections, never, Scope.Scope> =>
  Effect.gen(function* () {
    const own = yield* Effect.scope
    // A server can take a second to end: they end at the same time.
    const connections = yield* Scope.fork(own, ExecutionStrategy.parallel)
    const slots = new Map<string, Slot>()

    /** Runs until the connection is there or can't be: on its own, for each of its callers may leave. */
    const opening = (entry: Usable, slot: Slot) =>
      Effect.gen(function* () {
        const scope = yield* Scope.fork(connections, ExecutionStrategy.sequential)
        slot.scope = scope
        // The first caller forks it where it can't be interrupted itself.
        const exit = yield* Effect.exit(Effect.interruptible(Scope.extend(open(entry), scope)))
        if (Exit.isSuccess(exit)) slot.connection = exit.value
        else {
          forget(entry.server.name, slot)
          yield* Scope.close(scope, exit)
        }
        yield* Exit.isInterrupted(exit)
          ? Deferred.fail(slot.opened, changed(entry.server.name))
          : Deferred.done(slot.opened, exit)
      }).pipe(Effect.uninterruptible)

    const forget = (name: string, slot: Slot) => {
      if (slots.get(name) === slot) slots.delete(name)
    }

    const close = (name: string, slot: Slot) =>
      Effect.suspend(() => {
        forget(name, slot)
        const interrupted = slot.opening === undefined ? Effect.void : Fiber.interrupt(slot.opening)
        return Effect.zipRight(
          interrupted,
          Effect.suspend(() => (slot.scope === undefined ? Effect.void : Scope.close(slot.scope, Exit.void)))
        )
      }).pipe(Effect.uninterruptible)

    const isCurrent = (slot: Slot, entry: McpEntry | undefined): boolean =>
      entry !== undefined &&
      entry._tag !== "Unusable" &&
      slot.fingerprint === entry.fingerprint &&
      slot.connection?.isOpen() !== false

    const get = (entry: Usable) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const { name } = entry.server
          const old = slots.get(name)
          const found = old !== undefined && isCurrent(old, entry) ? old : undefined
          if (found?.connection !== undefined) return found.connection
          const slot: Slot = found ?? {
            fingerprint: entry.fingerprint,
            opened: Deferred.unsafeMake(FiberId.none),
            waiting: 0,
            connection: undefined,
            opening: undefined,
            scope: undefined
          }
          // Nothing yields between looking for it and this: two first calls find one slot.
          slots.set(name, slot)
          slot.waiting++
          if (found === undefined) {
            if (old !== undefined) yield* Effect.forkIn(close(name, old), connections)
            slot.opening = yield* Effect.forkIn(opening(entry, slot), connections)
          }
          return yield* restore(Deferred.await(slot.opened)).pipe(
            Effect.ensuring(
              Effect.suspend(() => {
                slot.waiting--
                return slot.waiting === 0 && slot.connection === undefined ? close(name, slot) : Effect.void
              })
            )
          )
        })
      )

    return {
      use: <A, E>(
        entry: Usable,
        use: (connection: McpConnection) => Effect.Effect<A, E | ExecutionFailed | Gone>
      ): Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed> => {
        const once = Effect.flatMap(get(entry), use)
        const isGone = (error: E | ExecutionFailed | Gone): error is Gone =>
          typeof error === "object" && error !== null && "_tag" in error && error._tag === "Gone"
        return once.pipe(
          Effect.catchIf(isGone, () => once),
          Effect.catchIf(
            isGone,
            ({ cause }) =>
              new ExecutionFailed({
                kind: "io",
                reason: `The MCP server ${entry.server.name} ends as soon as it is asked, and was tried twice.`,
                cause
              })
          )
        ) as Effect.Effect<A, Exclude<E, Gone> | ExecutionFailed>
      },
      retain: (entries) =>
        Effect.suspend(() => {
          const byName = new Map(entries.map((entry) => [entry.server.name, entry]))
          const stale = [...slots].filter(([name, slot]) => !isCurrent(slot, byName.get(name)))
          return stale.length === 0
            ? Effect.void
            : Effect.forEach(stale, ([name, slot]) => Effect.forkIn(close(name, slot), connections), { discard: true })
        })
    }
  })

const changed = (server: string) =>
  new ExecutionFailed({
    kind: "io",
    reason: `The entry of the MCP server ${server} has changed while it was being started: nothing was called.`
  })
