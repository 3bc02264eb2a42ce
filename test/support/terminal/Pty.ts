/** The program on a pseudo-terminal, which `script` makes; an emulator shows what a person would see. */
import { spawn } from "node:child_process"
import * as path from "node:path"
import Xterm from "@xterm/headless"

const synapse = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")

const quoted = (words: ReadonlyArray<string>) => words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")

export interface Options {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Redirections of the shell that starts it. */
  readonly redirected?: string
  readonly columns?: number
  readonly rows?: number
}

/** Starts `synapse` with these words. */
export const start = (args: ReadonlyArray<string>, { columns = 80, cwd, env, redirected = "", rows = 24 }: Options) => {
  const line = `stty cols ${columns} rows ${rows}; exec ${quoted([process.execPath, synapse, ...args])} ${redirected}`
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: { ...env, TERM: env["TERM"] ?? "xterm-256color", SHELL: "/bin/sh" }
  })
  const terminal = new Xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  const waiting = new Set<() => void>()
  let written = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written += text
    terminal.write(text, () => {
      for (const look of waiting) look()
    })
  })
  const lines = (): ReadonlyArray<string> => {
    const { active } = terminal.buffer
    const all = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "")
    return all.join("\n").trimEnd().split("\n")
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => terminal.write("", () => resolve(code)))
  })
  return {
    ended,
    lines,
    /** All that the terminal was sent. */
    written: () => written,
    type: (text: string) => child.stdin.write(text),
    /** Waits until the terminal shows it. */
    shows: (what: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (!what.test(lines().join("\n"))) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
        ended.then(() => reject(new Error(`it ended, and shows\n${lines().join("\n")}`)), reject)
      })
  }
}
