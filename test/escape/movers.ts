/** What moves while a session starts: it starts with the secret masked, or not at all. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { scene } from "../support/escape/Attack.js"
import type { Shape } from "../support/escape/World.js"

/** Moves things in the project until the scope ends, as another session's background job would. */
const moving = (world: Shape, script: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const options = { cwd: world.project, stdio: "ignore", detached: true } as const
      const child = ChildProcess.spawn("/bin/bash", ["-c", script], options)
      return { child, ended: new Promise((resolve) => child.once("close", resolve)) }
    }),
    ({ child, ended }) =>
      Effect.promise(() => {
        process.kill(-(child.pid ?? 0), "SIGKILL")
        return ended
      })
  )

/** Swaps the places of two names at once (renameat2 with RENAME_EXCHANGE), pair after pair, without end. */
const exchanging = (...pairs: ReadonlyArray<readonly [string, string]>) => {
  const renameat2 = process.arch === "arm64" ? 276 : 316
  const names = pairs.map(([one, other]) => `["${one}", "${other}"]`).join(", ")
  return `exec perl -e 'my @p = (${names}); while (1) { for (@p) { my ($a, $b) = @$_; syscall(${renameat2}, -100, $a, -100, $b, 2) } }'`
}

const movers: Readonly<Record<string, { readonly needs?: ReadonlyArray<string>; readonly script: string }>> = {
  "by a shell": { script: "while :; do mv x/pkg y/pkg; mv y/pkg x/pkg; done" },
  "as fast as can be": {
    needs: ["perl"],
    script: `exec perl -e 'while (1) { rename "x/pkg", "y/pkg"; rename "y/pkg", "x/pkg" }'`
  },
  "by exchange with another": {
    needs: ["perl"],
    script: exchanging(["x/pkg", "y/spare"])
  },
  "by exchange with a link to it, and of what lies around it": {
    needs: ["perl"],
    script: `ln -s x/pkg way; ${exchanging(["x/pkg", "way"], ["x", "y/spare"])}`
  },
  "while its rights come and go": {
    needs: ["perl"],
    script: `exec perl -e 'while (1) { chmod 0, "x/pkg"; chmod 0755, "x/pkg"; chmod 0, "x"; chmod 0755, "x" }'`
  }
}

const starts = 2

/** Reads as often as it takes for the one who moves to come by. */
const look =
  "for i in {1..40}; do for f in x/pkg/.env y/pkg/.env y/spare/.env y/spare/pkg/.env x/.env way/.env pkg/.env spare/.env .env; do { read -r line <$f && echo $line; } 2>/dev/null; done; done"

export const movingTrees = (ground: string): void => {
  for (const [title, { needs = [], script }] of Object.entries(movers)) {
    scene(ground, `moved to and fro ${title}`, { needs }, (world) =>
      Effect.gen(function* () {
        for (const name of ["x", "y", "y/spare", "spare"]) Fs.mkdirSync(`${world.project}/${name}`)
        Fs.writeFileSync(`${world.project}/spare/.env`, "spare")
        Fs.renameSync(`${world.project}/pkg`, `${world.project}/x/pkg`)
        yield* moving(world, script)
        for (let at = 0; at < starts; at++) {
          yield* world.manager.shutdown
          const said = yield* Effect.either(world.manager.execute(`cd ${world.project}; (${look})`))
          if (said._tag === "Left")
            assert.match(said.left.message, /^no sandbox: .*(moved|replaced|searched|not all that is)/)
          else assert.notInclude(said.right.stdout, world.secret)
        }
      }).pipe(Effect.scoped)
    )
  }
}
