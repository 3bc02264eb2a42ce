/** A program on a terminal of tmux: what a person would type, and what they would see. */
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"

/** True where tmux is there. */
export const isThere = spawnSync("tmux", ["-V"]).status === 0

/** Milliseconds after which what is waited for will not come. */
const patience = 30_000

export interface Tmux {
  /** Types a text, as it is. */
  readonly type: (text: string) => void
  /** Presses keys by their names: `Enter`, `C-c`, `Tab`. */
  readonly press: (...keys: ReadonlyArray<string>) => void
  /** Pastes a text as terminals do. */
  readonly paste: (text: string) => void
  readonly resize: (columns: number, rows?: number) => void
  /** The rows of the screen and what has scrolled away, wrapped ones joined, without blanks at their ends. */
  readonly lines: () => ReadonlyArray<string>
  /** True where the terminal shows its cursor. */
  readonly hasCursor: () => boolean
  /** The title of the terminal. */
  readonly title: () => string
  /** The texts that programs have put into the clipboard. */
  readonly clipboard: () => string
  /** Waits until what is shown fulfils a test. */
  readonly until: (test: (lines: ReadonlyArray<string>) => boolean) => Promise<ReadonlyArray<string>>
  /** Waits for a line that is exactly this. */
  readonly line: (text: string) => Promise<ReadonlyArray<string>>
  /** Waits until these are the last rows that are not empty. */
  readonly endsWith: (...rows: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
  /** Writes all that the terminal is sent from now on to a file too. */
  readonly record: (file: string) => void
}

export interface Options {
  /** For the files of tmux itself. */
  readonly directory: string
  readonly cwd: string
  readonly command: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
}

const lastOf = (lines: ReadonlyArray<string>, count: number): ReadonlyArray<string> => {
  const end = lines.findLastIndex((line) => line !== "") + 1
  return lines.slice(Math.max(0, end - count), end)
}

/** Runs a command on a terminal of its own, which is gone afterwards with all that runs in it. */
export const using = async <A>(options: Options, use: (tmux: Tmux) => Promise<A>): Promise<A> => {
  const { columns = 80, command, cwd, directory, rows = 24 } = options
  const { CI: _ci, NO_COLOR: _colour, TMUX: _tmux, ...inherited } = process.env
  const env = { ...inherited, LC_ALL: "C.UTF-8", SHELL: "/bin/bash", ...options.env }
  const socket = path.join(directory, "tmux")
  const config = path.join(directory, "tmux.conf")
  fs.writeFileSync(
    config,
    "set -g default-terminal screen-256color\nset -s set-clipboard on\nset -g history-limit 5000\n"
  )
  const run = (...words: ReadonlyArray<string>): string =>
    execFileSync("tmux", ["-u", "-S", socket, "-f", config, ...words], { cwd, encoding: "utf8", env, stdio: "pipe" })
  const lines = () =>
    run("capture-pane", "-p", "-J", "-S", "-")
      .split("\n")
      .map((line) => line.trimEnd())
  const until = async (test: (lines: ReadonlyArray<string>) => boolean) => {
    for (const end = performance.now() + patience; ; await wait(50)) {
      const now = lines()
      if (test(now)) return now
      if (performance.now() > end)
        throw new Error(`this was not shown in time; the screen:\n${now.join("\n").trimEnd()}`)
    }
  }
  // The pane stays when its program has ended, and shows how.
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")
  run("new-session", "-d", "-x", String(columns), "-y", String(rows), `${quoted}; echo "left with $?"; exec sleep 300`)
  try {
    return await use({
      type: (text) => void run("send-keys", "-l", text),
      press: (...keys) => void run("send-keys", ...keys),
      paste: (text) => {
        run("set-buffer", "-b", "paste", text)
        run("paste-buffer", "-p", "-b", "paste")
      },
      resize: (columns, rows) => {
        run("resize-window", "-x", String(columns), ...(rows === undefined ? [] : ["-y", String(rows)]))
      },
      lines,
      hasCursor: () => run("display-message", "-p", "#{cursor_flag}").trim() === "1",
      title: () => run("display-message", "-p", "#{pane_title}").trim(),
      clipboard: () => run("list-buffers", "-F", "#{buffer_sample}").trim(),
      until,
      line: (text) => until((lines) => lines.includes(text)),
      endsWith: (...rows) => until((lines) => isDeepStrictEqual(lastOf(lines, rows.length), rows)),
      record: (file) => void run("pipe-pane", `cat > '${file}'`)
    })
  } finally {
    spawnSync("tmux", ["-S", socket, "kill-server"])
  }
}
