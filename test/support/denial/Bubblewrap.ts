/**
 * A sandbox by hand over a World, for the messages that real programs give in it.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import type { Mask } from "../../../src/sandbox/platform/SandboxPlatform.js"
import type { Rule } from "../../../src/sandbox/policy/SandboxPolicy.js"
import type { World } from "./World.js"

/** What a World's policy masks. */
export const masksOf = ({ home, policy, project }: World): ReadonlyArray<Mask> => {
  const ruleOf = (pattern: string) => policy.blacklist.find((rule) => rule.pattern === pattern) as Rule
  const file = (name: string, pattern: string): Mask => ({
    path: `${project}/${name}`,
    kind: "file",
    rule: ruleOf(pattern)
  })
  return [
    file(".env", "**/.env"),
    file("sub/.env", "**/.env"),
    file("a b/it's.key", "**/*.key"),
    file("n\nl.key", "**/*.key"),
    file("ü.key", "**/*.key"),
    { path: `${home}/.ssh`, kind: "directory", rule: ruleOf("~/.ssh") },
    { path: `${project}/vault`, kind: "directory", rule: ruleOf(`${project}/vault`) }
  ]
}

export interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** The shell's directory at its end, where it came to its end. */
  readonly directory: string
}

const isolation =
  "--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --cap-drop ALL --die-with-parent --new-session --hostname localhost --ro-bind / / --dev /dev --proc /proc"

/** The arguments that run a bash in a World's sandbox. */
export const planOf = (world: World): ReadonlyArray<string> => {
  const { home, project, root } = world
  const nothing = `${root}/nothing`
  Fs.writeFileSync(nothing, "", { mode: 0 })
  return [
    ...isolation.split(" "),
    ...["--bind", project, project],
    ...masksOf(world).flatMap(({ kind, path }) =>
      kind === "file" ? ["--ro-bind", nothing, path] : ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
    ),
    ...["--clearenv", "--setenv", "PATH", process.env["PATH"] ?? "/usr/bin:/bin", "--setenv", "HOME", home],
    ...["--setenv", "LC_ALL", "C.UTF-8", "--setenv", "TMPDIR", project, "--chdir", project]
  ]
}

export const isThere = ChildProcess.spawnSync("bwrap", ["--version"]).status === 0

export const run = (world: World, command: string): Promise<Ran> =>
  new Promise((resolve) => {
    // What the session does: the directory that the shell is in is told when the command has ended.
    const script = 'trap "pwd -P >&4" EXIT; eval "$1"'
    const bash = ["bash", "--norc", "-c", script, "bash", command.replaceAll("ROOT", world.root)]
    const child = ChildProcess.spawn("bwrap", [...planOf(world), ...bash], {
      stdio: ["ignore", "pipe", "pipe", "ignore", "pipe"]
    })
    const texts = ["", "", "", "", ""]
    for (const fd of [1, 2, 4]) child.stdio[fd]?.on("data", (chunk: Buffer) => (texts[fd] += chunk.toString()))
    child.on("close", (code) => {
      const [, stdout = "", stderr = "", , directory = ""] = texts
      resolve({ stdout, stderr, exitCode: code ?? -1, directory: directory.trim() || world.project })
    })
  })
