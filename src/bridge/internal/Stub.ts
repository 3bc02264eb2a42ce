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
  files: "files",
  several: "several",
  rest: "rest",
  writer: "writer",
  writing: "writer.pl",
  read: "read"
} as const

/** Returns the path of a slot's FIFO. */
export const channelPath = (directory: string, slot: string, channel: (typeof channels)[number]): string =>
  `${directory}/slot-${slot}-${channel}`

/** The descriptor of `stub.bash` for the new content of a file. */
export const temporaryFd = 44

const within = (directory: string, text: string) => text.replaceAll("@directory@", () => quote(directory))

/** Makes the file `call`, which a shell sources to call a command. */
export const call = (directory: string): string => within(directory, BashText.call)

/** Makes the program in the PATH that calls the command under whose name it lies there. */
export const program = (directory: string): string => within(directory, BashText.program)

/** Makes the file `stub`, which `call` continues with: it does what it is told, until it is told to end. */
export const stub = (directory: string): string => within(directory, BashText.stub)

/** Makes the file `files`, which `stub` sources where a file is written. */
export const files = (): string => BashText.files

/** Makes the file `several`, which `stub` sources where several files are written at once. */
export const several = (): string => BashText.several

/** Makes the file `rest`, which `stub` sources for what few calls need: bash reads the stub anew at each call. */
export const rest = (): string => BashText.rest

/** The numbers of the system calls `llistxattr` and `faccessat` on Linux. */
const systemCalls: Readonly<Record<string, string>> = { arm64: "12, 48", x64: "195, 269" }

/**
 * Makes the file `writer.pl`, which takes the place of `stub` where a file is written and perl is there; undefined on other
 * systems than it is made for.
 */
export const writer = (platform = process.platform, arch: string = process.arch): string | undefined => {
  const numbers = platform === "linux" && Object.hasOwn(systemCalls, arch) ? systemCalls[arch] : undefined
  return numbers === undefined ? undefined : BashText.writer.replace("@numbers@", numbers)
}

/** Makes the file `read`, which the function of that name sources where it can't decide at once. */
export const read = (directory: string): string =>
  within(
    directory,
    BashText.read.replaceAll("__SYNAPSE_CALL__", () => called("read"))
  )

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
      commands.includes("read") ? BashText.reader : ""
    ].join("")
  )
