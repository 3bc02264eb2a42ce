/**
 * The caller's side of a call. It says which command it calls, and reads and writes files for that command with the
 * caller's rights.
 *
 * A call begins with a ticket, one byte that names a slot. Only one reader gets a byte. The slot's FIFOs carry the
 * call; `ask` stays open as long as the caller lives.
 */
import { quote } from "../../bash/Quote.js"
import * as BashText from "./BashText.js"

/**
 * The FIFOs of a slot, by the ends of their names. `ask`: the caller's request and replies. `answer`: what it is told
 * to do. `input`: its standard input. `up`: a file that it reads. `down`: data that it writes.
 */
export const channels = ["ask", "answer", "input", "up", "down"] as const

/** The files in the session's directory that both sides use. */
export const names = {
  tickets: "tickets",
  calls: "calls",
  call: "call",
  programs: "bin",
  program: "program",
  stub: "stub",
  rest: "rest",
  read: "read"
} as const

export const channelPath = (directory: string, slot: string, channel: (typeof channels)[number]): string =>
  `${directory}/slot-${slot}-${channel}`

/** The descriptor of `stub.bash` for a file's new content. */
export const temporaryFd = 44

const within = (directory: string, text: string) => text.replaceAll("@directory@", () => quote(directory))

/**
 * Makes the files in the session's directory. `call` is sourced to call a command, and continues as `stub`. `rest` is
 * sourced by `stub` for some calls only, since bash parses it anew each time.
 *
 * `program` is in the PATH under the name of each command. `read` is sourced by the function `read` if that can't
 * decide at once.
 */
export const texts = (directory: string): ReadonlyArray<readonly [name: string, text: string]> => [
  [names.call, within(directory, BashText.call)],
  [names.stub, within(directory, BashText.stub)],
  [names.rest, BashText.rest],
  [names.program, within(directory, BashText.program)],
  [names.read, within(directory, BashText.read).replaceAll("__SYNAPSE_CALL__", () => within(directory, called("read")))]
]

/** The body of a function that calls a command by its name. */
const called = (name: string) => BashText.functions.replace(/^\w+\(\) /, "").replace(' "$@" )\n', ` ${name} "$@" )`)

/**
 * Makes the functions by which a shell calls commands, since a function takes longer words than a program. `read` is
 * also a bash builtin, and its function decides between the two. It alone is exported, since programs have no `read`.
 */
export const functions = (directory: string, commands: ReadonlyArray<string>): string =>
  within(
    directory,
    [
      BashText.functions,
      ...commands.filter((name) => /^\w+$/.test(name) && name !== "read").map((name) => `${name}() ${called(name)}\n`),
      commands.includes("read") ? BashText.reader : "",
      // The shell itself starts the job, since it knows only its own children's exit codes.
      commands.includes("job:start")
        ? 'job:start() { \\builtin local __synapse; __synapse=$(__synapse_call job:start "$@") && \\builtin eval "$__synapse"; }\n'
        : "",
      ...["job:wait", "job:stop"].map((name) =>
        commands.includes(name) ? BashText.job.replaceAll("job:wait", name) : ""
      )
    ].join("")
  )
