/** Against repositories that git makes. */
import { execFileSync, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { GitHeld } from "../../../src/sandbox/policy/GitHeld.js"

const place = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-held-")))
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

/** Makes a repository with a committed `.env`, and files around it so that paths share beginnings. */
const make = (name: string, ...init: ReadonlyArray<string>): string => {
  const root = Path.join(place, name)
  Fs.mkdirSync(Path.join(root, "app/config"), { recursive: true })
  git(root, "init", "-q", ...init)
  for (const file of [".env", "app/.env", "app/config/.env", "app/config/a", "app/z"])
    Fs.writeFileSync(Path.join(root, file), `X=${file}\n`)
  git(root, "add", "-f", ".")
  git(root, "commit", "-qm", "x")
  return root
}
const has = (...path: ReadonlyArray<string>) => new GitHeld().has(Path.join(...path))

describe.skipIf(spawnSync("git", ["--version"]).status !== 0)("a file whose content git holds", () => {
  it("is found in indexes of all versions", () => {
    for (const version of ["2", "3", "4"]) {
      const root = make(`v${version}`)
      git(root, "update-index", "--index-version", version)
      for (const file of [".env", "app/.env", "app/config/.env"]) assert.isTrue(has(root, file), `${version} ${file}`)
    }
  })

  it("is found in a repository of SHA-256, a linked worktree and a submodule", () => {
    assert.isTrue(has(make("sha256", "--object-format=sha256"), ".env"))
    const root = make("main")
    git(root, "worktree", "add", "-q", "../linked")
    assert.isTrue(has(place, "linked/app/.env"))
    const outer = make("outer")
    git(outer, "submodule", "add", "-q", root, "inner")
    assert.isTrue(has(outer, "inner/.env"))
  })

  it("is not one after a change, whatever its index says of its size and times, except where it was one before", () => {
    const root = make("changed")
    const file = Path.join(root, ".env")
    const before = new GitHeld()
    assert.isTrue(before.has(file))
    const { atime, mtime } = Fs.statSync(file)
    Fs.writeFileSync(file, "X=.enw\n")
    Fs.utimesSync(file, atime, mtime)
    assert.isFalse(has(root, ".env"))
    assert.isTrue(before.has(file))
    Fs.rmSync(file)
    assert.isTrue(before.has(file), "between git's removal and the file that it writes")
    assert.isFalse(has(root, ".env"))
    Fs.symlinkSync("app/.env", file)
    assert.isFalse(before.has(file))
    const policy = {}
    assert.strictEqual(GitHeld.of(policy), GitHeld.of(policy))
    assert.notStrictEqual(GitHeld.of(policy), GitHeld.of({}))
  })

  it("is none where it is only tracked, in conflict, a link, or has another name", () => {
    const root = make("others")
    Fs.writeFileSync(Path.join(root, "app/.env"), "SECRET=1\n")
    assert.isFalse(has(root, "app/.env"))
    git(root, "update-index", "--assume-unchanged", "app/.env")
    assert.isFalse(has(root, "app/.env"))
    Fs.linkSync(Path.join(root, ".env"), Path.join(root, "copy"))
    assert.isFalse(has(root, ".env"))
    Fs.rmSync(Path.join(root, "copy"))
    Fs.rmSync(Path.join(root, "app/config/.env"))
    Fs.symlinkSync("../../.env", Path.join(root, "app/config/.env"))
    assert.isFalse(has(root, "app/config/.env"))
    Fs.writeFileSync(Path.join(root, "untracked.env"), "")
    assert.isFalse(has(root, "untracked.env"))
  })

  it("is none where the index can't be read, is cut off, or no index", () => {
    const root = make("broken")
    const index = Path.join(root, ".git/index")
    const bytes = Fs.readFileSync(index)
    Fs.writeFileSync(index, bytes.subarray(0, 60))
    assert.isFalse(has(root, ".env"))
    Fs.writeFileSync(index, "DIRC")
    assert.isFalse(has(root, ".env"))
    Fs.rmSync(index)
    Fs.mkdirSync(index)
    assert.isFalse(has(root, ".env"))
    assert.isFalse(has(place, "nowhere/.env"))
  })
})
