/**
 * Watches directories for entries that are made, replaced or removed. Commands of the same user can take all of the
 * kernel's watches, or change a directory faster than this process can follow: such a directory is looked at every 100 ms
 * instead.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as BytePath from "../../../policy/BytePath.js"
import * as Entries from "../plan/Entries.js"

/** The most directories that are watched, for each takes some of the kernel's memory. */
const mostDirectories = 512

/** Milliseconds between two looks; after a long one, `share` times its duration. */
const pause = 100
const share = 20

/** Milliseconds after a change during which another one may leave the time of change the same. */
const unsettled = 100

/**
 * The most changes that are followed in one turn of the event loop: while there are more, the loop would wait for the
 * last of them.
 */
const mostChanges = 1000

/**
 * Watches one directory: `fs.watch`, or what a test has for it; throws where that is not possible.
 *
 * @since 0.1.0
 * @category models
 */
export type Watcher = (
  directory: string,
  see: (name: string | null) => void
) => { readonly close: () => void; readonly on: (event: "error", listener: () => void) => unknown }

const watchByKernel: Watcher = (directory, see) =>
  Fs.watch(BytePath.toHost(directory), { persistent: false, encoding: "buffer" }, (_, name) =>
    see(name === null ? null : BytePath.decode(Buffer.from(name)))
  )

/**
 * Directories that are watched.
 *
 * @since 0.1.0
 * @category models
 */
export interface DirectoryWatch {
  /** Watches a further directory; does nothing for one that is watched, or where there are too many. */
  readonly add: (directory: string) => void
  /** True where a directory is looked at, for the kernel refused a watch. */
  readonly isPolling: () => boolean
}

/**
 * Watches directories until the scope ends. `see` is called with the directory and the entry's name, or with null where
 * any of its entries may have changed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  see: (directory: string, name: string | null) => void,
  watch: Watcher = watchByKernel
): Effect.Effect<DirectoryWatch, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Watches(see, watch)),
      (watches) => Effect.sync(() => watches.close())
    ),
    (watches): DirectoryWatch => ({
      add: (directory) => watches.add(directory),
      isPolling: () => watches.isRefused && watches.isPolling
    })
  )

class Watches {
  /** The watched directories. */
  private readonly watched = new Map<string, ReturnType<Watcher>>()
  /** The directories that are looked at, each with the time of change when that was done last. */
  private readonly polled = new Map<string, number>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private isClosed = false
  /** The changes in this turn of the event loop. */
  private changes = 0
  /** True once the kernel has refused a watch. */
  isRefused = false

  constructor(
    private readonly see: (directory: string, name: string | null) => void,
    private readonly watch: Watcher
  ) {}

  get isPolling(): boolean {
    return this.polled.size > 0
  }

  add(directory: string): void {
    if (this.watched.has(directory) || this.polled.has(directory)) return
    if (this.watched.size + this.polled.size >= mostDirectories) return
    if (!this.start(directory)) this.poll(directory)
  }

  private poll(directory: string): void {
    this.polled.set(directory, 0)
    this.schedule(pause)
  }

  private note(directory: string, name: string | null): void {
    if (this.changes++ === 0) {
      setImmediate(() => {
        this.changes = 0
      })
    }
    const watcher = this.watched.get(directory)
    if (this.changes > mostChanges && watcher !== undefined) {
      watcher.close()
      this.watched.delete(directory)
      this.poll(directory)
    } else this.see(directory, name)
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
    for (const watcher of this.watched.values()) watcher.close()
  }

  private start(directory: string): boolean {
    try {
      const watcher = this.watch(directory, (name) => this.note(directory, name))
      // The directory was removed, or the kernel has given up.
      watcher.on("error", () => {
        watcher.close()
        this.watched.delete(directory)
      })
      this.watched.set(directory, watcher)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // What is gone, or closed to us, is found by the next scan.
      const isRefused = code === "ENOSPC" || code === "EMFILE" || code === "ENFILE" || code === "ENOMEM"
      this.isRefused ||= isRefused
      return !isRefused
    }
  }

  private schedule(after: number): void {
    if (this.isClosed) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      const began = performance.now()
      for (const directory of [...this.polled.keys()]) this.look(directory)
      if (this.isPolling) this.schedule(Math.max(pause, share * (performance.now() - began)))
    }, after).unref()
  }

  private look(directory: string): void {
    const isWatched = this.start(directory)
    try {
      const { ctimeMs } = Fs.lstatSync(BytePath.toHost(directory))
      if (ctimeMs !== this.polled.get(directory) || ctimeMs > Date.now() - unsettled) {
        for (const { name } of Entries.list(directory) ?? []) this.see(directory, name)
        this.see(directory, null)
      }
      this.polled.set(directory, ctimeMs)
    } catch {
      // It is gone, or there are no descriptors left: it is looked at again.
    }
    if (isWatched) this.polled.delete(directory)
  }
}
