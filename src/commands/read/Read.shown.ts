/**
 * The output of one call of `read`, over all of its files.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { CommandCall } from "../../command/CommandHandler.js"
import * as Advice from "../../domain/Advice.js"
import type { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as FileFailure from "../../files/FileFailure.js"

/** The number of characters of output that are collected before they are written. */
const held = 128 * 1024

/**
 * Collects what a call shows, and holds only the output that it writes next.
 *
 * @since 0.1.0
 */
export class Shown {
  /** The number of characters that were put out. */
  size = 0
  private last = ""
  /** The header of a file of which nothing is put out yet. */
  private header = ""
  private exitCode: number = ExitCode.success
  private readonly advice: Array<Advice.Advice> = []
  private readonly images: Array<CommandResult.Image> = []

  constructor(readonly call: Pick<CommandCall, "files" | "room" | "write">) {}

  /** Begins with a file, one of several; its header is put out with it. */
  begin(path: string): void {
    this.header = `${this.size === 0 ? "" : "\n"}==> ${FileFailure.printable(path)} <==\n`
    this.size += this.header.length
  }

  /** Gives up the file that it has begun with. */
  drop(): void {
    this.size -= this.header.length
    this.header = ""
  }

  /** Puts out text. */
  put(text: string): Effect.Effect<void> {
    this.size += text.length
    this.last += this.header + text
    this.header = ""
    if (this.last.length < held) return Effect.void
    const { last } = this
    this.last = ""
    return this.call.write(Buffer.from(last))
  }

  /** Puts out the text about an image, and gives the image to a reader who can see it. */
  show(text: string, image: CommandResult.Image | undefined): Effect.Effect<void> {
    if (image !== undefined && this.call.room !== undefined) this.images.push(image)
    return this.put(text)
  }

  /** Adds a line to standard error. */
  note(line: Advice.Advice): void {
    this.advice.push(line)
  }

  /** Says that a file could not be shown; the others are. */
  fail({ advice, reason }: ExecutionFailed | InvalidUsage): void {
    this.drop()
    this.exitCode = ExitCode.failure
    this.advice.push(Advice.line`${reason}`, ...advice)
  }

  /** The result of the call. */
  get result(): CommandResult.CommandResult {
    const { advice, exitCode, images, last } = this
    return CommandResult.make({ stdout: last, advice, exitCode, ...(images.length === 0 ? undefined : { images }) })
  }
}
