/** What appears in directories that were at rest before: a guard looks again only where something may have changed. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxFile from "../../../src/sandbox/config/SandboxFile.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import { StartupGuard } from "../../../src/sandbox/internal/StartupGuard.js"
import type { SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import * as Temporary from "../../support/Temporary.js"

/** Longer than the time after a change in which a directory is always looked at again, in ms. */
const rest = 150

/** Sessions of other tests share the machine's directory for temporary files, and guard the repositories in it. */
const unshared = Path.join(import.meta.dirname, "../../../node_modules")

/** Synapse's own directories for commands. */
const own = (directory: string): Pick<SandboxPolicy, "temporary" | "toolCache"> => {
  const rule = (name: string) =>
    ({ pattern: `${directory}/${name}`, path: `${directory}/${name}`, kind: "path", source: "cache" }) as const
  return { temporary: rule("tmp"), toolCache: rule("cache") }
}

/**
 * Makes a guard for a project whose directories were looked at twice, at rest, and returns what it finds later.
 *
 * @param machines true if commands have the machine's directory for temporary files
 */
const guarded = <A>(
  before: (path: (name: string) => string) => void,
  use: (found: Found) => Promise<A>,
  machines = false
): Promise<A> =>
  Temporary.using(async (directory) => {
    const project = Path.join(directory, "project")
    const path = (name: string) => Path.join(project, name)
    Fs.mkdirSync(path("elsewhere"), { recursive: true })
    before(path)
    const settings = SandboxSettings.make({
      home: path("../home"),
      userHome: "/nonexistent",
      temporary: machines ? path("../machine") : "/nonexistent/t",
      temporaryFiles: machines ? "host" : "private"
    })
    const merged = PolicyBuilder.merge(project, path("../home/sandbox.json"), SandboxFile.defaults, settings)
    const policy = { ...Either.getOrThrow(merged), ...(machines ? undefined : own(path("../own"))) }
    const guard = new StartupGuard(policy, "/nonexistent")
    guard.begin([])
    const look = async (command = "true") => {
      await setTimeout(rest)
      return { changed: guard.afterCommand(command, [project]).map((one) => one.path), told: guard.told() }
    }
    for (let times = 0; times < 2; times++) assert.deepStrictEqual(await look(), { changed: [], told: undefined })
    return use({ path, look, guard, policy })
  }, unshared)

interface Found {
  readonly path: (name: string) => string
  readonly guard: StartupGuard
  readonly policy: SandboxPolicy
  readonly look: (
    command?: string
  ) => Promise<{ readonly changed: ReadonlyArray<string>; readonly told: string | undefined }>
}

const write = (path: string, text: string) => {
  Fs.mkdirSync(Path.dirname(path), { recursive: true })
  Fs.writeFileSync(path, text)
}

const makeGit = (path: string) => {
  Fs.mkdirSync(`${path}/objects`, { recursive: true })
  write(`${path}/HEAD`, "ref: refs/heads/main\n")
  write(`${path}/config`, "[core]\n\tfsmonitor = evil\n")
}

describe("a directory at rest", () => {
  it("is looked at again where it was missing, also behind a link that led nowhere", () =>
    guarded(
      (path) => Fs.symlinkSync("elsewhere/jj", path(".jj")),
      async ({ look, path }) => {
        write(path(".hg/hgrc"), "x")
        assert.include((await look()).told, ".hg/hgrc")
        assert.isUndefined((await look()).told)
        write(path("elsewhere/jj/repo/config.toml"), "x")
        assert.include((await look()).told, ".jj/repo/config.toml")
      }
    ))

  it("is looked at again once another has taken its place", () =>
    guarded(
      (path) => write(path("old/hgrc"), "x"),
      async ({ look, path }) => {
        Fs.mkdirSync(path(".hg"))
        assert.isUndefined((await look()).told)
        Fs.rmdirSync(path(".hg"))
        Fs.renameSync(path("old"), path(".hg"))
        assert.include((await look()).told, ".hg/hgrc")
      }
    ))

  it("becomes a working tree by what a file or a link of it leads to", () =>
    guarded(
      (path) => write(path(".git"), "gitdir: elsewhere/git\n"),
      async ({ look, path }) => {
        makeGit(path("elsewhere/git"))
        assert.deepStrictEqual((await look()).changed, [path("elsewhere/git/config")])
      }
    ))

  it("becomes a working tree of a git directory in the sandbox's own /tmp, or among the caches of tools", async () => {
    for (const own of ["temporary", "toolCache"] as const) {
      await guarded(
        () => {},
        async ({ look, path, policy }) => {
          const git = `${policy[own]?.path}/git`
          makeGit(git)
          write(path(".git"), `gitdir: ${git}\n`)
          assert.deepStrictEqual((await look()).changed, [`${git}/config`])
        }
      )
    }
  })

  it("becomes a working tree of a git directory in the machine's /tmp, where commands have that one", () =>
    guarded(
      (path) => Fs.mkdirSync(path("../machine")),
      async ({ look, path }) => {
        const git = path("../machine/git")
        makeGit(git)
        write(path(".git"), `gitdir: ${git}\n`)
        assert.deepStrictEqual((await look()).changed, [`${git}/config`])
        const other = path("../machine/other")
        makeGit(`${other}/.git`)
        assert.include((await look(`git -C ${other} status`)).changed, `${other}/.git/config`)
      },
      true
    ))

  it("becomes a git directory by its last missing part", () =>
    guarded(
      (path) => {
        write(path("HEAD"), "ref: refs/heads/main\n")
        write(path("config"), "[core]\n\tfsmonitor = evil\n")
      },
      async ({ look, path }) => {
        Fs.symlinkSync("elsewhere", path("objects"))
        assert.deepStrictEqual((await look()).changed, [path("config")])
      }
    ))

  it("is told of, whoever has looked at it in the meantime", () =>
    guarded(
      () => {},
      async ({ guard, look, path }) => {
        write(path(".exrc"), "x")
        await setTimeout(rest)
        assert.deepStrictEqual(guard.allChanges([]), [])
        const { told } = await look()
        assert.include(told, ".exrc")
      }
    ))

  it("is told of by each tool that loads it, whatever else has changed", () =>
    guarded(
      () => {},
      async ({ look, path }) => {
        const decoys = [
          ".agents",
          ".aider.conf.yml",
          ".amazonq",
          ".claude",
          ".codex",
          ".continue",
          ".cursor",
          ".factory"
        ]
        for (let each = 0; each < 9; each++) write(path(`${each}.code-workspace`), "{}")
        for (const name of [...decoys, ".vscode"]) write(path(name), "")
        const { told = "" } = await look()
        assert.include(told, `what has changed: ${[...decoys, ".vscode"].join(", ")}, `)
        assert.match(told, /, (?:\d\.code-workspace(?:, | )){8}and 1 others\. It should/)
      }
    ))

  it("is looked at though it appeared while commands named others", () =>
    guarded(
      () => {},
      async ({ look, path }) => {
        await look("git -C sub status")
        Fs.mkdirSync(path("sub"))
        await look()
        await look()
        makeGit(path("sub/.git"))
        assert.deepStrictEqual((await look("git -C sub status")).changed, [path("sub/.git/config")])
      }
    ))
})

describe("a git directory", () => {
  it("is compared with what it was at first, and its configuration is no link to the same text", () =>
    guarded(
      (path) => makeGit(path(".git")),
      async ({ guard, look, path }) => {
        write(path(".git/hooks/pre-commit"), "#!/bin/sh\n")
        guard.begin([])
        assert.deepStrictEqual((await look()).changed, [path(".git/hooks")])
        Fs.renameSync(path(".git/config"), path("elsewhere/config"))
        Fs.symlinkSync("../elsewhere/config", path(".git/config"))
        assert.include((await look()).changed, path(".git/config"))
      }
    ))

  it("has its configuration back to the letter where a command has only added to it, also if its hooks are allowed", () => {
    const text = "# mine\n[core]\n\tbare = false ; not quoted\n"
    return guarded(
      (path) => {
        makeGit(path(".git"))
        write(path(".git/config"), text)
      },
      async ({ guard, look, path }) => {
        guard.add(path(".git/hooks"))
        write(path(".git/config"), `${text}\tpager = evil\n`)
        const [change] = guard.afterCommand("true", [path("")])
        change?.apply()
        assert.strictEqual(Fs.readFileSync(path(".git/config"), "utf8"), text)
        write(path(".git/hooks/pre-commit"), "#!/bin/sh\n")
        assert.deepStrictEqual((await look()).changed, [])
      }
    )
  })

  it("of a new worktree may name the one around it as the place of its configuration, and no other", () =>
    guarded(
      (path) => makeGit(path(".git")),
      async ({ look, path }) => {
        const worktree = path(".git/worktrees/w")
        write(`${worktree}/HEAD`, "ref: refs/heads/w\n")
        write(`${worktree}/commondir`, "../..\n")
        assert.deepStrictEqual((await look()).changed, [])
        write(`${worktree}/commondir`, "../../../elsewhere\n")
        assert.deepStrictEqual((await look()).changed, [`${worktree}/commondir`])
      }
    ))
})
