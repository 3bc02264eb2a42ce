/**
 * Reads the environment of the user's login shell, which version managers such as nvm and pyenv set up.
 */
import * as ChildProcess from "node:child_process"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../../domain/Attempt.js"
import * as ShellEnvironment from "../../session/ShellEnvironment.js"
import * as StartupFiles from "../config/StartupFiles.js"
import * as TaintedPaths from "../config/TaintedPaths.js"
import type { PolicyDecision } from "../policy/PolicyDecision.js"

/** The variables of a login shell, or why they could not be read. */
export interface Profile {
  readonly variables: Readonly<Record<string, string>>
  readonly failure?: string
}

const none = (failure: string): Profile => ({ variables: {}, failure })

/** How long the shell may run, in ms; and the most bytes that are read. */
const patience = 5000
const most = 1024 * 1024
const end = "__synapse_end"

/** Variables about the shell itself. */
const shells = new Set(["_", "OLDPWD", "PWD", "SHLVL"])

const parse = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split("\0").flatMap((entry) => {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(entry) ?? []
      return shells.has(name) || ShellEnvironment.refusal(name) !== undefined ? [] : [[name, value]]
    })
  )

/**
 * Runs a login shell without a terminal, and reads its environment from a separate pipe. Its output is ignored, and its
 * input is empty.
 */
export const run = (shell: string, home: string, limit = patience): Effect.Effect<Profile> =>
  Effect.async((resume) => {
    let text = ""
    const said = `The environment of the login shell (${shell}) is not used: it`
    const child = ChildProcess.spawn(shell, ["-i", "-l", "-c", `/usr/bin/env -0 >&3 && printf ${end} >&3`], {
      cwd: home,
      detached: true,
      // Other variables of this process may stem from another shell.
      env: { HOME: home, PATH: "/usr/local/bin:/usr/bin:/bin", SHELL: shell, TERM: "dumb", ...account() },
      stdio: ["ignore", "ignore", "ignore", "pipe"]
    })
    const finish = (profile: Profile) => {
      clearTimeout(timer)
      // Background processes of the shell may hold the pipe.
      child.stdio[3]?.destroy()
      child.unref()
      resume(Effect.succeed(profile))
    }
    const stop = (why: string) => {
      Attempt.ignore(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"))
      finish(none(`${said} ${why}.`))
    }
    const timer = setTimeout(() => stop(`took longer than ${limit / 1000} s`), limit)
    child.stdio[3]?.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.length > most) stop("is too large")
      else if (text.endsWith(`\0${end}`)) finish({ variables: parse(text) })
    })
    child.on("error", ({ message }) => stop(`can't be started: ${message}`))
    child.on("exit", (code, signal) => {
      if (code !== 0) stop(`ended with ${signal ?? `exit code ${code}`}`)
    })
    return Effect.sync(() => stop("was interrupted"))
  })

const account = (): Readonly<Record<string, string>> =>
  Attempt.orElse(() => {
    const { username } = Os.userInfo()
    return { USER: username, LOGNAME: username }
  }, {})

/** The results by shell and home, shared by all sessions of a process. */
const known = GlobalValue.globalValue("synapse/LoginShell", () => new Map<string, Profile>())

/** Start-up files, and directories of which entries may be allowed individually. */
const startup = [
  ...StartupFiles.ofShells,
  ...["conf.d", "config.fish", "functions"].map((name) => `.config/fish/${name}`),
  ...[".zlogin", ".zprofile", ".zshenv", ".zshrc"].map((name) => `.config/zsh/${name}`)
]

/** Reads the environment of the user's login shell, unless commands can or could write what that shell reads. */
export const read = (home: string, { decide }: Pick<PolicyDecision, "decide">): Effect.Effect<Profile> =>
  Effect.suspend(() => {
    const found = known.get(home)
    if (found !== undefined) return Effect.succeed(found)
    const open = startup.map((name) => Path.join(home, name)).find((path) => decide(path, "write").allowed)
    const place = open ?? TaintedPaths.writtenAround(home)
    if (place !== undefined) {
      return Effect.succeed(
        none(`The environment of the login shell is not used: commands can or could write ${place}.`)
      )
    }
    const shell = Attempt.orUndefined(() => Os.userInfo().shell) ?? "/bin/bash"
    return Effect.tap(run(shell, home), (profile) => Effect.sync(() => known.set(home, profile)))
  })

/**
 * Returns what a profile adds to an environment, whose own variables take precedence. In PATH, directories that only
 * the environment has come first, because they belong to a virtual environment or the like.
 */
export const added = (
  { variables }: Profile,
  environment: Readonly<Record<string, string | undefined>>
): Readonly<Record<string, string>> => {
  const path = (variables["PATH"] ?? "").split(":").filter((one) => one !== "")
  const own = (environment["PATH"] ?? "").split(":").filter((one) => one !== "" && !path.includes(one))
  return {
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => !environment[name])),
    ...(path.length === 0 ? undefined : { PATH: [...own, ...path].join(":") })
  }
}
