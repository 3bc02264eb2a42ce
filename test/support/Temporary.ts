/** A directory of its own for what needs no Effect, gone afterwards whatever happens. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

export const using = async <A>(use: (directory: string) => Promise<A>, parent = os.tmpdir()): Promise<A> => {
  const directory = fs.mkdtempSync(path.join(fs.realpathSync(parent), "synapse-test-"))
  try {
    return await use(directory)
  } finally {
    try {
      fs.rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    } catch {
      // What still writes there has been killed, and ends. The run names the directory, and removes it in the end.
    }
  }
}
