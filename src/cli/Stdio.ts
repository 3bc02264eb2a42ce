/** The standard streams of the program, byte for byte. */
import * as Fs from "node:fs"
import * as Tty from "node:tty"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Attempt from "../domain/Attempt.js"
import type { CommandListener } from "../domain/CommandListener.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"

/** Reads and writes the standard streams of the program. */
export class Stdio extends Context.Tag("synapse/Stdio")<
  Stdio,
  {
    /**
     * Writes a chunk, in the order of the calls, and never two of them mixed. The bytes may be changed afterwards.
     * Where the reader is slower, it returns a promise: write no more before that is settled.
     */
    readonly write: (stream: "stdout" | "stderr", chunk: Uint8Array | string) => void | Promise<void>
    /** Reads the next bytes of stdin; undefined at its end, which an error is as well. */
    readonly read: Effect.Effect<Uint8Array | undefined>
    /** Does the same as `read`, for what is not written with Effects. */
    readonly pull: () => Promise<Uint8Array | undefined>
    /** Tests whether there may be input: stdin is no terminal, no directory, not closed, and not `/dev/null`. */
    readonly hasInput: () => boolean
    /** Tests whether a person reads the stream, so that colours may be used. */
    readonly isTerminal: (stream: "stdout" | "stderr") => boolean
    /** Where a program hears the output of a command, and gets its result as data, apart from the streams. */
    readonly typed?: {
      readonly onOutput: NonNullable<CommandListener["onOutput"]>
      readonly onResult: (result: ToolReturn) => void
    }
  }
>() {}

/** Makes the process's own streams. A stream that nobody reads any more ends the process (`bin.ts`). */
export const makeNode = (): Context.Tag.Service<Stdio> => {
  let stdin: AsyncIterator<Uint8Array> | undefined
  const draining = new Map<NodeJS.WriteStream, Promise<void>>()

  const drained = (stream: NodeJS.WriteStream): Promise<void> => {
    const known = draining.get(stream)
    if (known !== undefined) return known
    const promise = new Promise<void>((resolve) => {
      const done = () => {
        stream.off("drain", done).off("close", done)
        draining.delete(stream)
        resolve()
      }
      // A reader that has gone causes no `drain` any more.
      stream.on("drain", done).on("close", done)
    })
    draining.set(stream, promise)
    return promise
  }

  const pull = async (): Promise<Uint8Array | undefined> => {
    try {
      stdin ??= process.stdin[Symbol.asyncIterator]()
      const { done, value } = await stdin.next()
      return done === true ? undefined : value
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      process.stderr.write(`synapse: stdin ends here, for it can't be read: ${reason}\n`)
      return undefined
    }
  }

  return {
    write: (name, chunk) => {
      const stream = process[name]
      const taken = stream.write(typeof chunk === "string" ? chunk : Buffer.from(chunk))
      return taken ? undefined : drained(stream)
    },
    read: Effect.promise(pull),
    pull,
    hasInput: () =>
      Attempt.orElse(() => {
        const input = Fs.fstatSync(0)
        if (!input.isCharacterDevice()) return !input.isDirectory()
        return input.rdev !== Fs.statSync("/dev/null").rdev && !Tty.isatty(0)
      }, false),
    // Accessing the streams would make them, which takes a millisecond or two.
    isTerminal: (name) => Tty.isatty(name === "stdout" ? 1 : 2)
  }
}
