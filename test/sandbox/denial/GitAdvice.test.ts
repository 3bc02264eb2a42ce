import { assert, describe, it } from "@effect/vitest"
import * as PassingDenial from "../../../src/sandbox/denial/PassingDenial.js"

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
      ["git commit --all -m x", "git add -u -- @ adds the rest."],
      ["git commit -qam x", "git add -u -- @ adds the rest."],
      ["git diff --stat | tail", "git diff --stat -- @ shows the rest."],
      ["git diff", "git diff -- @ shows the rest."],
      ["git stash", "git stash push -- @ stashes the rest."],
      ["git diff HEAD~1", undefined],
      ["git stash pop", undefined],
      ["git commit -m 'x -a y'", undefined],
      ["git stash; git diff", undefined],
      ["git rebase main", undefined]
    ] as const) {
      it(`${command}: ${excluded}`, () => {
        const found = PassingDenial.gitRemedy(command, stderr)
        assert.strictEqual(found, remedy?.replace("@", excluded))
      })
    }
  }
})
