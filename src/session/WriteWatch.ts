/**
 * Tells in which order two pipes are written to: the kernel reports the writes of both in one sequence (inotify), in
 * which writes to one pipe that follow one another may be one.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type { StreamName } from "../domain/LineOrder.js"

/**
 * A watch of the pipes of one command.
 *
 * @since 0.1.0
 * @category models
 */
export class WriteWatch {
  private readonly watchers: Array<Fs.FSWatcher> = []

  /** Watches FIFOs by paths; throws the system's error, such as that the user has no watch left. */
  constructor(paths: Readonly<Record<StreamName, string>>, onWrite: (stream: StreamName) => void) {
    try {
      for (const stream of ["stdout", "stderr"] as const) {
        const watcher = Fs.watch(paths[stream], { persistent: false }, () => onWrite(stream))
        this.watchers.push(watcher.on("error", () => {}))
      }
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    for (const watcher of this.watchers) watcher.close()
  }
}
