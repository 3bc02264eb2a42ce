import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LinuxPlatform from "../../../../src/sandbox/platform/linux/LinuxPlatform.js"
import * as Launch from "../../../../src/sandbox/platform/linux/start/Launch.js"
import * as Programs from "../../../../src/sandbox/platform/linux/start/Programs.js"
import { leftovers, make, rule, spawn } from "../../../support/sandbox/Sandboxed.js"

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
  it.live("starts no shell where a mask can't be mounted", (context) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { outside, wrapped } = yield* make(globs)
        if (wrapped.level === "single" || bash === undefined || bwrap === undefined) {
          return context.skip("bubblewrap alone mounts everything by itself")
        }
        const fake = Path.join(outside, "mount")
        const path = wrapped.spawnable.args.find((arg) => Path.basename(Path.dirname(arg)) === sessions) ?? ""
        const real = `${programs.mount} "$@"`
        const scripts = [
          "exit 1",
          "exit 0",
          "kill -KILL $$",
          "kill -KILL $PPID",
          // Everything is mounted but one mask, and that is not to be had.
          `[[ $1 == -c ]] && { ${real}; exit 32; }; [[ $2 == -- ]] && { ${programs.umount} "$4"; exit; }; exec ${real}`,
          // The table is not understood, and nobody says so.
          "[[ $1 == -c ]]"
        ]
        for (const script of scripts) {
          Fs.writeFileSync(fake, `#!/bin/bash\n${script}\n`, { mode: 0o755 })
          const { args, program } = Launch.make({
            level: wrapped.level,
            plan: { path },
            gate: true,
            programs: { bash, bwrap, mount: fake, unshare: programs.unshare },
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
          [error.kind, error.message],
          [
            "sandbox",
            "no sandbox: bwrap failed: Can't chdir to /gone: No such file or directory. To run without a sandbox on purpose: --no-sandbox."
          ]
        )
      })
    )
  )

  it.live("starts what builds a sandbox before the directories are walked, and nothing in it before it is told", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { outside, session, wrapped } = yield* make(globs)
        const platform = yield* LinuxPlatform.make()
        const environment = { PATH: process.env["PATH"] ?? "", XDG_TEST_MARK: outside }
        const begin = platform.begin({ policy: wrapped.policy, shell, directory: session, environment })
        const spawned = Effect.map(begin, ({ environment: env, finish, spawnable }) => {
          const stdio = ["ignore", "pipe", "inherit", "pipe"] as const
          const child = ChildProcess.spawn(spawnable.program, spawnable.args, { env, stdio: [...stdio] })
          let said = ""
          child.stdout?.on("data", (chunk: Buffer) => {
            said += chunk.toString()
          })
          const ended = new Promise((resolve) => child.once("close", (code) => resolve([said, code])))
          return { finish, told: child.stdio[3] as Net.Socket, ended: Effect.promise(() => ended) }
        })
        const one = yield* spawned
        const { words } = yield* Effect.delay(one.finish, 300)
        one.told.write(words)
        assert.deepStrictEqual(yield* one.ended, ["STARTED\n", 0])
        // The launcher has died, or has found that there must be no sandbox.
        const other = yield* spawned
        yield* other.finish
        other.told.end()
        assert.deepStrictEqual(yield* other.ended, ["", 1])
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

  it.live("tries out what the machine can do once a start has failed", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { outside, project } = yield* make()
        const bin = Path.join(outside, "bin")
        Fs.mkdirSync(bin)
        const failing = `echo "unshare: unshare failed: Operation not permitted" >&2; exit 1`
        Fs.writeFileSync(Path.join(bin, "unshare"), `#!/bin/bash\n${failing}\n`, { mode: 0o755 })
        Fs.symlinkSync(programs.bwrap ?? "", Path.join(bin, "bwrap"))
        const platform = yield* LinuxPlatform.make()
        const wrap = platform.wrap({
          policy: { cwd: project, whitelist: [rule(project)], blacklist: [], readonly: [], allowNetwork: false },
          shell: { program: "/bin/bash", args: ["-c", "echo STARTED"] },
          directory: Path.join(outside, sessions, "session-1"),
          environment: { PATH: bin }
        })
        const run = ({ environment, spawnable }: LinuxPlatform.LinuxWrapped) =>
          spawn(spawnable.program, spawnable.args, { env: environment, stdio: ["ignore", "pipe", "pipe"] })
        const first = yield* wrap
        if (first.level !== "single") {
          const said = yield* run(first)
          assert.deepStrictEqual([said.stdout, said.code], ["", 1])
          assert.match(first.explain(said.stderr).message, /unshare failed.*--no-sandbox/)
        }
        const next = yield* wrap
        assert.strictEqual(next.level, "single")
        assert.strictEqual((yield* run(next)).stdout, "STARTED\n")
      })
    )
  )

  it.live("limits the number of processes", (context) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { run, wrapped } = yield* make({ policy: () => ({ processes: 100 }) })
        const hasGroup = wrapped.spawnable.args.some((arg) => arg.endsWith("/cgroup.procs"))
        if (process.getuid?.() === 0 && !hasGroup) return context.skip("no pids cgroup can be made here")
        const said = yield* run(
          `perl -e 'my @p; while (@p < 200 && defined(my $p = fork)) { if (!$p) { sleep 60; exit } push @p, $p } kill "KILL", @p; print scalar(@p), "\\n"'`
        )
        assert.isTrue(/^\d+$/m.test(said.stdout) && Number(said.stdout) < 101, JSON.stringify(said))
      })
    )
  )
})
