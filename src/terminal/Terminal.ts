/**
 * The terminal that the program writes to, or the file or pipe in its place.
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
 * The rows that a terminal wraps when it becomes narrower: `all`, `others` (all but the cursor's, as in VS Code's
 * xterm.js), or `none` (xterm).
 *
 * @since 0.1.0
 * @category models
 */
export type Reflow = "all" | "others" | "none"

/** The values of `TERM_PROGRAM` for terminals that use xterm.js. */
const overXtermJs: ReadonlySet<string> = new Set(["vscode", "Hyper", "Tabby"])

const variable = (name: string) => Config.withDefault(Config.string(name), "")

/**
 * Reads the reflow from the environment. tmux wraps all rows, but may pass on the variables of the outer terminal, so
 * it is checked first.
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

/**
 * Calls `leave` before SIGTSTP stops this process, and `back` when it continues. Returns a function that removes both.
 */
const listen = (leave: () => void, back: () => void): (() => void) => {
  const onStop = (): void => {
    leave()
    // Without a listener, SIGTSTP stops the process here. This thread goes on when the process is continued, or at once
    // if nobody could continue it.
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
     * True if lines can be redrawn: a terminal without `NO_COLOR`, `CI` or `TERM=dumb`. Otherwise no control sequences
     * are written.
     */
    readonly isLive: boolean
    /** The rows that it wraps when it becomes narrower; by default, `all`. */
    readonly reflow?: Reflow
    /** Returns the current size in columns and rows. */
    readonly size: () => { readonly columns: number; readonly rows: number }
    /** Calls the listener after each change of size. Returns a function that removes it. */
    readonly onResize: (listener: () => void) => () => void
    /**
     * Writes the text from `leave` before the program stops (Ctrl-Z), and calls `back` when it continues. Returns a
     * function that removes both.
     */
    readonly onStop?: (leave: () => string, back: () => void) => () => void
    /** Writes a text. Returns a promise if the terminal is slow; wait for it before the next write. */
    readonly write: (text: string) => void | Promise<void>
  }
>() {}

/** Reads whether a variable is set and not empty. */
const isSet = (name: string): Config.Config<boolean> =>
  Config.string(name).pipe(
    Config.map((text) => text !== ""),
    Config.withDefault(false)
  )

/** True if the environment asks for plain text. */
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

/** How long to wait before writing to a full terminal again, in ms. */
const pause = 5

/** Writes without blocking the program. node's own write would block on a terminal that is paused by Ctrl-S. */
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
 * A layer over the process's stdout or stderr.
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
              // Fails if the terminal is gone or full.
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
