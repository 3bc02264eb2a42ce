import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as GitAdvice from "../../../src/sandbox/denial/GitAdvice.js"

const stopped = {
  "error: unable to index file 'a/.env'\n": "':!/a/.env'",
  'error: open(".env"): Permission denied\nfatal: cannot hash .env\n': "':!/.env'",
  "fatal: Unable to process path .env\nCannot save the current worktree state\n": "':!/.env'"
}

describe("what git can do with all but a hidden file", () => {
  for (const [stderr, excluded] of Object.entries(stopped)) {
    for (const [command, remedy] of [
      ["git add -p </dev/null", "git add -u -- @ adds the rest."],
      ["git add -A && git commit -m x", "git add -A -- @ adds the rest."],
      ["git commit --all -m x", "git commit -m x -- ':/' @ commits the rest."],
      ["cd a; git commit -a -m 'a b' --no-verify && ls", "git commit -m 'a b' --no-verify -- ':/' @ commits the rest."],
      ['git commit -am "$(cat m)"', "git add -u -- @ adds the rest."],
      ["git commit -qam x", "git commit -qm x -- ':/' @ commits the rest."],
      ["git diff --stat | tail", "git diff --stat -- @ shows the rest."],
      ["git diff", "git diff -- @ shows the rest."],
      ["git stash", "git stash push -- @ stashes the rest."],
      ["git diff HEAD~1", undefined],
      ["git stash -u", "git stash push -u -- @ stashes the rest."],
      ["git add src test", "git add src test -- @ adds the rest."],
      ["git add --all :/", "git add --all :/ -- @ adds the rest."],
      ["git add ./ src/a.ts", "git add ./ src/a.ts -- @ adds the rest."],
      ["git add .env a", undefined],
      ["git stash pop", undefined],
      ["git commit -m 'x -a y'", undefined],
      ["git stash; git diff", undefined],
      ["git rebase main", undefined]
    ] as const) {
      it(`${command}: ${excluded}`, () => {
        const found = GitAdvice.rest({ command: CommandLine.parse(command), directories: ["/"], masks: [], stderr })
        assert.strictEqual(found, remedy?.replace("@", excluded))
      })
    }
  }
})

describe("what git says of a file that it could not replace", () => {
  const unsure = "git may have changed other files: see git status."
  const busy = "error: unable to unlink old 'fix/.env': Device or resource busy\n"
  for (const [command, more, told] of [
    ["git checkout . && git merge main", "", unsure],
    ["git switch -f main", "", unsure],
    [
      "make clean",
      "fatal: Could not reset index file to revision 'HEAD~1'.\n",
      "git has stopped in the middle. git restore --source='HEAD~1' --staged --worktree -- ':/' ':!/fix/.env' && git reset -q 'HEAD~1' does the rest."
    ]
  ] as const) {
    it(command, () =>
      assert.strictEqual(
        GitAdvice.rest({ command: CommandLine.parse(command), directories: ["/"], masks: [], stderr: busy + more }),
        told
      )
    )
  }
})

describe("what git leaves of a command that names hidden files", () => {
  const masks = ["/.env", "/sub/.env"].map((path) => {
    const rule = { pattern: "**/.env", path: "**/.env", kind: "glob", source: "default" } as const
    return { path, kind: "file", rule } as const
  })
  const unread = "error: unable to index file 'sub/.env'\n"
  for (const [command, stderr, told] of [
    ["git add sub/.env && git commit -m x", unread, undefined],
    ["git add -- etc; git add src sub/.env", unread, undefined],
    ["git add sub", unread, "git add sub -- ':!/sub/.env' adds the rest."],
    ["git add -A; git restore .env", unread, "git add -A -- ':!/sub/.env' adds the rest."]
  ] as const) {
    it(command, () =>
      assert.strictEqual(
        GitAdvice.rest({ command: CommandLine.parse(command), directories: ["/"], masks, stderr }),
        told
      )
    )
  }
})

describe("a worktree where commands may write", () => {
  for (const [command, told] of [
    ["git worktree add ../x", "git worktree add .worktrees/x"],
    ["git worktree add ../x HEAD~1", "git worktree add .worktrees/x HEAD~1"],
    ["git -C . worktree add -q /srv/y main^", "git worktree add .worktrees/y main^"],
    ["git worktree add -b new ../x v1.0", "git worktree add .worktrees/x new"],
    ["git worktree add ../$X", undefined],
    ["git worktree list", undefined]
  ] as const) {
    it(command, () =>
      assert.strictEqual(GitAdvice.worktree(CommandLine.parse(command)), told && `It can lie in the project (${told}).`)
    )
  }
})
