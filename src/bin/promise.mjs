// What `import "synapse-shell/promise"` starts: the same as `require`, so that a program has one of it.
import { createRequire } from "node:module"

export const { DaemonError, InvalidUsage, connect, defineCommand, make } = createRequire(import.meta.url)(
  "./bin/promise.cjs"
)
