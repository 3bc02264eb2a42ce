/**
 * A real sandbox over a policy of the test's own, in a temporary directory that must be as it was when it ends.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as LinuxPlatform from "../../../src/sandbox/platform/linux/LinuxPlatform.js"
import type { Rule, SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"

/** The process becomes an ordinary user for good, as all of the project `nobody` do. */
export const becomeNobody = (): boolean => {
  if (process.getuid?.() !== 0) return process.getuid?.() !== undefined
  process.setgroups?.([])
  process.setgid?.(65_534)
  process.setuid?.(65_534)
  process.env["HOME"] = "/nonexistent"
  return true
}

/** Sandboxes have directories for temporary files of their own, so root's tests keep out of these; others can't. */
const base = () => (process.getuid?.() === 0 ? "/srv" : "/var/tmp")

export const rule = (path: string, source: Rule["source"] = "user"): Rule => ({
  pattern: path,
  path,
  kind: /[*?[]/.test(path) ? "glob" : "path",
  source
})

export interface Said {
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Sandbox {
  /** The project: whitelisted, and the current directory. */
  readonly project: string
  /** Its parent, which is not. */
  readonly outside: string
  readonly session: string
  readonly wrapped: LinuxPlatform.LinuxWrapped
  /** Runs a command in a sandbox, from start to end. */
  readonly run: (command: string, stdio?: ReadonlyArray<number>) => Effect.Effect<Said>
  /** Starts a shell that reads commands. */
  readonly start: Effect.Effect<Shell, never, Scope.Scope>
}

export interface Shell {
  readonly pid: number
  /** Runs a command in it, and answers with all that it put out. */
  readonly ask: (command: string) => Effect.Effect<string>
  readonly ended: Effect.Effect<void>
}

export const spawn = (
  program: string,
  args: ReadonlyArray<string>,
  options: ChildProcess.SpawnOptions
): Effect.Effect<Said> =>
  Effect.async((resume) => {
    const child = ChildProcess.spawn(program, args, options)
    let [stdout, stderr] = ["", ""]
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.once("error", (error) => resume(Effect.die(error)))
    child.once("close", (code, signal) => resume(Effect.succeed({ stdout, stderr, code, signal })))
  })

const startShell = (wrapped: LinuxPlatform.LinuxWrapped, cwd: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const { args, program } = wrapped.spawnable
        const child = ChildProcess.spawn(program, args, { cwd, env: wrapped.environment, detached: true })
        return { child, ended: new Promise<void>((resolve) => child.once("close", () => resolve())) }
      }),
      ({ child, ended }) =>
        Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
    ),
    ({ child, ended }): Shell => ({
      pid: child.pid ?? 0,
      ended: Effect.promise(() => ended),
      ask: (command) =>
        Effect.async((resume) => {
          const mark = `=${crypto.randomUUID()}=`
          let said = ""
          const hear = (chunk: Buffer) => {
            said += chunk.toString()
            if (!said.includes(mark)) return
            child.stdout.off("data", hear)
            resume(Effect.succeed(said.slice(0, said.indexOf(mark))))
          }
          child.stdout.on("data", hear)
          child.stdin.write(`{ ${command}\n} 2>&1; echo '${mark}'\n`)
        })
    })
  )

export interface Setup {
  readonly policy?: (places: { readonly project: string; readonly outside: string }) => Partial<SandboxPolicy>
  /** Makes files before the policy is looked up. */
  readonly prepare?: (places: { readonly project: string; readonly outside: string }) => void
  readonly options?: LinuxPlatform.LinuxOptions
  readonly environment?: Readonly<Record<string, string>>
}

export const make = (setup: Setup = {}) =>
  Effect.gen(function* () {
    const outside = yield* Effect.acquireRelease(
      Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(Path.join(base(), "sandbox-test-")))),
      (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
    )
    const project = Path.join(outside, "project")
    Fs.mkdirSync(project)
    const sessions = Path.join(outside, `synapse-${process.getuid?.()}`)
    const session = Path.join(sessions, "session-1")
    Fs.mkdirSync(session, { recursive: true, mode: 0o700 })
    setup.prepare?.({ project, outside })
    const policy: SandboxPolicy = {
      cwd: project,
      whitelist: [rule(project, "cwd")],
      blacklist: [],
      readonly: [],
      allowNetwork: false,
      ...setup.policy?.({ project, outside })
    }
    const platform = yield* LinuxPlatform.make(setup.options)
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "/",
      // Every process of the sandbox carries it: `leftovers` looks for that.
      XDG_TEST_MARK: outside,
      ...setup.environment
    }
    const wrapped = yield* platform.wrap({
      policy,
      shell: { program: "/bin/bash", args: ["--norc", "--noprofile"] },
      directory: session,
      environment
    })
    const sandbox: Sandbox = {
      project,
      outside,
      session,
      wrapped,
      run: (command, stdio = []) =>
        spawn(wrapped.spawnable.program, [...wrapped.spawnable.args, "-c", command], {
          cwd: project,
          env: wrapped.environment,
          detached: true,
          stdio: ["ignore", "pipe", "pipe", ...stdio]
        }),
      start: startShell(wrapped, project)
    }
    return sandbox
  })

/** What is left of the sandboxes of a test. */
export const leftovers = (outside: string): ReadonlyArray<string> =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isOurs = Fs.readFileSync(`/proc/${pid}/environ`, "latin1").includes(`XDG_TEST_MARK=${outside}\0`)
        return isOurs ? [Fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")] : []
      } catch {
        return []
      }
    })

/** Neither processes nor files; what was killed may take the kernel a moment. */
export const assertGone = (outside: string): Effect.Effect<void> =>
  Effect.sync(() => leftovers(outside)).pipe(
    Effect.repeat({
      until: (left) => left.length === 0,
      schedule: Schedule.spaced(10).pipe(Schedule.intersect(Schedule.recurs(200)))
    }),
    Effect.zipRight(
      Effect.sync(() => {
        assert.deepStrictEqual(leftovers(outside), [])
        assert.isFalse(Fs.existsSync(outside))
      })
    )
  )

/** A test over a sandbox; after it there is neither a process nor a plan of it. */
export const effect = (
  name: string,
  setup: Setup,
  test: (sandbox: Sandbox) => Effect.Effect<unknown, unknown, Scope.Scope>
): void => {
  it.live(name, () =>
    Effect.gen(function* () {
      let outside = ""
      yield* Effect.scoped(
        Effect.gen(function* () {
          const sandbox = yield* make(setup)
          outside = sandbox.outside
          const plans = Path.dirname(sandbox.session)
          yield* test(sandbox)
          assert.isTrue(Fs.existsSync(plans))
        })
      )
      yield* assertGone(outside)
    })
  )
}
