/**
 * Puts together the prompt of `synapse agent`: what is written on the command line, and what comes from stdin.
 *
 * @since 0.1.0
 */
import { isUtf8 } from "node:buffer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { print } from "./Answer.js"
import { WrongUsage } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

/** The most bytes of stdin. */
const most = 1024 * 1024

/** How long the first byte of stdin is waited for, where the command line has a prompt already. */
const patience = Duration.seconds(3)

const tooMuch = new WrongUsage({
  message: `stdin holds more than ${most} bytes. Write it to a file, and name the file in the prompt.`
})

/** Reads stdin to its end; none where nothing comes of it in time. */
const readAll = (isNeeded: boolean): Effect.Effect<Option.Option<ReadonlyArray<Uint8Array>>, WrongUsage, Stdio> =>
  Effect.gen(function* () {
    const { read } = yield* Stdio
    const first = yield* isNeeded ? Effect.map(read, Option.some) : Effect.timeoutOption(read, patience)
    if (Option.isNone(first)) return Option.none()
    const chunks: Array<Uint8Array> = []
    let length = 0
    for (let chunk = first.value; chunk !== undefined; chunk = yield* read) {
      length += chunk.length
      if (length > most) return yield* tooMuch
      chunks.push(Buffer.from(chunk))
    }
    return Option.some(chunks)
  })

/** Reads the text of stdin; empty where there is none. */
const readText = (isNeeded: boolean): Effect.Effect<string, WrongUsage, Stdio> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    if (!stdio.hasInput()) return ""
    const chunks = yield* readAll(isNeeded)
    if (Option.isNone(chunks)) {
      yield* print(
        "stderr",
        "synapse: nothing came from stdin within 3 seconds: going on without it. (</dev/null spares the wait.)"
      )
      return ""
    }
    const bytes = Buffer.concat(chunks.value)
    if (!isUtf8(bytes))
      return yield* new WrongUsage({
        message: "stdin is not UTF-8. Write it to a file, and name the file in the prompt."
      })
    return new TextDecoder().decode(bytes).trim()
  })

/**
 * Returns the prompt: the written one, stdin, or stdin below the written one; empty where there is neither. Where nothing
 * is written, stdin is waited for.
 *
 * @param mayBeEmpty true where no prompt is needed, so that stdin is not waited for
 * @since 0.1.0
 */
export const read = (written: string, mayBeEmpty: boolean): Effect.Effect<string, WrongUsage, Stdio> =>
  Effect.map(readText(written === "" && !mayBeEmpty), (text) => {
    if (text === "") return written
    return written === "" ? text : `${written}\n\n<stdin>\n${text}\n</stdin>`
  })
