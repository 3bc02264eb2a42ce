/** Processes: those of others, those that shall outlive, and too many of them. */
import * as ChildProcess from "node:child_process"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Cgroup from "../../src/sandbox/platform/linux/start/Cgroup.js"
import type { Attack, Families, Scene } from "../support/escape/Attack.js"
import { processesWith } from "../support/escape/World.js"

/** An ordinary user's are limited without one. */
const isLimited = (): boolean =>
  process.getuid?.() !== 0 ||
  Effect.runSync(Effect.scoped(Effect.map(Cgroup.acquire({ processes: 64 }), ({ files }) => files.length > 0)))

const limits = (): ReadonlyArray<Attack> => [
  {
    title: "forks without end",
    needs: ["perl"],
    not: isLimited() ? undefined : "root's processes are limited by a cgroup, and none can be made here",
    says: /forked (1?\d?\d?\d|20[0-3]\d|204[0-8])\n/,
    script: `perl -e 'my @p; while (@p < 2500 && defined(my $p = fork)) { if (!$p) { sleep 60; exit } push @p, $p } kill "KILL", @p; print "forked ", scalar(@p), "\\n"; 1 while wait > 0'`
  },
  {
    title: "/dev/shm takes a quarter of the memory at most",
    says: /^\d+ of \d+$/m,
    script:
      "s=$(df -k --output=size /dev/shm | tail -1); m=$(awk '/^MemTotal/ {print $2}' /proc/meminfo); echo $s of $m; ((s <= m / 4 + 4)) || echo BREACH"
  },
  {
    title: "the other directories in memory are small",
    script:
      "for d in /run /tmp /var/tmp /dev; do s=$(df -m --output=size $d | tail -1); t=$(df --output=fstype $d | tail -1); [[ $t != tmpfs || $s -le 256 || ! -w $d ]] || echo BREACH $d $s; done"
  },
  {
    title: "core files",
    says: /^0$/m,
    script: "ulimit -c; ulimit -c unlimited && echo BREACH; bash -c 'kill -SEGV $$'; ls core* && echo BREACH; true"
  },
  { title: "LIMIT: the memory of a command is not bounded", says: /^unlimited$/m, script: "ulimit -v" }
]

const call = (number: number, pid: string, ...args: ReadonlyArray<string | number>) =>
  `perl -e 'my $r = syscall(${[number, ...args].join(", ").replaceAll("PID", pid)}); print $r == -1 ? "errno " . ($! + 0) . "\\n" : "BREACH\\n"'`

/** A vector of one piece of memory. */
const memory = '$v = pack("pQ", $b = "x" x 8, 8)'

/** What a command may do to a process outside, by a tool. */
const meddling: ReadonlyArray<readonly [tool: string, script: string]> = [
  ["renice", "renice 19 PID"],
  ["taskset", "taskset -p 1 PID"],
  ["strace", "strace -p PID"],
  ["prlimit", "prlimit --pid PID --nofile=1"]
]

/** A process outside, that has a secret in its environment. */
const withVictim = (secret: string, use: (victim: ChildProcess.ChildProcess, pid: string) => Effect.Effect<void>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => ChildProcess.spawn("/bin/sleep", ["1000"], { env: { HIDDEN: secret }, stdio: "ignore" })),
    (victim) => use(victim, String(victim.pid ?? 0)),
    (victim) => Effect.sync(() => victim.kill("SIGKILL"))
  )

/** Ways to leave a process behind; each is known by its words. */
const daemons: Readonly<Record<string, (mark: string) => string>> = {
  "in the background": (mark) => `bash -c 'exec -a ${mark} sleep 1000' >/dev/null 2>&1 &`,
  nohup: (mark) => `nohup bash -c 'exec -a ${mark} sleep 1000' >/dev/null 2>&1 & disown -a`,
  setsid: (mark) => `(setsid bash -c 'exec -a ${mark} sleep 1000' >/dev/null 2>&1 </dev/null &)`,
  "forked twice, deaf to signals": (mark) =>
    `perl -MPOSIX -e 'fork && exit; POSIX::setsid(); fork && exit; $SIG{$_} = "IGNORE" for qw(TERM HUP INT); exec {"/bin/sleep"} "${mark}", 1000'`
}

const until = (mark: string, is: (count: number) => boolean) =>
  Effect.sync(() => processesWith(mark).length).pipe(
    Effect.repeat({ until: is, schedule: Schedule.spaced(10) }),
    Effect.timeout(10_000),
    Effect.orDie
  )

/** After it, a shell is another one: the last of its world. */
export const killing: Scene = {
  title: "kills everybody, and that is only itself",
  test: ({ execute, manager, project }) =>
    Effect.gen(function* () {
      yield* Effect.exit(manager.execute("kill -9 -1; kill -9 1"))
      assert.strictEqual((yield* execute("pwd")).stdout, `${project}\n`)
    })
}

export const processes = (): Families => ({
  processes: [
    {
      title: "neither sees nor signals a process outside",
      test: ({ attack, secret }) =>
        withVictim(secret, (victim, pid) =>
          Effect.gen(function* () {
            const script = "kill -9 PID\nkill -0 PID && echo BREACH\ncat /proc/PID/environ\nls /proc/PID/fd"
            const said = yield* attack(script.replaceAll("PID", pid))
            assert.notMatch(said.stdout, /BREACH|s3cr3t/)
            assert.match(said.stderr, /No such process/)
            assert.isNull(victim.exitCode)
            assert.isNull(victim.signalCode)
            assert.isTrue(process.kill(Number(pid), 0))
          })
        )
    },
    ...meddling.map(
      ([tool, script]): Scene => ({
        title: `does nothing to a process outside by ${tool}`,
        needs: [tool],
        test: ({ attack, secret }) =>
          withVictim(secret, (_, pid) =>
            Effect.gen(function* () {
              const { stderr, stdout } = yield* attack(`${script.replaceAll("PID", pid)} && echo BREACH`)
              assert.notMatch(stdout, /BREACH|s3cr3t/)
              assert.match(stderr + stdout, /No such process/)
            })
          )
      })
    ),
    {
      title: "neither traces nor reads a process outside",
      needs: ["perl"],
      not: process.arch === "x64" ? undefined : "the numbers of the calls are another machine's",
      test: ({ attack, secret }) =>
        withVictim(secret, (_, pid) =>
          Effect.gen(function* () {
            // ptrace, process_vm_readv, pidfd_open.
            const calls = [
              call(101, pid, 16, "PID", 0, 0),
              call(310, pid, "PID", memory, 1, "$v", 1, 0),
              call(434, pid, "PID", 0)
            ]
            const said = yield* attack(calls.join("\n"))
            assert.strictEqual(said.stdout, "errno 3\nerrno 3\nerrno 3\nRAN\n")
          })
        )
    },
    ...Object.entries(daemons).map(
      ([title, leave], at): Scene => ({
        title: `a process left ${title} ends with the session`,
        needs: ["perl", "nohup", "setsid"],
        test: ({ execute, manager, mark }) =>
          Effect.gen(function* () {
            yield* execute(leave(`${mark}-${at}`))
            yield* until(`${mark}-${at}`, (count) => count > 0)
            yield* manager.shutdown
            yield* until(`${mark}-${at}`, (count) => count === 0)
          })
      })
    )
  ],
  limits: limits(),
  "what is left": [
    {
      title: "goes also when the app is closed",
      needs: ["perl", "nohup", "setsid"],
      test: ({ execute, mark }) =>
        Effect.gen(function* () {
          yield* execute(
            Object.values(daemons)
              .map((leave) => leave(mark))
              .join("\n")
          )
          yield* until(mark, (count) => count >= 4)
          // That nothing is left is looked at when this world has ended.
        })
    }
  ]
})
