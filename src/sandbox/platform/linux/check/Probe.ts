/**
 * Tests the programs that build a sandbox, by running them.
 */
import * as ChildProcess from "node:child_process"
import * as Effect from "effect/Effect"
import type { Machine } from "../plan/Seccomp.js"
import * as Seccomp from "../plan/Seccomp.js"
import type { Level } from "../start/Launch.js"
import type { Programs } from "../start/Programs.js"

export interface ProgramExit {
  readonly ok: boolean
  readonly stdout: string
  readonly said: string
}

export interface Tried extends ProgramExit {
  readonly version: string | undefined
}

/** When a program that hangs is killed, in ms. */
const patience = 60_000

/** How many characters at the end of each output are kept. */
const longest = 2000

/** Runs a program without the launcher's environment; `bytes` are written to its descriptor 3. */
export const run = (program: string, args: ReadonlyArray<string>, bytes?: Uint8Array): Effect.Effect<ProgramExit> =>
  Effect.async<ProgramExit>((resume) => {
    const child = ChildProcess.spawn(program, args, {
      env: { LC_ALL: "C", PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "pipe", "pipe", bytes === undefined ? "ignore" : "pipe"],
      timeout: patience,
      killSignal: "SIGKILL"
    })
    child.once("error", (error) => resume(Effect.succeed({ ok: false, stdout: "", said: error.message })))
    // If this process has run out of descriptors, the child has no streams either.
    if (child.pid === undefined) return
    const heard = { stdout: "", said: "" }
    const hear = (name: keyof typeof heard) => (chunk: Buffer) => {
      heard[name] = (heard[name] + chunk.toString()).slice(-longest)
    }
    child.stdout?.on("data", hear("stdout"))
    child.stderr?.on("data", hear("said"))
    const feed = child.stdio[3]
    if (feed !== null && feed !== undefined && "end" in feed) {
      // A program that ends without reading reports the reason itself.
      feed.on("error", () => {})
      feed.end(bytes)
    }
    child.once("close", (code) => resume(Effect.succeed({ ok: code === 0, ...heard })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Returns this machine's architecture; undefined if there is no seccomp filter for it. */
export const machine = (arch: string = process.arch): Machine | undefined =>
  arch === "x64" || arch === "arm64" ? arch : undefined

const versionOf = (text: string): string | undefined => /\b(\d+\.\d+(?:\.\d+)?)\b/.exec(text)?.[1]

/** Runs bubblewrap with all options of a sandbox. The program inside is bubblewrap again, which prints its version. */
export const sandbox = (bwrap: string, machine: Machine): Effect.Effect<Tried> => {
  const args = [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--perms", "1777", "--size", "4096", "--tmpfs", "/dev/shm"],
    ...["--proc", "/proc", "--seccomp", "3", "--", bwrap, "--version"]
  ]
  return Effect.flatMap(
    run(bwrap, args, Seccomp.make(machine, { isRoot: process.getuid?.() === 0, unixSockets: false })),
    (ended): Effect.Effect<Tried> => {
      const version = versionOf(ended.stdout)
      // A program that succeeds without printing the version is not bubblewrap.
      return ended.ok && version !== undefined
        ? Effect.succeed({ ...ended, version })
        : Effect.map(run(bwrap, ["--version"]), ({ stdout }) => ({ ...ended, ok: false, version: versionOf(stdout) }))
    }
  )
}

/**
 * Tests which level works: a mount namespace made directly (`mount`), one made in a user namespace (`user`), or none
 * (`single`).
 */
export const level = ({ bash, mount, nsenter, umount, unshare }: Programs): Effect.Effect<Level> => {
  if (
    unshare === undefined ||
    mount === undefined ||
    umount === undefined ||
    nsenter === undefined ||
    bash === undefined
  ) {
    return Effect.succeed("single")
  }
  const works = (...options: ReadonlyArray<string>) =>
    Effect.map(
      run(unshare, [
        ...[...options, "--mount", "--propagation", "private"],
        ...[unshare, "--mount", "--propagation", "shared", mount, "--make-rshared", "/"]
      ]),
      (ended) => ended.ok
    )
  const byUser = Effect.map(works("--user", "--map-root-user"), (ok): Level => (ok ? "user" : "single"))
  if (process.getuid?.() !== 0) return byUser
  return Effect.flatMap(works(), (ok) => (ok ? Effect.succeed<Level>("mount") : byUser))
}
