/**
 * Puts out the result of a tool's call.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { CommandCall } from "../../command/CommandHandler.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Slices from "../../domain/Slices.js"
import type { McpOutput } from "../../extension/mcp/McpClient.js"
import type * as Output from "./Mcp.output.js"
import type { Attachments } from "./Mcp.saved.js"

/** The most characters of a result that is put out without the shell, which keeps a longer one in a file. */
const most = 16_000

/** The most files that are saved of one result. */
const mostFiles = 100

/** The number of characters that are written at once. */
const stride = 256 * 1024

/**
 * Tests whether a result needs the shell: it holds files, or more text than is shown.
 *
 * @since 0.1.0
 */
export const needsShell = (parts: ReadonlyArray<Output.Part>): boolean => {
  let size = 0
  for (const part of parts) {
    if (part._tag === "File") return true
    size += part.text.length
  }
  return size > most
}

/**
 * Puts out a result. What a tool says of its failure goes to standard error, so that no pipe takes it for the answer.
 *
 * @since 0.1.0
 */
export const put = Effect.fnUntraced(function* (
  call: CommandCall,
  { isError = false }: Pick<McpOutput, "isError">,
  parts: ReadonlyArray<Output.Part>,
  attachments: Attachments
): Effect.fn.Return<CommandResult.CommandResult> {
  const images: Array<CommandResult.Image> = []
  let text = ""
  let files = 0
  for (const part of parts) {
    if (part._tag === "Text") text += part.text
    else if (++files <= mostFiles) {
      const saved = yield* attachments.save(call, part.attachment)
      text += `${saved.text}\n`
      if (saved.image !== undefined) images.push(saved.image)
    }
    // What fails is told whole at the end.
    if (!isError && text.length > stride && call.byShell === undefined) {
      yield* writeAll(call, text)
      text = ""
    }
  }
  if (files > mostFiles) {
    const left = files - mostFiles
    text += `[${left.toLocaleString("en")} more ${left === 1 ? "file" : "files"} not saved: of one result, ${mostFiles} are]\n`
  }
  const shown = images.length === 0 ? {} : { images }
  if (!isError) return CommandResult.make({ stdout: text, ...shown })
  const stderr = text.trim() === "" ? `${call.name}: the tool failed, and its server does not say why.\n` : text
  return CommandResult.make({ stderr, exitCode: ExitCode.failure, ...shown })
})

/** Writes a long text in pieces, none of which splits a character. */
const writeAll = (call: CommandCall, text: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const slices = new Slices.Slices()
    let at = 0
    const next: Effect.Effect<void> = Effect.suspend(() => {
      if (at >= text.length) return Effect.void
      const end = at + stride
      const isSplit = /[\ud800-\udbff]/.test(text[end - 1] ?? "") && /[\udc00-\udfff]/.test(text[end] ?? "")
      const piece = text.slice(at, isSplit ? end + 1 : end)
      at += piece.length
      return Effect.zipRight(call.write(Buffer.from(piece)), Effect.zipRight(slices.run(rest()), next))
    })
    return next
  })

function* rest(): Slices.Steps<void> {
  yield
}
