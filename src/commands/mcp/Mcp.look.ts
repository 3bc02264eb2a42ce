/**
 * Completes what is known of the servers' tools, for who searches them.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Described } from "../../command/CommandHandler.js"
import type { CommandError } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { McpClient, McpServer } from "../../extension/mcp/McpClient.js"
import * as McpName from "../../extension/mcp/McpName.js"
import * as List from "./Mcp.list.js"

/** Milliseconds for which a server that could not be asked is not asked again. */
const pause = 60_000

/** Milliseconds that a search waits for a server; one that takes longer goes on starting, for the next search. */
const patience = 3000

/** The most characters of a reason. */
const longest = 200

/**
 * Makes the function that asks all servers at the same time: those of which nothing is known, or all of them anew. One
 * that has failed is asked again after a minute, or where it is asked for.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (client: Context.Tag.Service<McpClient>): Effect.Effect<NonNullable<Described["look"]>> =>
  Effect.sync(() => {
    const failed = new Map<string, { readonly note: string; readonly at: number }>()
    /** The notes on what can't be used; asking again changes nothing, so each is said once. */
    let said: ReadonlySet<string> = new Set()
    const asked = new Map<string, Fiber.RuntimeFiber<unknown, CommandError>>()

    /** Asks a server, or waits for whoever asks it already. */
    const tools = Effect.fnUntraced(function* (name: string, refresh: boolean) {
      const fiber =
        asked.get(name) ??
        (yield* client
          .tools(name, { refresh })
          .pipe(Effect.ensuring(Effect.sync(() => asked.delete(name))), Effect.forkDaemon))
      // It may have ended before it was noted.
      if (fiber.unsafePoll() === null) asked.set(name, fiber)
      return yield* Effect.timeoutOption(Fiber.join(fiber), patience)
    })

    const ask = Effect.fnUntraced(function* (name: string, refresh: boolean) {
      const say = (reason: string) => unsearched([name], reason)
      const now = yield* Clock.currentTimeMillis
      const last = failed.get(name)
      if (!refresh && last !== undefined && now - last.at < pause) return [last.note]
      const note = yield* Effect.match(tools(name, refresh), {
        onSuccess: Option.match({
          onNone: () => say(`it is still starting after ${patience / 1000} s; search again later`),
          onSome: () => undefined
        }),
        onFailure: ({ message }) => say(message)
      })
      failed.delete(name)
      if (note === undefined) return []
      if (!asked.has(name)) failed.set(name, { note, at: now })
      return [note]
    })

    return ({ refresh }) =>
      Effect.flatMap(client.servers, (servers) => {
        const lasting = unusable(servers)
        const unsaid = lasting.filter((note) => refresh || !said.has(note))
        said = new Set(lasting)
        const usable = servers.filter(({ isFile, problem }) => isFile !== true && problem === undefined)
        return Effect.map(
          Effect.forEach(usable, ({ name }) => ask(name, refresh), { concurrency: "unbounded" }),
          (notes) => [...unsaid, ...notes.flat()]
        )
      })
  })

const unsearched = (names: ReadonlyArray<string>, reason: string): string =>
  `${names.map((name) => McpName.toWord(name)).join(", ")} can't be searched: ${ForeignText.line(reason, longest)}`

/** Says which servers and files can't be used, each reason once. */
const unusable = (servers: ReadonlyArray<McpServer>): ReadonlyArray<string> => {
  const files = servers.flatMap(({ isFile, name, problem = "" }) =>
    isFile === true ? [`${ForeignText.line(name, longest)} can't be used: ${ForeignText.line(problem, longest)}`] : []
  )
  return [...files, ...[...List.problems(servers)].map(([problem, of]) => unsearched(of, problem))]
}
