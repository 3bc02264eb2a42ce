/**
 * The terminal that the program shows things on, or the file or pipe in its place.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reflow from "./internal/Reflow.js"

/** Milliseconds until a stop that the system has ignored, for nobody could continue the program, is taken as over. */
const pauseStopping = 50

/**
 * Calls `leave` before this process stops by SIGTSTP, and `back` when it goes on; returns a function that removes both.
 */
const listen = (leave: () => void, back: () => void): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const onStop = (): void => {
    leave()
    // Without a listener, the signal does what it always does: nothing where no shell waits for this process.
    process.off("SIGTSTP", onStop)
    process.kill(process.pid, "SIGTSTP")
    timer = setTimeout(() => {
      process.on("SIGTSTP", onStop)
      back()
    }, pauseStopping)
  }
  process.on("SIGTSTP", onStop)
  return () => {
    clearTimeout(timer)
    process.off("SIGTSTP", onStop)
  }
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
     * True where lines can be drawn anew: a terminal, and neither `NO_COLOR` nor `CI` is set, nor is it a dumb one
     * (`TERM=dumb`). Where it is false, no control sequence of any kind is written.
     */
    readonly isLive: boolean
    /** The rows that it breaks where it becomes narrower; by default, all that are too long. */
    readonly reflow?: Reflow.Reflow
    /** Returns the size now, in columns and rows. */
    readonly size: () => { readonly columns: number; readonly rows: number }
    /** Calls the listener after each change of the size; returns a function that removes it. */
    readonly onResize: (listener: () => void) => () => void
    /**
     * Writes what `leave` returns before the program stops (Ctrl-Z), and calls `back` when it goes on; returns a function
     * that removes both.
     */
    readonly onStop?: (leave: () => string, back: () => void) => () => void
    /** Writes a text. Where the terminal is slower, it returns a promise: write no more before that is settled. */
    readonly write: (text: string) => void | Promise<void>
  }
>() {}

/** Reads a variable that counts as set where it has any text. */
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

/** Milliseconds after which a terminal that took nothing is tried again. */
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
        // The terminal has gone: there is nobody to show it to.
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
      Effect.all([
        Effect.orElseSucceed(isPlain, () => true),
        Effect.orElseSucceed(Reflow.config, () => "all" as const)
      ]),
      ([isPlain, reflow]) => {
        const stream = process[name]
        const fd = name === "stdout" ? 1 : 2
        return Terminal.of({
          isLive: stream.isTTY === true && !isPlain,
          reflow,
          // A pseudo-terminal that nobody has given a size has 0 columns.
          size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
          onResize: (listener) => {
            stream.on("resize", listener)
            return () => stream.off("resize", listener)
          },
          onStop: (leave, back) =>
            listen(() => {
              try {
                Fs.writeSync(fd, leave())
              } catch {
                // It has gone, or takes nothing now.
              }
            }, back),
          write: (text) => writeAll(fd, Buffer.from(text))
        })
      }
    )
  )

/**
 * Tests whether stdout and stderr are one terminal, where what is written to both is seen twice.
 *
 * @since 0.1.0
 */
export const isShared = (): boolean => {
  if (process.stdout.isTTY !== true || process.stderr.isTTY !== true) return false
  return Fs.fstatSync(1).rdev === Fs.fstatSync(2).rdev
}
