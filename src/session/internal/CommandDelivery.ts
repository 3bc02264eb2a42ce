/** Delivers one command to a shell: writes its lines, reads the shell's reports, and collects the outcome. */

import type { CommandLine } from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import { quote } from "../../bash/Quote.js"
import * as CommandName from "../../command/CommandName.js"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { JobTable } from "../JobTable.js"
import * as ProcessTable from "../ProcessTable.js"
import type { QueuedCommand } from "../QueuedCommand.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Settings } from "../SessionSettings.js"
import type { CallerFacts } from "../ShellBridge.js"
import * as ShellTerminal from "../ShellTerminal.js"
import { CommandRun, type Outcome, type ReadyShell, type RunOptions } from "./CommandRun.js"
import type { CommandStdin } from "./Protocol.js"
import * as Protocol from "./Protocol.js"
import type { PipePair, SessionIo } from "./SessionIo.js"
import { longestRead, type SessionState } from "./SessionState.js"
import type { Shell, ShellListener } from "./ShellSupervisor.js"

/** Milliseconds after which a command's output is read continuously. Before that, it is read at the end. */
const longRun = 3

/**
 * Milliseconds of idleness after which the session looks for processes that commands have left without a sign, such
 * as daemons, which hold no pipe.
 */
const idleFor = 50

/** The most commands remembered for that. */
const mostEnded = 32

/** Feeds commands to the shell, and tracks the running one. */
export class CommandFeeder {
  private active: CommandDelivery | undefined
  /** Called when the running command has ended. */
  private onEnded: (() => void) | undefined
  private readonly longRunTimer: NodeJS.Timeout
  /** The last long commands that left no sign of a job, by their marks. */
  private readonly ended = new Map<string, CommandRun>()
  private readonly idleTimer: NodeJS.Timeout
  /** The mark that the last shell has set for its next command. */
  private readonly marked: { shell: Shell | undefined; mark: string } = { shell: undefined, mark: "" }

  constructor(
    private readonly settings: Settings,
    private readonly state: SessionState,
    private readonly jobs: JobTable
  ) {
    this.longRunTimer = setTimeout(() => this.active?.attach(), longRun).unref()
    this.idleTimer = setTimeout(() => this.onIdle(), idleFor).unref()
  }

  get queued(): QueuedCommand | undefined {
    return this.active?.run.queued
  }

  /** What calls from within the running command need to know about it. */
  get callerFacts(): Omit<CallerFacts, "within"> {
    const { input, listener } = this.queued ?? {}
    return { input, room: listener?.takesAll === true ? undefined : this.settings.outputLimit, listener }
  }

  /** Runs a command. Calls `done` once with its outcome. Returns undefined if that has happened already. */
  feed(queued: QueuedCommand, ready: ReadyShell, done: (fed: Fed) => void): CommandRun | undefined {
    const { pipes, io, shell } = ready
    const { directory, pool } = io
    const nextMark = ProcessTable.make(directory.sessionId)
    const yielding =
      queued.yield === undefined || queued.stdin !== undefined
        ? undefined
        : rewriteToYield(queued.line, directory, nextMark)
    try {
      io.calls.offer(queued.line.text)
      directory.writeCommand(yielding ?? queued.line.text)
    } catch (error) {
      pool.give(pipes)
      const what = error instanceof Error ? error.message : String(error)
      const reason = `the command could not be handed over, and has not run: ${what} (${directory.path})`
      done({ _tag: "NotHandedOver", error: new ExecutionFailed({ kind: "io", reason }) })
      return undefined
    }
    const { jobs, marked, settings, state } = this
    const mark = marked.shell === shell ? marked.mark : directory.firstMark
    marked.shell = shell
    marked.mark = nextMark
    const active = new CommandDelivery(
      queued,
      ready,
      { jobs, mark, nextMark, settings, state, yields: yielding !== undefined },
      (fed) => {
        this.active = undefined
        if (fed._tag === "Ran" && active.run.mayLeave) this.remember(mark, active.run)
        if (active.run.outlastedYield) state.noteYield()
        done(fed)
        this.onEnded?.()
      }
    )
    this.active = active
    active.begin()
    this.longRunTimer.refresh()
    return active.run
  }

  /**
   * Stops the running command and its shell at once, except for callers of Synapse commands. The returned function
   * kills them, and resolves when the command has ended.
   */
  freeze(): () => Promise<void> {
    const { active } = this
    if (active === undefined) return () => Promise.resolve()
    const { calls } = active.io
    const kill = active.run.freeze(calls.isBusy ? (pid) => calls.isCaller(pid) : () => false)
    return () =>
      new Promise((resolve) => {
        if (this.active !== active) return resolve()
        this.onEnded = resolve
        kill()
      })
  }

  /** Releases the timers. No command may be fed after this. */
  close(): void {
    clearTimeout(this.longRunTimer)
    clearTimeout(this.idleTimer)
    this.ended.clear()
  }

  private remember(mark: string, run: CommandRun): void {
    this.ended.set(mark, run)
    const [oldest] = this.ended.keys()
    if (this.ended.size > mostEnded && oldest !== undefined) this.ended.delete(oldest)
    this.idleTimer.refresh()
  }

  /** Turns processes that commands have left, and that hold no pipe, into jobs. */
  private onIdle(): void {
    if (this.active !== undefined) return void this.idleTimer.refresh()
    const runs = [...this.ended.values()]
    const since = Math.min(...runs.map((run) => run.startedAt))
    const marks = new Set(
      runs.length === 0
        ? []
        : ProcessTable.listSince(ProcessTable.ticksAt(since), new Set()).map(({ pid }) => ProcessTable.of(pid))
    )
    for (const [mark, run] of this.ended) if (marks.has(mark)) run.adopt(false, "", "")
    this.ended.clear()
  }
}

/** Milliseconds between two looks for a shell that sits idle at a prompt although a command is on its way. */
const lookEvery = 1000

/** Tests whether a text has several commands, which may write to both streams in turn before the output is read. */
const mayAlternate = (text: string): boolean =>
  text.length > longestRead || /[;&|({`]/.test(text) || text.trim().includes("\n")

/**
 * What became of a fed command. `Ran`: it ran; `missing` is the last command that bash did not find. `NotBegun`: the
 * shell ended before starting it. `Unable`: the shell can't run commands any more, because something that it needs is
 * disabled, redefined or forbidden. `NotHandedOver`: its text could not be written.
 */
export type Fed =
  | {
      readonly _tag: "Ran"
      readonly outcome: Outcome
      readonly missing: string | undefined
      readonly mark: string
    }
  | { readonly _tag: "NotBegun"; readonly exitCode: number }
  | { readonly _tag: "Unable"; readonly shell: Shell }
  | { readonly _tag: "NotHandedOver"; readonly error: ExecutionFailed }

const unsure =
  "The exit code may not be the command's own: a variable named __synapse_… is readonly, or the shell may open too few files (ulimit -n)."

/** The exit code that bash gives an interrupted command. */
const interrupted = 130

/** Returns what the shell must know before a command. On a terminal, `&` starts bash's own job. */
const beforeOf = (
  { line, terminal }: QueuedCommand,
  state: SessionState,
  children: ReadonlyArray<number>,
  yields: boolean
): Protocol.Before => {
  if (terminal === "entry") return Protocol.own
  const before = state.takeBefore(line.text, children, yields)
  return terminal === undefined ? before : { ...before, leaves: false }
}

interface DeliveryOptions extends RunOptions {
  readonly state: SessionState
  /** True if the command's last program may go on as a job. */
  readonly yields: boolean
}

/**
 * The delivery of one command, from its first line to its outcome.
 *
 * Its parts are fields, not variables captured by closures. V8 promotes object literals like earlier long-lived ones
 * to its old heap. A closure in such a literal would keep the whole command alive until the next full collection.
 */
export class CommandDelivery implements ShellListener {
  readonly run: CommandRun
  private readonly shell: Shell
  readonly io: SessionIo
  private readonly pipes: PipePair
  private readonly state: SessionState
  private readonly jobs: JobTable
  private readonly before: Protocol.Before
  private readonly stdin: CommandStdin | undefined
  private readonly nonces = Protocol.makeNonces()
  /** True once the shell has reported everything about this command. */
  private isHeard = false
  private watchdog: NodeJS.Timeout | undefined

  /** Calls `done` once, with the outcome. */
  constructor(
    private readonly queued: QueuedCommand,
    ready: ReadyShell,
    options: DeliveryOptions,
    private readonly done: (fed: Fed) => void
  ) {
    this.shell = ready.shell
    this.io = ready.io
    this.pipes = ready.pipes
    this.state = options.state
    this.jobs = options.jobs
    const { terminal } = this.io.directory
    this.before = beforeOf(queued, this.state, this.jobs.children, options.yields)
    this.run = new CommandRun(queued, ready, options, this.before, () => this.hurry())
    if (queued.terminal === "command" && terminal !== undefined)
      terminal.capture = (chunk) => this.run.takeScreen(chunk)
    this.stdin = this.pipes.openInput(queued.stdin)
  }

  /** Writes the lines that run the command. */
  begin(): void {
    if (mayAlternate(this.queued.line.text)) this.run.watch()
    const { nonces, pipes, shell } = this
    const { directory } = this.io
    const { device } = ShellTerminal
    const { stdin, ...output } = pipes.paths
    const paths =
      this.queued.terminal === "command"
        ? { stdout: device, stderr: device }
        : this.stdin === undefined
          ? output
          : { ...output, stdin }
    shell.hear(nonces.ended, this, nonces.begun)
    shell.write(Protocol.run(directory, paths, nonces, this.before, this.run.nextMark, this.queued.terminal))
  }

  /** Reads the output continuously, for a long command. */
  attach(): void {
    if (this.run.over) return
    this.run.attach()
    this.io.attach()
    // If an error or a signal ends the command's own line, this one reports the end.
    this.hurry()
    this.watch()
  }

  /** Kills a shell whose trap or prompt waits for input: it takes the lines of this command, or of the next. */
  private watch(worked?: number): void {
    const look = () => {
      if (this.isHeard) return
      this.shell.tendSupervisor()
      const seen = ProcessTable.stat(this.shell.pid)
      // On a busy machine, the shell may just have waited for a CPU.
      const rests = seen?.worked === worked && /[ST]/.test(seen?.state ?? "")
      if (rests && this.shell.isAtPrompt) this.shell.killAll()
      else this.watch(seen?.worked)
    }
    // After a pause of this process, the shell's earlier output is read first.
    this.watchdog = setTimeout(() => setImmediate(look), lookEvery).unref()
  }

  /** Makes the shell report its status. */
  private hurry(): void {
    const left = this.before.closes ? Protocol.checkLeft(this.pipes.paths) : ""
    this.shell.write(`${left}${Protocol.probe(this.nonces, this.run.nextMark, this.queued.terminal)}`)
  }

  onFrame(body: string): void {
    if (this.isHeard) return
    const { before, run, shell, state } = this
    if (body === "A") {
      run.begun = true
      return this.stdin?.begin()
    }
    const frame = shell.frames.status(body)
    if (frame === undefined) return
    // This report comes after the command's own line, which therefore has not run and never will.
    if (!run.begun) return this.giveBack({ _tag: "Unable", shell })
    if (this.queued.terminal === "entry") return this.finish(frame.status)
    if (before.exits && frame.sure) state.learnExitTrap(this.io.takeState())
    state.learn(frame.cwd.startsWith("/") ? frame : { ...frame, cwd: ProcessTable.cwdOf(shell.pid) })
    if (frame.ended !== undefined) this.jobs.learn(frame.ended)
    if (frame.left !== undefined && !this.jobs.children.includes(frame.left)) run.child = frame.left
    if (!frame.sure && run.stopped === undefined && frame.status !== interrupted) state.note(unsure)
    this.finish(frame.status)
  }

  onExit(exitCode: number): void {
    if (this.isHeard) return
    if (this.run.begun || this.run.stopped !== undefined) return this.finish(exitCode)
    this.giveBack({ _tag: "NotBegun", exitCode })
  }

  private leave(): void {
    this.isHeard = true
    clearTimeout(this.watchdog)
    this.stdin?.close()
  }

  private giveBack(fed: Fed): void {
    this.leave()
    void this.shown()
    this.run.giveBack()
    this.done(fed)
  }

  private finish(status: number): void {
    this.leave()
    const { codes, missing } = this.io.takeTold(this.run.nextMark)
    if (codes.length > 1) this.state.pipeline = codes
    void this.run.finish(status, this.shown()).then((outcome) => {
      if (this.queued.terminal !== "entry") this.state.end(status, outcome.stderr.text)
      const { run, shell } = this
      const ran: Fed = { _tag: "Ran", outcome, missing, mark: run.mark }
      if (outcome.status !== 1 || run.heard > 0 || !shell.alive) return this.done(ran)
      // The shell's own messages arrive in the event loop's next turn.
      setImmediate(() => this.done(this.pipes.refusedBy(shell.complaint) ? { _tag: "Unable", shell } : ran))
    })
  }

  /** Waits until the terminal has shown all of the command's output. Undefined for a command without it. */
  private shown(): Promise<void> | undefined {
    const { terminal } = this.io.directory
    if (this.queued.terminal === undefined || terminal === undefined) return undefined
    return terminal.settled(this.nonces.begun, !this.shell.alive).then(() => {
      terminal.capture = undefined
    })
  }
}

/** The most characters of a text to rewrite. Nobody types a longer one. */
const longest = 16_384

/** Makes bash text that waits for the last program, but ends with status 0 once the file exists. */
const waiting = (file: string): string =>
  "\\builtin wait $!||{ __synapse_code=$?\n" +
  "while \\builtin [ $__synapse_code -gt 128 ];do if \\builtin kill -0 $! 2>/dev/null;then " +
  `if \\builtin [ -e ${quote(file)} ];then __synapse_code=0;\\builtin break;fi;\\builtin wait $!&&__synapse_code=0||__synapse_code=$?;` +
  "else \\builtin wait $!&&__synapse_code=0||__synapse_code=$?;\\builtin break;fi;done;\\builtin return $__synapse_code; }"

/** Makes bash text that ends a pipeline in a subshell: it tells the exit codes of the parts to `SessionIo.takeTold`. */
const telling = (file: string, id: string): string =>
  `{ __synapse_code="$? \${PIPESTATUS[*]}";\\builtin printf '|${id} %s\\0' "\${__synapse_code#* }" 1<>${quote(file)};` +
  '\\builtin exit "${__synapse_code%% *}"; } 2>/dev/null'

/**
 * Rewrites a command so that its last part runs in the background while the shell waits for it. Returns undefined
 * unless the last part is a program or a pipeline: what changes the shell must run in the shell.
 *
 * @param files the file `yields` exists once the shell should stop waiting
 * @param id names the command among those whose exit codes of a pipeline are told
 */
export const rewriteToYield = (
  given: CommandLine,
  files: Pick<SessionDirectory, "notFound" | "yields">,
  id: string
): string | undefined => {
  const { text } = given
  if (text.length > longest || text.includes("<<")) return undefined
  const { tree } = given
  const list = tree.lists.at(-1)
  const commands = list?.pipelines.at(-1)?.commands ?? []
  const [command] = commands
  if (!CommandTree.isComplete(tree) || list?.isBackground !== false) return undefined
  const [name] = command?.words ?? []
  const isPipeline = commands.length > 1
  if (command === undefined || command.keyword !== undefined || name === undefined) return undefined
  if (name.value === "time" || (!isPipeline && CommandName.builtins.has(name.value))) return undefined
  const names = commands.flatMap(({ keyword, words }) => (keyword === undefined ? words.slice(0, 1) : []))
  if (names.some(({ expands }) => expands)) return undefined
  const { start } = command.assignments[0] ?? name
  const end = commands.at(-1)?.end
  const [before, last, after] = [text.slice(0, start), text.slice(start, end), text.slice(end ?? text.length)]
  // The rewritten text would change $? and $_ of the command before.
  if (/\$\{?(?:\?|_\b)|PIPESTATUS/.test(last)) return undefined
  // A redirection before the program, or a word that changes what follows, belongs to the program.
  if (!/(?:^|[;&|\n])\s*$/.test(before)) return undefined
  // With `lastpipe`, the last part of a pipeline runs in the shell.
  const staying = [
    ...(isPipeline ? ["\\builtin shopt -q lastpipe"] : []),
    ...names.map(({ value }) => `\\builtin declare -F -- ${quote(value)} >/dev/null`)
  ]
  const background = isPipeline ? `{ ${last}\n${telling(files.notFound, id)}\n}` : last
  return `${before}{ if ${staying.join("||")};then ${last}\nelse ${background} &\n${waiting(files.yields)};fi;}${after}`
}
