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
     * Writes chunks whole, in the order of the calls. The caller may reuse the bytes afterwards. If the reader is slower, it
     * returns a promise: write no more until that settles.
     */
    readonly write: (stream: "stdout" | "stderr", chunk: Uint8Array | string) => void | Promise<void>
    /** Reads the next bytes of stdin. Undefined at its end or after an error. */
    readonly read: Effect.Effect<Uint8Array | undefined>
    /** Does the same as `read`, for code without Effect. */
    readonly pull: () => Promise<Uint8Array | undefined>
    /** Tests whether there may be input. Returns false if stdin is a terminal, a directory, `/dev/null`, or closed. */
    readonly hasInput: () => boolean
    readonly isTerminal: (stream: "stdout" | "stderr") => boolean
    /** Passes a command's output and result to a program as data, apart from the streams. */
    readonly typed?: {
      readonly onOutput: NonNullable<CommandListener["onOutput"]>
      readonly onResult: (result: ToolReturn) => void
    }
  }
>() {}

/** Makes the process's own streams. If their reader is gone, the process ends (`bin.ts`). */
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
      // If the reader is gone, `drain` never comes.
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
    // Not `process.stdout.isTTY`: creating the streams takes a millisecond or two.
    isTerminal: (name) => Tty.isatty(name === "stdout" ? 1 : 2)
  }
}
