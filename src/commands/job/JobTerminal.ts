/** `job:start`, `job:send` and `job:screen`, for programs that need input while they run. */
import * as Vm from "node:vm"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Quote from "../../bash/Quote.js"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import { ExecutionFailed } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import type { Terminal } from "../../domain/JobStatus.js"
import * as Yield from "../../domain/Yield.js"
import type { Jobs } from "../../session/Jobs.js"
import * as Job from "./Job.js"

const usualSize = "80x24"
const mostCells = 1000

const sizeOf = (text: string): Option.Option<Terminal> => {
  const [, columns = 0, rows = 0] = (/^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(text) ?? []).map(Number)
  return Option.liftPredicate(
    { columns, rows },
    () => Math.min(columns, rows) > 0 && Math.max(columns, rows) <= mostCells
  )
}

const startGrammar = CommandGrammar.described({
  name: "job:start",
  summary: "Starts a job whose input stays open, or that has a terminal.",
  usage: "job:start [--pty [COLSxROWS]] [--name NAME] [--timeout MS] [--] <command>",
  more: `
  The command is one argument, or several words. job:send writes to it. Its output is what job:output prints.

OPTIONS
  --pty [COLSxROWS]   Give it a terminal, ${usualSize} by default: for what asks, edits or draws. job:screen shows it.
  --name NAME         The name that it has in lists, in place of the command.
  --timeout MS        End it after that time; its exit code is 124 then.

EXAMPLES
  job:start python3 -i
  job:start --pty 'git rebase -i HEAD~3'
`,
  config: {
    pty: Parameter.option("pty").pipe(
      Parameter.filterMap(sizeOf, `--pty takes a size such as ${usualSize}, each side at most ${mostCells}`),
      Parameter.optional
    ),
    name: Parameter.option("name").pipe(Parameter.withPlaceholder("NAME"), Parameter.optional),
    timeout: Parameter.count("timeout", 1).pipe(Parameter.optional),
    command: Parameter.repeated(Parameter.operand("command"))
  }
})

/** Inserts `--` before the command's first word, so that its options stay its own. `--pty` may lack a value. */
const withEnd = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own: Array<string> = []
  let at = 0
  for (; args[at]?.startsWith("--") === true && args[at] !== "--"; at++) {
    const word = args[at] as string
    const next = args[at + 1]
    if (word === "--pty") own.push(`--pty=${next !== undefined && /^\d+x\d+$/.test(next) ? args[++at] : usualSize}`)
    else if ((word === "--name" || word === "--timeout") && next !== undefined) own.push(word, args[++at] as string)
    else own.push(word)
  }
  return [...own, "--", ...args.slice(args[at] === "--" ? at + 1 : at)]
}

/** Limits the time of a command. */
const within = (milliseconds: number | undefined, command: string, options = ""): string =>
  milliseconds === undefined ? command : `timeout ${options}-k 2 ${milliseconds / 1000} bash -c ${Quote.quote(command)}`

/**
 * Writes a command that runs on its own terminal. Ctrl-C ends its programs there, which it does not in the background.
 */
const onTerminal = ({ columns, rows }: Terminal, command: string): string => {
  // The session sets GIT_EDITOR so that git opens no editor. Here an editor works.
  const editor = '[ "$GIT_EDITOR" != true ] || unset GIT_EDITOR'
  const run = `${editor}; exec env --default-signal=INT,QUIT TERM=xterm-256color ${command}`
  return `SHELL=/bin/bash script -qfec ${Quote.quote(`stty rows ${rows} cols ${columns}; ${run}`)} /dev/null`
}

const startHandler = Job.make(startGrammar, (jobs, { command, name, pty, timeout }) => {
  const [first] = command
  if (first === undefined || first.trim() === "") return CommandGrammar.misuse(startGrammar, "<command> is missing.")
  const text = command.length === 1 ? first : command.map(Quote.word).join(" ")
  const terminal = Option.getOrUndefined(pty)
  const limit = Option.getOrUndefined(timeout)
  return Effect.map(jobs.open({ name: Option.getOrElse(name, () => text), terminal }), (path) => {
    const line =
      terminal === undefined
        ? within(limit, text)
        : onTerminal(
            terminal,
            within(limit, limit === undefined ? `bash -c ${Quote.quote(text)}` : text, "--foreground ")
          )
    return CommandResult.make({ stdout: `{ ${line}\n} <${Quote.quote(path)} &` })
  })
})

/** The handler returns a shell text that starts the job. For help, the text prints it. */
export const start: Effect.Effect<CommandHandler, never, Jobs> = Effect.map(startHandler, (handler) => ({
  ...handler,
  usesFiles: true,
  run: (call, options) => {
    const args = withEnd(call.args)
    const help = CommandGrammar.helpFor(startGrammar, args)
    return help === undefined
      ? handler.run({ ...call, args }, options)
      : Effect.succeed(CommandResult.make({ stdout: `\\builtin printf %s ${Quote.quote(help)}` }))
  }
}))

const keys: Readonly<Record<string, string>> = {
  Enter: "\r",
  Tab: "\t",
  Escape: "\x1b",
  Esc: "\x1b",
  Space: " ",
  Backspace: "\x7f",
  Up: "\x1b[A",
  Down: "\x1b[B",
  Right: "\x1b[C",
  Left: "\x1b[D",
  Home: "\x1b[H",
  End: "\x1b[F",
  Insert: "\x1b[2~",
  Delete: "\x1b[3~",
  PageUp: "\x1b[5~",
  PageDown: "\x1b[6~"
}

/** Reads a key's name as in tmux: `Enter`, `Up`, `C-c`, `M-x`, or one character. */
const keyOf = (name: string): Option.Option<string> => {
  const [, modifier, letter = ""] = /^(C|M)-(.)$/s.exec(name) ?? []
  if (modifier === "M") return Option.some(`\x1b${letter}`)
  if (modifier === "C" && /[@-_a-z]/.test(letter)) {
    return Option.some(String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64))
  }
  return [...name].length === 1
    ? Option.some(name)
    : Option.fromNullable(Object.hasOwn(keys, name) ? keys[name] : undefined)
}

const sendGrammar = CommandGrammar.described({
  name: "job:send",
  summary: "Writes to the input of a job that job:start has started, or presses keys on its terminal.",
  usage: "job:send <N> [<text>] [--key KEY]... [--eof]",
  more: `
  The text is sent as it is, without an Enter. Keys follow it. Then job:wait N --idle 200 waits for the answer.

OPTIONS
  --key KEY   Enter, Tab, Escape, Space, Backspace, Delete, Up, Down, Left, Right, Home, End, PageUp, PageDown, C-c, M-x.
              May be repeated. Without a terminal there is only Enter.
  --eof       End its input. On a terminal: Ctrl-D.

EXAMPLES
  job:send 1 'print(6 * 7)' --key Enter
  job:send 2 --key C-c
`,
  config: {
    id: Job.id,
    text: Parameter.operand("text").pipe(Parameter.withDefault("")),
    keys: Parameter.repeated(
      Parameter.option("key").pipe(
        Parameter.withPlaceholder("KEY"),
        Parameter.filterMap(
          (name) => Option.map(keyOf(name), (typed) => ({ name, typed })),
          `--key must be one of ${Object.keys(keys).join(", ")}, C-c or another letter, M-x, or one character`
        )
      )
    ),
    eof: Parameter.flag("eof")
  }
})

export const send = Job.make(sendGrammar, (jobs, { eof, id, keys, text }) => {
  if (text === "" && keys.length === 0 && !eof)
    return CommandGrammar.misuse(sendGrammar, "<text>, --key or --eof is missing.")
  return Effect.gen(function* () {
    const { input } = yield* jobs.status(id)
    const isTerminal = input === "terminal"
    const typed = keys.map(({ name, typed }) => (name === "Enter" && !isTerminal ? "\n" : typed)).join("")
    const status = yield* jobs.send(id, {
      bytes: new TextEncoder().encode(`${text}${typed}${eof && isTerminal ? "\x04" : ""}`),
      keys: keys.some(({ name }) => name !== "Enter"),
      end: eof && !isTerminal
    })
    const isLine = eof || keys.length > 0 || text.endsWith("\n")
    return Job.told([`sent to ${Job.named(status)}${isLine ? "" : ", without an Enter: --key Enter sends one"}`])
  })
})

const screenGrammar = CommandGrammar.described({
  name: "job:screen",
  summary: "Shows the terminal of a job that job:start --pty has started.",
  usage: "job:screen <N>",
  config: { id: Job.id }
})

/** The characters drawn at once, and the most milliseconds that they may take, since some sequences take forever. */
const stride = 16_384
const longestStride = 1000

/** The most characters drawn, from the end on. What a program wrote earlier is mostly overdrawn. */
const mostDrawn = 131_072

/** The most characters of a cell that may be repeated. Longer ones could fill the memory. */
const longestRepeated = 16

/** Draws what a program wrote to a terminal. Returns the rows, and a line with the cursor's position. */
const draw = (written: string, { columns, rows }: Terminal) =>
  Effect.gen(function* () {
    const { default: Xterm } = yield* Effect.promise(() => import("@xterm/headless"))
    const terminal = new Xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0, logLevel: "off" })
    const lineOf = (row: number) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)
    terminal.parser.registerCsiHandler({ final: "b" }, ([count]) => {
      const { cursorX, cursorY } = terminal.buffer.active
      // A wide character is stored in the first of its two cells.
      const lengths = [1, 2].map(
        (back) =>
          lineOf(cursorY)
            ?.getCell(cursorX - back)
            ?.getChars().length ?? 0
      )
      return Number(count) > mostCells || Math.max(...lengths) > longestRepeated
    })
    // Only synchronous drawing can be stopped by the time limit.
    const { _core: core } = terminal as unknown as { readonly _core: { writeSync(text: string): void } }
    // Do not start within a line or an escape sequence.
    const before = Math.max(0, written.length - mostDrawn)
    const start = before === 0 ? 0 : before + Math.max(0, written.slice(before).search(/[\n\x1b]/))
    for (let at = start; at < written.length; at += stride) {
      const run = () => core.writeSync(written.slice(at, at + stride))
      yield* Effect.try({
        try: () => void Vm.runInNewContext("run()", { run }, { timeout: longestStride }),
        catch: () =>
          new ExecutionFailed({ kind: "io", reason: "what it has written takes too long to draw: job:output shows it" })
      })
      yield* Effect.promise(Yield.turn)
    }
    const { cursorX, cursorY } = terminal.buffer.active
    const lines = Array.from({ length: rows }, (_, row) => lineOf(row)?.translateToString().trimEnd() ?? "")
    terminal.dispose()
    const last = lines.findLastIndex((line) => line !== "")
    return [
      ...lines.slice(0, last + 1),
      `[${columns}x${rows}, the cursor is in row ${cursorY + 1}, column ${cursorX + 1}]`
    ]
  })

export const screen = Job.make(screenGrammar, (jobs, { id }) =>
  Effect.gen(function* () {
    const { terminal } = yield* jobs.look(id)
    if (terminal === undefined)
      return yield* CommandGrammar.misuse(screenGrammar, `job ${id} has no terminal: job:start --pty gives a job one.`)
    return Job.told(yield* draw(yield* jobs.output(id, { all: true, raw: true }), terminal))
  })
)
