import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Launch from "../../../src/sandbox/linux/Launch.js"
import * as Programs from "../../../src/sandbox/linux/Programs.js"
import { assertGone, leftovers, make, rule, spawn } from "./Sandboxed.js"

const programs = Programs.find(process.env["PATH"] ?? "")
const { bash, bwrap } = programs

const sessions = `synapse-${process.getuid?.()}`

/** What the shell says if it ever starts. */
const shell = { program: "/bin/echo", args: ["STARTED"] }

const globs = {
  policy: () => ({ blacklist: [rule("/**/.env")] }),
  prepare: ({ project }: { readonly project: string }) => Fs.writeFileSync(`${project}/.env`, "secret\n")
}

describe.skipIf(process.platform !== "linux" || bwrap === undefined || bash === undefined)("the platform", () => {
  it.live("starts no shell where a mask can't be mounted", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { outside, wrapped } = yield* make(globs)
        if (wrapped.level === "single" || bash === undefined || bwrap === undefined) return
        const fake = Path.join(outside, "mount")
        const path = wrapped.spawnable.args.find((arg) => Path.basename(Path.dirname(arg)) === sessions) ?? ""
        const real = `${programs.mount} "$@"`
        const scripts = [
          ["exit 1"],
          ["kill -KILL $$"],
          [`[[ $1 == --make-rshared ]] && exec ${real}; exit 32`],
          [`[[ $1 == --make-rshared ]] && exec ${real}; kill -KILL $PPID`],
          // Everything is mounted but one mask, and that is not to be had.
          [`[[ $1 == -c ]] && { ${real}; exit 32; }; [[ $2 == -- ]] && exit 32; exec ${real}`],
          // What says that all is well can't be taken back.
          [`[[ $1 == -c ]] && { ${real}; exit 32; }; exec ${real}`, "/bin/false"]
        ] as const
        for (const [script, umount = programs.umount] of scripts) {
          Fs.writeFileSync(fake, `#!/bin/bash\n${script}\n`, { mode: 0o755 })
          const { args, program } = Launch.make({
            level: wrapped.level,
            plan: { path },
            gate: true,
            programs: { bash, bwrap, mount: fake, umount, unshare: programs.unshare },
            shell
          })
          const said = yield* spawn(program, args, { env: wrapped.environment, stdio: ["ignore", "pipe", "pipe"] })
          assert.notStrictEqual(said.code, 0)
          assert.strictEqual(said.stdout, "")
          assert.deepStrictEqual(leftovers(outside), [])
        }
        const { args, program } = wrapped.spawnable
        assert.include(
          (yield* spawn(program, [...args, "-c", "echo STARTED"], { env: wrapped.environment })).stdout,
          "STARTED"
        )
      })
    )
  )

  it.live("starts no shell where bubblewrap fails, and says why", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { run, wrapped } = yield* make()
        Fs.rmSync(wrapped.layout.session, { recursive: true })
        const said = yield* run("echo STARTED")
        assert.strictEqual(said.stdout, "")
        assert.match(said.stderr, /^bwrap: Can't find source path/)
        const error = wrapped.explain("bwrap: Can't chdir to /gone: No such file or directory\n")
        assert.deepStrictEqual(
          [error.cause, error.message],
          [
            "sandbox",
            "no sandbox: bwrap failed: Can't chdir to /gone: No such file or directory. To run without a sandbox on purpose: --no-sandbox."
          ]
        )
      })
    )
  )

  it.live("copes with files that vanish between the plan and the start", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { project, run } = yield* make({
          ...globs,
          prepare: (places) => {
            globs.prepare(places)
            Fs.mkdirSync(`${places.project}/gone`)
            Fs.writeFileSync(`${places.project}/gone/.env`, "secret\n")
          }
        })
        Fs.rmSync(`${project}/gone`, { recursive: true })
        const said = yield* run("cat .env || echo held; chmod 777 .env")
        assert.strictEqual(said.stdout, "held\n")
        assert.match(said.stderr, /Permission denied[\s\S]*Read-only file system/)
      })
    )
  )

  it.live("runs many sandboxes at once, and leaves nothing", () =>
    Effect.gen(function* () {
      const seen = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => index),
        (index) =>
          Effect.scoped(
            Effect.gen(function* () {
              const { outside, run } = yield* make(globs)
              const said = yield* run(`cat .env 2>/dev/null || echo ${index} > made; cat made`)
              return { outside, said: said.stdout.trim(), index }
            })
          ),
        { concurrency: "unbounded" }
      )
      for (const { index, outside, said } of seen) {
        assert.strictEqual(said, String(index))
        yield* assertGone(outside)
      }
      const groups = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].filter((path) => Fs.existsSync(path))
      assert.deepStrictEqual(
        groups.flatMap((path) => Fs.readdirSync(path).filter((name) => name.startsWith(`synapse-${process.pid}-`))),
        []
      )
    })
  )

  it.live("limits the number of processes", (context) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { run, wrapped } = yield* make()
        const hasGroup = wrapped.spawnable.args.some((arg) => arg.endsWith("/cgroup.procs"))
        if (process.getuid?.() === 0 && !hasGroup) return context.skip("no pids cgroup can be made here")
        const said = yield* run(
          "for ((i = 0; i < 700; i++)); do sleep 5 & done 2>/dev/null; jobs -p | wc -l; kill $(jobs -p)"
        )
        assert.isBelow(Number.parseInt(said.stdout || "0", 10), 513)
      })
    )
  )
})
