/**
 * The files and the standard input of a call, as its caller sees them.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { CommandInput } from "../domain/CommandInput.js"
import { FileError, type Files } from "../files/Files.js"
import type { FileTurns } from "../files/FileTurns.js"
import type { BridgeCall } from "./BridgeCall.js"
import { Gone } from "./FifoSink.js"
import type { FifoSource } from "./FifoSource.js"
import * as FileContent from "./FileContent.js"
import { Refused } from "./StubDialog.js"

/**
 * Returns the standard input of a call; it is opened when it is read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const standardInput = (call: BridgeCall): CommandInput =>
  Stream.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(
        Effect.catchAll(
          Effect.try(() => call.input()),
          () => Effect.interrupt
        ),
        (source) => Effect.sync(() => source.close())
      ),
      bytes
    )
  )

const bytes = (source: FifoSource): Stream.Stream<Uint8Array> =>
  Stream.repeatEffectChunkOption(
    Effect.flatMap(
      Effect.promise(() => source.next()),
      (chunks) => (chunks === undefined ? Effect.fail(Option.none()) : Effect.succeed(Chunk.unsafeFromArray(chunks)))
    )
  )

/** Converts a refusal into a FileError; where the caller has ended, interrupts the command, for nobody waits for it. */
const toFileError =
  (path: string) =>
  (error: Refused | Gone): Effect.Effect<never, FileError> =>
    error instanceof Refused
      ? new FileError({ path, kind: kinds.find((kind) => kind === error.kind) ?? "io", reason: error.reason })
      : Effect.interrupt

/** The most characters of names that are asked about at once: they must have room in a pipe. */
const mostAsked = 2000

function* groups(paths: ReadonlyArray<string>): Generator<ReadonlyArray<string>> {
  let group: Array<string> = []
  let size = 0
  for (const path of paths) {
    if (size + path.length > mostAsked && group.length > 0) {
      yield group
      group = []
      size = 0
    }
    group.push(path)
    size += path.length
  }
  if (group.length > 0) yield group
}

const kinds = ["missing", "directory", "denied", "special", "io", "partial"] as const

/**
 * Makes the files of a call; `turns` are those of all calls.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (call: BridgeCall, turns: FileTurns): Files => {
  /** The number of calls of `exclusive` that run. Within one, a write takes no further turn: it could wait for its own. */
  let held = 0
  /** The content of the file that this call has the turn of; undefined once that was read or written. */
  let seen: { readonly path: string; readonly content: Uint8Array } | undefined

  /** Runs an effect in the turns of files, which whoever waits for them gives up when its caller ends. */
  const inTurn = <A, E>(paths: ReadonlyArray<string>, effect: Effect.Effect<A, E>): Effect.Effect<A, E | FileError> =>
    held > 0 ? effect : Effect.flatMap(namesOf(paths), (names) => turns.takeAll(names, effect))

  /** Returns the names of the turns of files, in the one order in which all take theirs. Only so many are asked at once. */
  const namesOf = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
    const pathOf = new Map<string, string>()
    for (const some of groups(paths)) {
      const all = yield* ask(some[0] as string, () => call.turns(some))
      for (const [index, names] of all.entries()) {
        const path = some[index] as string
        const other = names.map((name) => pathOf.get(name)).find((known) => known !== undefined)
        if (other !== undefined) return yield* new FileError({ path, kind: "io", reason: `the same file as ${other}` })
        for (const name of names) pathOf.set(name, path)
      }
    }
    return [...pathOf.keys()].sort()
  })

  /** Runs an effect in the turn of a file, which it reads first: with one question instead of two, where nobody else has a turn. */
  const looking = <A, E>(path: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | FileError> =>
    Effect.suspend(() => {
      const before = turns.size === 0 ? turns.asked : undefined
      return Effect.flatMap(
        ask(path, () => call.look(path)),
        ({ content, names }) => {
          const ordered = [...names].sort()
          const noted = Effect.suspend(() => {
            // Who had a turn meanwhile may have changed it since it was read.
            const isCurrent = before !== undefined && turns.asked === before + ordered.length
            seen = isCurrent && content !== undefined ? { path, content } : undefined
            return effect
          })
          return turns.takeAll(ordered, noted)
        }
      )
    })

  const ask = <A>(path: string, question: () => Promise<A>) =>
    Effect.catchAll(
      Effect.tryPromise({ try: question, catch: (error) => (error instanceof Refused ? error : new Gone()) }),
      toFileError(path)
    )

  const discarded = (file?: FileContent.FileContent) => Effect.promise(() => call.discard(file).catch(() => {}))

  return {
    read: (path, options = {}) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const known = seen?.path === path && options.regular === true && !options.skipLines ? seen.content : undefined
          seen = undefined
          const source = known ?? (yield* ask(path, () => call.read(path, options)))
          if (source instanceof Uint8Array) return source.length === 0 ? Stream.empty : Stream.succeed(source)
          let isEnded = false
          const end = Effect.suspend(() => {
            if (isEnded) return Effect.void
            isEnded = true
            source.close()
            return ask(path, () => call.endRead())
          })
          yield* Effect.addFinalizer(() => Effect.ignore(end))
          return Stream.concat(bytes(source), Stream.execute(end))
        })
      ),
    write: (path, content, { mode = "" } = {}) => {
      seen = undefined
      if (content instanceof Uint8Array && FileContent.goesWith(path, content)) {
        const replaced = ask(path, () => call.replace(path, mode, content))
        return inTurn([path], Effect.uninterruptible(Effect.tapError(replaced, () => discarded())))
      }
      const chunks = content instanceof Uint8Array ? Stream.succeed(content) : content
      return Effect.acquireUseRelease(
        ask(path, () => call.begin(path, mode)),
        (file) =>
          // Not `runForEachWhile`, which keeps all chunks in memory until its end in effect 3.22.
          Stream.takeUntilEffect(chunks, (chunk) => ask(path, async () => !(await file.write(chunk)))).pipe(
            Stream.runDrain,
            Effect.zipRight(ask(path, () => file.complete())),
            Effect.zipRight(inTurn([path], Effect.uninterruptible(ask(path, () => call.commit(file)))))
          ),
        (file, exit) => (Exit.isSuccess(exit) ? Effect.void : discarded(file))
      )
    },
    writeAll: (changes) => {
      const paths = changes.map(({ path }) => path)
      const ready = Effect.forEach(
        changes,
        ({ content, mode = "", path }) =>
          ask(path, () => (content === undefined ? call.doom(path) : call.stage(path, mode, content))),
        { discard: true }
      )
      const apply = Effect.catchAll(
        ask("", () => call.apply()),
        ({ kind, reason }) => {
          const [, index, what] = /^(\d+)\/(.*)$/s.exec(reason) ?? []
          return new FileError({ path: paths[Number(index)] ?? "", kind, reason: what ?? reason })
        }
      )
      return Effect.onExit(Effect.zipRight(ready, inTurn(paths, Effect.uninterruptible(apply))), (exit) =>
        Exit.isSuccess(exit) ? Effect.void : discarded()
      )
    },
    exit: (path) =>
      Effect.map(
        ask(path, () => call.exit(path)),
        (link) => (link === "" ? undefined : link)
      ),
    mode: (path) => ask(path, () => call.mode(path)),
    exclusive: (paths, effect) => {
      const holding = Effect.suspend(() => {
        held++
        return Effect.ensuring(
          effect,
          Effect.sync(() => void held--)
        )
      })
      return typeof paths === "string" && held === 0 ? looking(paths, holding) : inTurn([paths].flat(), holding)
    }
  }
}
