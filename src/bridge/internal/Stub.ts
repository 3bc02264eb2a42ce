/**
 * The caller's side of a call: it says which command it calls, and reads and writes files on that command's behalf,
 * with the rights of the caller.
 *
 * A call begins with a ticket, one byte that names a slot: a byte is read by one reader only. The slot's FIFOs carry
 * the call; `ask` is open as long as the caller lives.
 */
import { quote } from "../../bash/Quote.js"
import * as BashText from "./BashText.js"

/**
 * The FIFOs of a slot, by the ends of their names. `ask`: the caller's request and replies; `answer`: what it is told
 * to do; `input`: its standard input; `up`: the file that it reads; `down`: what it writes.
 */
export const channels = ["ask", "answer", "input", "up", "down"] as const

/** The names of the files, within the session's directory, through which the two sides meet. */
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

/** Returns the path of a slot's FIFO. */
export const channelPath = (directory: string, slot: string, channel: (typeof channels)[number]): string =>
  `${directory}/slot-${slot}-${channel}`

/** The descriptor of `stub.bash` for the new content of a file. */
export const temporaryFd = 44

const within = (directory: string, text: string) => text.replaceAll("@directory@", () => quote(directory))

/**
 * Makes the files of a session's directory: `call`, which a shell sources to call a command, and which continues as `stub`;
 * what `stub` sources for some calls only, since bash reads it anew at each; `program`, which the PATH has under the name
 * of each command; and `read`, which the function of that name sources where it can't decide at once.
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
 * Makes the functions by which a shell calls commands: a function takes longer words than a program can. `read` also is
 * a builtin of bash, and its function decides between the two; it alone is exported, for programs have no `read`.
 */
export const functions = (directory: string, commands: ReadonlyArray<string>): string =>
  within(
    directory,
    [
      BashText.functions,
      ...commands.filter((name) => /^\w+$/.test(name) && name !== "read").map((name) => `${name}() ${called(name)}\n`),
      commands.includes("read") ? BashText.reader : "",
      // The shell itself starts the job: it knows the exit codes of its own children alone.
      commands.includes("job:start")
        ? 'job:start() { \\builtin local __synapse; __synapse=$(__synapse_call job:start "$@") && \\builtin eval "$__synapse"; }\n'
        : ""
    ].join("")
  )
