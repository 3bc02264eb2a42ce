// The entry of `import "synapse-shell/promise"`. It shares one instance with `require`.
import { createRequire } from "node:module"

export const { DaemonError, InvalidUsage, connect, defineCommand, make } = createRequire(import.meta.url)(
  "./bin/promise.cjs"
)
