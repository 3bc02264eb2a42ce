/**
 * The caller's side of a call: it says what is called, and does to files what the command asks for, with the rights of whoever
 * called it.
 *
 * A call begins with a ticket, one byte that names a slot: a byte is read by one reader only. The slot's FIFOs carry the call;
 * `ask` is open as long as the caller lives.
 *
 * @since 0.1.0
 */
import { quote } from "../bash/Quote.js"
import * as BashText from "./BashText.js"

/**
 * The FIFOs of a slot, by the ends of their names. `ask`: what the caller says; `answer`: what it is told to do; `input`: its
 * standard input; `up` and `down`: what it reads and what it writes.
 *
 * @since 0.1.0
 */
export const channels = ["ask", "answer", "input", "up", "down"] as const

/**
 * Where the two sides meet, within the session's directory.
 *
 * @since 0.1.0
 */
export const names = {
  tickets: "tickets",
  calls: "calls",
  call: "call",
  programs: "bin",
  program: "program",
  stub: "stub"
} as const

/**
 * The path of a slot's FIFO.
 *
 * @since 0.1.0
 */
export const channelPath = (directory: string, slot: string, channel: (typeof channels)[number]): string =>
  `${directory}/slot-${slot}-${channel}`

/**
 * The descriptor of the stub's (`stub.bash`) that what is poured into a file goes to.
 *
 * @since 0.1.0
 */
export const temporaryFd = 44

const within = (directory: string, text: string) => text.replaceAll("@directory@", () => quote(directory))

/**
 * Makes the file `call`, which a shell sources to call a command.
 *
 * @since 0.1.0
 * @category texts
 */
export const call = (directory: string): string => within(directory, BashText.call)

/**
 * Makes the program that calls the command under whose name it lies in the PATH.
 *
 * @since 0.1.0
 * @category texts
 */
export const program = (directory: string): string => within(directory, BashText.program)

/**
 * Makes the file `stub`, which `call` goes on with: it does what it is told to, until it is told to end.
 *
 * @since 0.1.0
 * @category texts
 */
export const stub = (directory: string): string => within(directory, BashText.stub)

/**
 * Makes the functions by which a shell calls commands: for a name with a function of its own, a command's words may be longer
 * than a program's. `read` has the name of one of bash's own commands, and goes on to be both.
 *
 * @since 0.1.0
 * @category texts
 */
export const functions = (directory: string, commands: ReadonlyArray<string>): string =>
  [
    within(directory, BashText.functions),
    ...commands
      .filter((name) => /^\w+$/.test(name) && name !== "read")
      .map((name) => `${name}() { __synapse_call ${name} "$@"; }\n`),
    commands.includes("read") ? within(directory, BashText.read) : ""
  ].join("")
