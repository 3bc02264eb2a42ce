/**
 * Tells a program in the sandbox's own pseudo-terminal that the person's terminal has another size.
 *
 * A loop within the session asks for the next size by a command of ours, for nothing of the person's terminal itself may
 * reach the sandbox.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CommandHandler } from "../../command/CommandHandler.js"
import type { Terminal } from "../../terminal/Terminal.js"

/** The name of the command that waits for the next size. */
const command = "synapse:resized"

/**
 * Makes the handler of that command. It answers `rows 24 cols 80` as soon as the size is another one than its words say.
 */
export const make = (terminal: Context.Tag.Service<Terminal>): CommandHandler => ({
  name: command,
  summary: "Waits until the terminal has another size.",
  usage: `${command} rows <rows> cols <columns>`,
  isUnlisted: true,
  run: ({ args }) =>
    Effect.map(
      Effect.async<string>((resume) => {
        const look = () => {
          const size = words(terminal)
          if (size !== args.join(" ")) resume(Effect.succeed(size))
        }
        const stop = terminal.onResize(look)
        look()
        return Effect.sync(stop)
      }),
      (size) => ({ stdout: `${size}\n`, stderr: "", exitCode: 0 })
    )
})

/** Returns the size of the terminal, as the words of `stty`. */
export const words = ({ size }: Context.Tag.Service<Terminal>): string => {
  const { columns, rows } = size()
  return `rows ${rows} cols ${columns}`
}

/** Returns lines of bash that set the size of the terminal they run in, and go on doing so until it ends. */
export const script = (size: string): string =>
  [
    `stty ${size}`,
    "{",
    "  trap '' INT QUIT TSTP",
    `  size='${size}'`,
    `  while size=$(${command} $size </dev/null) && [[ $size == rows* ]]; do stty $size </dev/tty; done`,
    "} >/dev/null 2>&1 &"
  ].join("\n")
