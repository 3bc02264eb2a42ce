/**
 * The terminal that the program writes to, or a file or pipe in its place.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Attempt from "../domain/Attempt.js"

/**
 * Which rows a narrower terminal wraps: `all`, `others` than the cursor's (xterm.js, as in VS Code), or `none` (xterm).
 *
 * @since 0.1.0
 * @category models
 */
export type Reflow = "all" | "others" | "none"

/** The programs whose terminal is xterm.js, by `TERM_PROGRAM`. */
const overXtermJs: ReadonlySet<string> = new Set(["vscode", "Hyper", "Tabby"])

const variable = (name: string) => Config.withDefault(Config.string(name), "")

/**
 * Reads the reflow from the environment. tmux wraps all rows, and may show the variables of the terminal around it.
 *
 * @since 0.1.0
 * @category settings
 */
export const reflowConfig: Config.Config<Reflow> = Config.map(
  Config.all([variable("TMUX"), variable("TERM_PROGRAM"), variable("XTERM_VERSION")]),
  ([tmux, program, xterm]) => {
    if (tmux !== "") return "all"
    return overXtermJs.has(program) ? "others" : xterm === "" ? "all" : "none"
  }
)

/** Calls `leave` before this process stops by SIGTSTP, and `back` when it continues. Returns a function that ends both. */
const listen = (leave: () => void, back: () => void): (() => void) => {
  const onStop = (): void => {
    leave()
    // Without a listener, the signal has its usual effect: this thread goes on when the process is continued, or at once
    // where nobody could continue it.
    process.off("SIGTSTP", onStop)
    process.kill(process.pid, "SIGTSTP")
    process.on("SIGTSTP", onStop)
    back()
  }
  process.on("SIGTSTP", onStop)
  return () => void process.off("SIGTSTP", onStop)
}

/**
 * Writes to a terminal, and knows its size.
 *
 * @since 0.1.0
 * @category tags
 */
export class Terminal extends Context.Tag("synapse/Terminal")<
  Terminal,
  {
    /**
     * True if lines can be redrawn: a terminal without `NO_COLOR`, `CI` or `TERM=dumb`. Otherwise no control sequence
     * is written.
     */
    readonly isLive: boolean
    /** The rows that it wraps when it becomes narrower; `all` by default. */
    readonly reflow?: Reflow
    /** Returns the size now, in columns and rows. */
    readonly size: () => { readonly columns: number; readonly rows: number }
    /** Calls the listener after each change of the size; returns a function that removes it. */
    readonly onResize: (listener: () => void) => () => void
    /**
     * Writes what `leave` returns before the program stops (Ctrl-Z), and calls `back` when it goes on; returns a function
     * that removes both.
     */
    readonly onStop?: (leave: () => string, back: () => void) => () => void
    /** Writes a text. A slow terminal returns a promise: wait for it before you write more. */
    readonly write: (text: string) => void | Promise<void>
  }
>() {}

/** A variable counts as set if it is not empty. */
const isSet = (name: string): Config.Config<boolean> =>
  Config.string(name).pipe(
    Config.map((text) => text !== ""),
    Config.withDefault(false)
  )

/** True where the environment asks for plain text. */
const isPlain: Config.Config<boolean> = Config.all([
  isSet("NO_COLOR"),
  Config.string("CI").pipe(
    Config.map((text) => !["", "0", "false"].includes(text.toLowerCase())),
    Config.withDefault(false)
  ),
  Config.string("TERM").pipe(
    Config.map((text) => text === "dumb" || text === ""),
    Config.withDefault(true)
  )
]).pipe(Config.map((reasons) => reasons.includes(true)))

/** How long to wait before a full terminal is tried again, in ms. */
const pause = 5

/**
 * Writes without keeping the program from its work: node's own write to a terminal that has been stopped (Ctrl-S) would
 * wait for it.
 */
const writeAll = async (fd: number, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length; ) {
    const written = await new Promise<number | undefined>((resolve) =>
      Fs.write(fd, bytes, at, bytes.length - at, null, (error, count) => {
        if (error === null) resolve(count)
        else if (error.code === "EAGAIN" || error.code === "EINTR") setTimeout(() => resolve(0), pause)
        // The terminal is gone.
        else resolve(undefined)
      })
    )
    if (written === undefined) return
    at += written
  }
}

/**
 * A layer of one of the process's own streams.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNode = (name: "stdout" | "stderr"): Layer.Layer<Terminal> =>
  Layer.effect(
    Terminal,
    Effect.map(
      Effect.all([Effect.orElseSucceed(isPlain, () => true), Effect.orElseSucceed(reflowConfig, () => "all" as const)]),
      ([isPlain, reflow]) => {
        const stream = process[name]
        const fd = name === "stdout" ? 1 : 2
        return Terminal.of({
          isLive: stream.isTTY === true && !isPlain,
          reflow,
          // A new pseudo-terminal has 0 columns.
          size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
          onResize: (listener) => {
            stream.on("resize", listener)
            return () => stream.off("resize", listener)
          },
          onStop: (leave, back) =>
            listen(() => {
              // It is gone, or full.
              Attempt.ignore(() => Fs.writeSync(fd, leave()))
            }, back),
          write: (text) => writeAll(fd, Buffer.from(text))
        })
      }
    )
  )

/**
 * Tests whether stdout and stderr are the same terminal, so that text written to both would appear twice.
 *
 * @since 0.1.0
 */
export const isShared = (): boolean => {
  if (process.stdout.isTTY !== true || process.stderr.isTTY !== true) return false
  return Fs.fstatSync(1).rdev === Fs.fstatSync(2).rdev
}
