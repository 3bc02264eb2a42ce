/** A program on a real pseudo-terminal, which tmux shows. */
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import { vi } from "vitest"
import * as Temporary from "../Temporary.js"

/** True where tmux is there. */
export const isThere = ChildProcess.spawnSync("tmux", ["-V"]).status === 0

export interface Size {
  readonly columns: number
  readonly rows: number
}

export class Tmux {
  constructor(readonly directory: string) {}

  run(...args: ReadonlyArray<string>): string {
    const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", HOME: this.directory }
    const socket = Path.join(this.directory, "tmux")
    return ChildProcess.execFileSync("tmux", ["-u", "-S", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env
    })
  }

  /** Types a text as a person does, without marks of bracketed paste. */
  type(text: string): void {
    this.run("send-keys", "-l", text)
  }

  /** Presses keys by tmux's names: `Enter`, `C-c`. */
  press(...keys: ReadonlyArray<string>): void {
    this.run("send-keys", ...keys)
  }

  /** Pastes a text, with marks around it where the program has asked for them. */
  paste(text: string): void {
    this.run("set-buffer", text)
    this.run("paste-buffer", "-p")
  }

  resize(columns: number): void {
    this.run("resize-window", "-x", String(columns))
  }

  /** The lines of the screen and the scroll-back, as they were written, up to the last that is not empty. */
  get rows(): ReadonlyArray<string> {
    const shown = this.run("capture-pane", "-p", "-J", "-S", "-1000").trimEnd()
    return shown.split("\n").map((row) => row.trimEnd())
  }

  /** Waits until the last rows are these. */
  endsWith(...rows: ReadonlyArray<string>): Promise<void> {
    return vi.waitFor(() => assert.deepStrictEqual(this.rows.slice(-rows.length), rows), {
      timeout: 45_000,
      interval: 50
    })
  }
}

/** Runs a test with a shell command on a terminal of its own, which is gone afterwards with all that runs in it. */
export const using = (
  command: (directory: string) => string,
  { columns, rows }: Size,
  test: (tmux: Tmux) => Promise<void>
): Promise<void> =>
  Temporary.using(async (directory) => {
    const tmux = new Tmux(directory)
    tmux.run("new-session", "-d", "-x", String(columns), "-y", String(rows), command(directory))
    try {
      await test(tmux)
    } finally {
      tmux.run("kill-server")
    }
  })
