/** Against repositories that git makes. */
import { execFileSync, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxFile from "../../../src/sandbox/config/SandboxFile.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as TaintedPaths from "../../../src/sandbox/config/TaintedPaths.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"

const place = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-git-")))
afterAll(() => Fs.rmSync(place, { recursive: true, force: true }))

const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com"
}
const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "protocol.file.allow=always", ...args], { cwd, env, stdio: "pipe" }).toString()

/** Makes a repository with a commit, and directories in it. */
const make = (name: string): string => {
  const root = Path.join(place, name)
  Fs.mkdirSync(Path.join(root, "packages/app"), { recursive: true })
  git(root, "init", "-q")
  Fs.writeFileSync(Path.join(root, "packages/app/a"), "1\n")
  git(root, "add", ".")
  git(root, "commit", "-qm", "x")
  return root
}

const home = Path.join(place, "home")
const settings = SandboxSettings.make({ home, userHome: "/nonexistent", temporary: "/nonexistent/tmp" })

const policyOf = (cwd: string) =>
  Either.getOrThrow(PolicyBuilder.merge(cwd, Path.join(home, "sandbox.json"), SandboxFile.defaults, settings))

/** Returns the repository that commands may write, outside of their directory. */
const written = (...cwd: ReadonlyArray<string>) =>
  policyOf(Path.join(...cwd)).whitelist.flatMap(({ path, source }) => (source === "git" ? [path] : []))

describe.skipIf(spawnSync("git", ["--version"]).status !== 0)("the repository of a directory", () => {
  it("is written from a linked worktree, a submodule, a directory of a working tree, and a worktree of a bare one", () => {
    const main = make("main")
    git(main, "worktree", "add", "-q", "../linked")
    assert.deepStrictEqual(written(place, "linked"), [`${main}/.git`])
    assert.deepStrictEqual(written(place, "linked/packages/app"), [`${main}/.git`])
    assert.deepStrictEqual(written(main, "packages/app"), [`${main}/.git`])
    const outer = make("outer")
    git(outer, "submodule", "add", "-q", main, "lib/inner")
    assert.deepStrictEqual(written(outer, "lib/inner"), [`${outer}/.git/modules/lib/inner`])
    git(place, "clone", "-q", "--bare", main, "bare.git")
    git(Path.join(place, "bare.git"), "worktree", "add", "-q", "../of-bare")
    assert.deepStrictEqual(written(place, "of-bare"), [`${place}/bare.git`])
  })

  it("is nothing of its own where it lies within", () => {
    assert.deepStrictEqual(written(make("within")), [])
    assert.deepStrictEqual(written(place), [])
  })

  it("stays read-only where it names what runs", () => {
    const main = make("protected")
    git(main, "worktree", "add", "-q", "../its-tree")
    const { decide } = PolicyDecision.make(policyOf(Path.join(place, "its-tree")))
    const mayWrite = (name: string) => decide(`${main}/.git/${name}`, "write").allowed
    for (const name of ["objects/ab", "refs/heads/x", "worktrees/its-tree/index", "packed-refs", "config"])
      assert.isTrue(mayWrite(name), name)
    for (const name of ["hooks", "hooks/pre-commit"]) assert.isFalse(mayWrite(name), name)
    assert.isFalse(decide(`${main}/packages/app/a`, "write").allowed)
  })

  describe("is not written where a command may have led there:", () => {
    const victim = () => {
      const root = make(`victim-${Math.random()}`)
      git(root, "worktree", "add", "-q", `${root}-tree`)
      return root
    }
    const project = (root: string) => {
      const path = `${root}-project`
      Fs.mkdirSync(path)
      return path
    }

    it("a .git file that names the worktree of another directory", () => {
      const root = victim()
      const cwd = project(root)
      Fs.writeFileSync(`${cwd}/.git`, `gitdir: ${root}/.git/worktrees/${Path.basename(root)}-tree\n`)
      assert.deepStrictEqual(written(cwd), [])
    })

    it("a .git file that names a repository itself, or a directory of another", () => {
      const root = victim()
      const cwd = project(root)
      for (const name of [`${root}/.git`, `${root}/.git/objects`, "/etc", `${root}/nowhere`]) {
        Fs.writeFileSync(`${cwd}/.git`, `gitdir: ${name}\n`)
        assert.deepStrictEqual(written(cwd), [], name)
      }
    })

    it("a worktree's directory of its own making, whose commondir leads elsewhere", () => {
      const root = victim()
      const cwd = project(root)
      const forged = `${cwd}/fake/worktrees/x`
      Fs.mkdirSync(forged, { recursive: true })
      Fs.writeFileSync(`${cwd}/.git`, `gitdir: ${forged}\n`)
      Fs.writeFileSync(`${forged}/gitdir`, `${cwd}/.git\n`)
      Fs.writeFileSync(`${forged}/commondir`, `${root}/.git\n`)
      assert.deepStrictEqual(written(cwd), [])
    })

    it("a submodule whose configuration names another working tree", () => {
      const root = victim()
      const outer = make(`outer-${Math.random()}`)
      git(outer, "submodule", "add", "-q", root, "inner")
      const cwd = project(outer)
      Fs.writeFileSync(`${cwd}/.git`, `gitdir: ${outer}/.git/modules/inner\n`)
      assert.deepStrictEqual(written(cwd), [])
    })

    it("a link in a place that commands could write, also to what names the directory in turn", () => {
      const root = victim()
      const tree = `${root}-tree`
      const places = Path.join(Path.dirname(root), `places-${Math.random()}`)
      Fs.mkdirSync(places)
      TaintedPaths.remember(home, [places])
      Fs.symlinkSync(`${root}/.git`, `${places}/link`)
      Fs.writeFileSync(`${tree}/.git`, `gitdir: ${places}/link/worktrees/${Path.basename(tree)}\n`)
      assert.deepStrictEqual(written(tree), [])
    })

    it("a .git that is a link, or a repository without hooks", () => {
      const root = victim()
      const cwd = project(root)
      Fs.mkdirSync(`${cwd}/sub`)
      Fs.symlinkSync(`${root}/.git`, `${cwd}/.git`)
      assert.deepStrictEqual(written(`${cwd}/sub`), [])
      Fs.rmSync(`${root}/.git/hooks`, { recursive: true })
      assert.deepStrictEqual(written(`${root}-tree`), [])
    })
  })
})
