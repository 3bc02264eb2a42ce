/** A bash at the end of a plain pipe: what every round trip and every byte is measured against. */
import { spawn } from "node:child_process"

/** Answers one command after the other with a fixed marker: no framing, no state, no stderr. */
export const open = () => {
  const child = spawn("/bin/bash", ["--norc", "--noprofile"], { stdio: ["pipe", "pipe", "inherit"] })
  let answered = () => {}
  child.stdout.on("data", () => answered())
  return {
    run: (command: string) =>
      new Promise<void>((resolve) => {
        answered = resolve
        child.stdin.write(`${command}; echo marker\n`)
      }),
    close: () => child.kill("SIGKILL")
  }
}

/** Counts all that a command prints. */
export const drain = (command: string) =>
  new Promise<number>((resolve) => {
    const child = spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] })
    let bytes = 0
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length
    })
    child.once("close", () => resolve(bytes))
  })
