/** Makes FIFOs, with the system's mkfifo: Node has no call for it. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"

/** The paths at which systems have mkfifo. */
const systems = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"]

/** Makes FIFOs for this user alone; rejects with mkfifo's error. */
export const make = (paths: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    // Not searched in PATH: a command may have put a program there, and this one runs outside of its sandbox.
    const mkfifo = systems.find((path) => Fs.existsSync(path))
    if (mkfifo === undefined) return reject(new Error(`mkfifo is required, and is at none of ${systems.join(", ")}`))
    ChildProcess.execFile(mkfifo, ["-m", "600", ...paths], (error, _, stderr) => {
      if (error === null) return resolve()
      reject(new Error(`mkfifo failed: ${stderr.trim() || error.message}`))
    })
  })
