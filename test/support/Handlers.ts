/** Commands that show what a call of them is given. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ShellText from "../../src/bash/ShellText.js"
import type { CommandCall, CommandHandler } from "../../src/command/CommandHandler.js"
import { ExecutionFailed, InvalidUsage } from "../../src/domain/CommandError.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import type { FileError } from "../../src/files/Files.js"

const handler = (name: string, run: CommandHandler["run"], usesFiles = false): CommandHandler => ({
  name,
  summary: `Is ${name}.`,
  usage: name,
  usesFiles,
  run
})

const toFailure = ({ kind, message }: FileError) => new ExecutionFailed({ kind: "io", reason: `${kind}: ${message}` })

const inputOf = ({ stdin }: CommandCall) =>
  stdin === undefined ? Effect.succeed(null) : Stream.mkString(Stream.decodeText(stdin))

/** Its words, its directory and its input, as JSON. */
export const show = handler("show", (call) =>
  Effect.map(inputOf(call), (input) =>
    CommandResult.make({ stdout: `${JSON.stringify([call.name, ...call.args, call.cwd, input])}\n` })
  )
)

/** The same for every name that begins so. */
const prefixed: CommandHandler = { ...show, name: "mcp:*" }

/** Ends as its words say: `fail <exit code> <stdout> <stderr>`. */
const fail = handler("fail", ({ args: [code = "1", stdout = "", stderr = ""] }) =>
  Effect.succeed(CommandResult.make({ exitCode: Number(code), stdout, stderr }))
)

/** Is never used rightly. */
export const misuse = handler("misuse", () => new InvalidUsage({ reason: "misuse: no way\nUsage: misuse" }))

/** Counts the bytes of its input. */
const count = handler("count", ({ stdin = Stream.empty }) =>
  Effect.map(
    Stream.runFold(stdin, 0, (sum, chunk) => sum + chunk.length),
    (sum) => CommandResult.make({ stdout: `${sum}\n` })
  )
)

/** A file's bytes, as they come. Has the name of one of bash's own commands. */
export const read = handler(
  "read",
  ({ args: [path = ""], files, write }) =>
    Stream.runForEach(files.read(path), write).pipe(Effect.as(CommandResult.make()), Effect.mapError(toFailure)),
  true
)

/** Gives a file the content of its second word, or else of its input. */
export const write = handler(
  "write",
  ({ args: [path = "", text], files, stdin = Stream.empty }) =>
    files.write(path, text === undefined ? stdin : ShellText.encode(text)).pipe(
      Effect.as(CommandResult.make({ stdout: "written\n" })),
      Effect.catchTag("FileError", (error) => toFailure(error))
    ),
  true
)

/** Fails when half of the content is written. */
const half = handler(
  "half",
  ({ args: [path = ""], files }) =>
    files
      .write(
        path,
        Stream.concat(
          Stream.succeed(Buffer.alloc(100_000, "x")),
          Stream.fail(new ExecutionFailed({ kind: "io", reason: "half: no more" }))
        )
      )
      .pipe(
        Effect.as(CommandResult.make()),
        Effect.catchTag("FileError", (error) => toFailure(error))
      ),
  true
)

/** All of them. */
export const all: ReadonlyArray<CommandHandler> = [show, prefixed, fail, misuse, count, read, write, half]
