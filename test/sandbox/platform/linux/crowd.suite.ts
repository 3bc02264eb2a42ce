/**
 * Many sandboxes at once, and one among many processes of the same user.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Launch from "../../../../src/sandbox/platform/linux/start/Launch.js"
import * as Ground from "../../../support/escape/Ground.js"
import { assertGone, effect, make, rule } from "../../../support/sandbox/Sandboxed.js"

const setup = {
  policy: () => ({ blacklist: [rule("/**/.env")] }),
  prepare: ({ project }: { readonly project: string }) => Fs.writeFileSync(`${project}/.env`, "secret\n")
}

/** Where the groups of this process's sandboxes lie. */
const groups = () =>
  ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"]
    .filter((path) => Fs.existsSync(path))
    .flatMap((path) => Fs.readdirSync(path).filter((name) => name.startsWith(`synapse-${process.pid}-`)))

/** Processes that do nothing, as many as a sandbox may have. */
const idlers = Effect.acquireRelease(
  Effect.async<ChildProcess.ChildProcess>((resume) => {
    const script = `$| = 1; for (1..${Launch.processes}) { fork or do { sleep 1000; exit } } print "ready"; sleep 1000`
    const child = ChildProcess.spawn("perl", ["-e", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] })
    child.stdout?.once("data", () => resume(Effect.succeed(child)))
  }),
  (child) =>
    Effect.async<void>((resume) => {
      child.once("close", () => resume(Effect.void))
      process.kill(-(child.pid ?? 0), "SIGKILL")
    })
)

/** The number of the system call, which perl makes without any module. */
const initialise: number | undefined = { x64: 294, arm64: 26 }[process.arch as string]

/** A perl script that makes instances of inotify, and prints how many it got. */
const script = (count: number) =>
  `$| = 1; my $n = 0; while ($n < ${count} && syscall(${initialise}, 0) >= 0) { $n++ } print "$n\\n"`

/** Makes instances of inotify outside of any sandbox, and returns how many it got. */
const watching = (count: number) =>
  Number(ChildProcess.spawnSync("perl", ["-e", script(count)], { encoding: "utf8" }).stdout)

/** Root starts many at once; an ordinary user has limits of its own. */
export const crowd = (title: string, isRoot: boolean): void => {
  describe(title, () => {
    it.live.skipIf(!isRoot && Ground.isSecond())(
      "30 sandboxes at once start, run, end, and leave nothing",
      () =>
        Effect.gen(function* () {
          const seen = yield* Effect.forEach(
            Array.from({ length: 30 }, (_, index) => index),
            (index) =>
              Effect.scoped(
                Effect.gen(function* () {
                  const { outside, run } = yield* make(setup)
                  const said = yield* run(`cat .env 2>/dev/null || echo ${index} > made; cat made`)
                  return { outside, index, said }
                })
              ),
            { concurrency: "unbounded" }
          )
          for (const { index, outside, said } of seen) {
            assert.deepStrictEqual(said, { stdout: `${index}\n`, stderr: "", code: 0, signal: null })
            yield* assertGone(outside)
          }
          assert.deepStrictEqual(groups(), [])
        }),
      120_000
    )

    it.live("leaves instances of inotify to the user's other programs", (context) =>
      Effect.scoped(
        Effect.gen(function* () {
          const most = Launch.find()?.[0] ?? 0
          // Where the user has no more left, the test would show nothing.
          if (initialise === undefined || watching(most + 1) !== most + 1) return context.skip("no inotify to be had")
          const shell = yield* (yield* make(setup)).start
          const taken = yield* shell.ask(
            `exec 5< <(exec perl -e '${script(200)}; sleep 1000'); read -r n <&5; echo "$n"`
          )
          assert.strictEqual(taken.trim(), String(most))
          assert.strictEqual(watching(1), 1)
        })
      )
    )

    for (const level of isRoot ? [undefined] : ([undefined, "single"] as const)) {
      effect(
        `starts where the user runs many processes already${level === undefined ? "" : ", by bubblewrap alone"}`,
        { ...setup, options: level === undefined ? {} : { level } },
        ({ run }) =>
          Effect.gen(function* () {
            yield* idlers
            assert.strictEqual((yield* run("cat .env 2>/dev/null; /bin/echo through")).stdout, "through\n")
          }).pipe(Effect.scoped)
      )
    }
  })
}
