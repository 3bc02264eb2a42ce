/** Whether commands of tests run in a sandbox here. */
import * as ChildProcess from "node:child_process"

export const isSandboxed = process.platform === "linux" && ChildProcess.spawnSync("bwrap", ["--version"]).status === 0
