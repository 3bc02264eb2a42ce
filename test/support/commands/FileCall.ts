/** Calls of file commands over files in memory. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CommandHandler } from "../../../src/command/CommandHandler.js"
import * as Advice from "../../../src/domain/Advice.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"

export interface Ground {
  readonly files?: MemoryFiles.MemoryFiles
  readonly stdin?: ReadonlyArray<string | Uint8Array>
  readonly room?: number
}

/** The result, with all of the standard output in it that was put out before. */
export const run = (make: Effect.Effect<CommandHandler>, args: ReadonlyArray<string>, ground: Ground = {}) =>
  Effect.gen(function* () {
    const handler = yield* make
    const chunks: Array<Uint8Array> = []
    const { stdin } = ground
    const result = yield* handler.run(
      {
        name: handler.name,
        args,
        cwd: "/work",
        stdin: stdin === undefined ? undefined : Stream.fromIterable(stdin.map((part) => Buffer.from(part as string))),
        write: (chunk) => Effect.sync(() => void chunks.push(Buffer.from(chunk))),
        files: ground.files ?? MemoryFiles.make(),
        ...(ground.room === undefined ? undefined : { room: ground.room })
      },
      {}
    )
    const { exitCode, images, stderr, stdout } = CommandResult.say(result, Advice.model)
    const all = Buffer.concat(chunks).toString() + stdout
    return { exitCode, stderr, stdout: all, parts: chunks.length, ...(images === undefined ? undefined : { images }) }
  })

/** The message and exit code that it fails with. */
export const failed = (...args: Parameters<typeof run>) =>
  Effect.map(Effect.flip(run(...args)), ({ _tag, exitCode, message }) => ({ _tag, exitCode, message }))
