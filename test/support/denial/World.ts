/**
 * A directory with a project and a home in it, and a policy over them.
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type { Rule, SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"

export interface World {
  readonly root: string
  readonly home: string
  readonly project: string
  readonly policy: SandboxPolicy
}

export const path = (path: string, source: Rule["source"] = "user"): Rule => ({
  pattern: path,
  path,
  kind: "path",
  source
})

export const glob = (pattern: string, source: Rule["source"] = "default"): Rule => ({
  pattern,
  path: `/${pattern}`,
  kind: "glob",
  source
})

/** Files and directories (which end in a slash), each with its mode where it is not the usual one. */
const entries: ReadonlyArray<readonly [name: string, mode?: number]> = [
  ["home/.ssh/id_rsa"],
  ["home/notes.txt"],
  ["project/.env"],
  ["project/sub/.env"],
  ["project/a.txt"],
  ["project/src/main.py"],
  ["project/vault/key.pem"],
  ["project/a b/it's.key"],
  ["project/n\nl.key"],
  ["project/ü.key"],
  ["project/own", 0o000],
  ["project/run.sh", 0o644],
  ["elsewhere/readable.txt"]
]

/** Makes one, gives it to `body`, and removes it. */
export const withWorld = async <A>(body: (world: World) => A | Promise<A>): Promise<A> => {
  const root = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "denial-test-")))
  try {
    for (const [name, mode] of entries) {
      Fs.mkdirSync(Path.dirname(`${root}/${name}`), { recursive: true })
      Fs.writeFileSync(`${root}/${name}`, `secret of ${Path.basename(name)}\n`)
      if (mode !== undefined) Fs.chmodSync(`${root}/${name}`, mode)
    }
    Fs.symlinkSync(".env", `${root}/project/link`)
    Fs.symlinkSync("../home/.ssh", `${root}/project/keys`)
    Fs.symlinkSync("sub", `${root}/project/away`)
    return await body(worldAt(root))
  } finally {
    Fs.chmodSync(`${root}/project/own`, 0o600)
    Fs.rmSync(root, { recursive: true, force: true })
  }
}

const worldAt = (root: string): World => {
  const [home, project] = [`${root}/home`, `${root}/project`]
  return {
    root,
    home,
    project,
    policy: {
      cwd: project,
      whitelist: [path(project, "cwd")],
      blacklist: [
        { pattern: "~/.ssh", path: `${home}/.ssh`, kind: "path", source: "default" },
        { pattern: "~/.aws", path: `${home}/.aws`, kind: "path", source: "default" },
        path("/home/.ssh"),
        path(`${project}/vault`, "file"),
        glob("**/.env"),
        glob("**/*.key", "file")
      ],
      readonly: [],
      allowNetwork: false
    }
  }
}
