/**
 * What a command finds of the machine, whoever starts the sandbox and however it is built.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Seccomp from "../../../../src/sandbox/platform/linux/plan/Seccomp.js"
import type * as Launch from "../../../../src/sandbox/platform/linux/start/Launch.js"
import { effect, make, rule, type Setup } from "../../../support/sandbox/Sandboxed.js"

const perl = "/usr/bin/perl"
const machine = process.arch === "arm64" ? "arm64" : "x64"

/** Perl that makes system calls and says for each how it ended. */
const calls = (list: ReadonlyArray<readonly [name: string, number: number, ...args: ReadonlyArray<string | number>]>) =>
  `${perl} -e '${list
    .map(
      ([name, ...args]) => `$! = 0; my $r = syscall(${args.join(",")}); print "${name} ", ($r < 0 ? $!+0 : 0), "\\n";`
    )
    .join(" ")}'`

export const confined = (title: string, level: Launch.Level | undefined): void => {
  const options = level === undefined ? {} : { level }
  const test = (name: string, setup: Setup, run: Parameters<typeof effect>[2]) =>
    effect(name, { ...setup, options: { ...options, ...setup.options } }, run)

  describe(title, () => {
    it.live("inherits three descriptors, whatever the launcher has open", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { run } = yield* make({ options })
          const leak = yield* Effect.acquireRelease(
            Effect.sync(() => Fs.openSync("/", "r")),
            (fd) => Effect.sync(() => Fs.closeSync(fd))
          )
          const said = yield* run("echo /proc/self/fd/*; for d in /proc/[0-9]*; do readlink $d/fd/*; done | sort -u", [
            leak,
            leak,
            leak
          ])
          const [own, ...all] = said.stdout.trim().split("\n")
          // 3 is the directory that is being read.
          assert.strictEqual(own, "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3")
          assert.deepStrictEqual(
            all.filter((one) => !/^(socket:|pipe:|\/dev\/null$|\/proc\/|anon_inode:\[eventfd\]$)/.test(one)),
            []
          )
        })
      )
    )

    test(
      "does not see other sessions, and its own only to read",
      {
        prepare: ({ outside }) => {
          const sessions = Path.join(outside, `synapse-${process.getuid?.()}`)
          Fs.mkdirSync(`${sessions}/session-2`)
          Fs.writeFileSync(`${sessions}/session-2/command`, "")
          Fs.writeFileSync(`${sessions}/session-1/command`, "text\n")
          ChildProcess.execFileSync("mkfifo", [`${sessions}/session-1/fifo`])
        },
        policy: ({ outside, project }) => ({ cwd: project, whitelist: [rule(outside, "tmp")] })
      },
      ({ run, session }) =>
        Effect.gen(function* () {
          const sessions = Path.dirname(session)
          const said = yield* run(
            `ls ${sessions}; cat ${session}/command; (cat ${session}/fifo &) ; echo through > ${session}/fifo; sleep 0.1
             for path in ${session}/command ${session}/new ${sessions}/new ${sessions}/session-2/command; do echo x > $path; done
             mv ${sessions} ${sessions}-2; rm -r ${session}`
          )
          assert.strictEqual(said.stdout, "session-1\ntext\nthrough\n")
          assert.strictEqual(
            said.stderr.match(/Read-only file system|No such file|Device or resource busy/g)?.length,
            7
          )
          assert.deepStrictEqual(Fs.readdirSync(`${sessions}/session-2`), ["command"])
        })
    )

    test(
      "gets the variables that are allowed, and no secrets",
      {
        environment: {
          AWS_SECRET_ACCESS_KEY: "leak",
          BASH_ENV: "/etc/profile",
          "BASH_FUNC_ls%%": "() { echo leak; }",
          CARGO_HOME: "/cargo",
          CARGO_REGISTRY_TOKEN: "leak",
          DBUS_SESSION_BUS_ADDRESS: "leak",
          LD_LIBRARY_PATH: "/nowhere",
          MY_FLAG: "1",
          PIP_INDEX_URL: "https://user:leak@index.example",
          WANTED_TOKEN: "wanted"
        },
        options: { environment: ["MY_*", "PIP_*", "WANTED_TOKEN"] }
      },
      ({ run, wrapped }) =>
        Effect.gen(function* () {
          const said = yield* run("env; cat /proc/*/environ | tr '\\0' '\\n'")
          assert.notInclude(said.stdout, "leak")
          for (const one of ["CARGO_HOME=/cargo", "MY_FLAG=1", "WANTED_TOKEN=wanted", "LD_LIBRARY_PATH=/nowhere"]) {
            assert.include(said.stdout.split("\n"), one)
          }
          assert.notProperty(wrapped.environment, "LD_LIBRARY_PATH")
        })
    )

    test("has no network, no rights, no kernel's settings and no devices", {}, ({ run }) =>
      Effect.gen(function* () {
        const said = yield* run(
          `grep -h Cap /proc/self/status /proc/1/status | tr -d '\\t' | sort -u; grep -c : /proc/net/dev; hostname
           grep -h NoNewPrivs /proc/self/status; ulimit -c; ls /run; ls -A /dev/shm
           for path in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches /dev/new /sys/kernel/x; do
             echo x > $path && echo WRITTEN
           done 2>/dev/null
           find /proc -maxdepth 2 -path '/proc/[0-9]*' -prune -o -path /proc/self -prune -o -path /proc/thread-self -prune -o -path /proc/pressure -prune -o -type f -writable -print 2>/dev/null |
             while read -r file; do { : >> "$file"; } 2>/dev/null && echo "$file opens"; done; true`
        )
        assert.strictEqual(
          said.stdout,
          "CapAmb:0000000000000000\nCapBnd:0000000000000000\nCapEff:0000000000000000\nCapInh:0000000000000000\n" +
            "CapPrm:0000000000000000\n1\nlocalhost\nNoNewPrivs:\t1\n0\n"
        )
      })
    )

    if (!Fs.existsSync(perl)) it.skip("makes no system call that is filtered (there is no perl)")
    else
      test("makes no system call that is filtered", {}, ({ run }) =>
        Effect.gen(function* () {
          const { clone, ioctl, socket, socketpair, unshare } = Seccomp.judged[machine]
          const { fchmodat2, mknodat, openat } = Seccomp.modes[machine] as Record<string, Seccomp.ModeCall>
          const { add_key, keyctl, mount, open_tree, setns, umount2 } = Seccomp.denied[machine] as Record<
            string,
            number
          >
          const said = yield* run(
            calls([
              ["unix", socket, 1, 1, 0],
              ["vsock", socket, 40, 1, 0],
              ["netlink route", socket, 16, 3, 0],
              ["netlink audit", socket, 16, 3, 9],
              ["inet", socket, 2, 1, 0],
              ["pair stream", socketpair, 1, 1, 0, 'my $a = pack("ii", 0, 0)'],
              ["pair datagram", socketpair, 1, 2, 0, 'my $b = pack("ii", 0, 0)'],
              ["new user namespace", unshare, 0x10000000],
              ["unshare files", unshare, 0x400],
              ["clone into new namespaces", clone, 0x10000011, 0, 0, 0, 0],
              ["clone3", Seccomp.absent.clone3, 0, 0],
              ["openat2", Seccomp.absent.openat2, -100, 0, 0, 0],
              ["making set-uid", openat?.number ?? 0, -100, 'my $s = "s"', 0x41, 0o4755],
              ["opening with what looks like it", openat?.number ?? 0, -100, 'my $p = "/etc/passwd"', 0, 0o4755],
              ["set-uid node", mknodat?.number ?? 0, -100, 'my $n = "n"', 0o104755, 0],
              ["set-uid by another name", fchmodat2?.number ?? 0, -100, 'my $d = "."', 0o4755, 0],
              ["io_uring", Seccomp.absent.io_uring_setup, 1, 0],
              ["io_setup", Seccomp.ioSetup[machine], 1, 'my $c = pack("Q", 0)'],
              ["mount", mount ?? 0, 0, 0, 0, 0, 0],
              ["umount", umount2 ?? 0, 0, 0],
              ["open_tree", open_tree ?? 0, -100, 0, 0],
              ["setns", setns ?? 0, 0, 0],
              ["keyctl", keyctl ?? 0, 0, -3, 0],
              ["add_key", add_key ?? 0, 0, 0, 0, 0, -3],
              ["typing", ioctl, 0, 0x5412, 0],
              ["typing, with more bits", ioctl, 0, "0x100005412", 0]
            ])
          )
          assert.deepStrictEqual(
            said.stdout
              .trim()
              .split("\n")
              .map((line) => line.replace(/ (\d+)$/, ": $1")),
            [
              "unix: 1",
              "vsock: 1",
              "netlink route: 0",
              "netlink audit: 1",
              "inet: 0",
              "pair stream: 0",
              "pair datagram: 1",
              "new user namespace: 1",
              "unshare files: 0",
              "clone into new namespaces: 1",
              "clone3: 38",
              "openat2: 38",
              "making set-uid: 1",
              "opening with what looks like it: 0",
              "set-uid node: 1",
              "set-uid by another name: 1",
              "io_uring: 38",
              "io_setup: 38",
              "mount: 1",
              "umount: 1",
              "open_tree: 1",
              "setns: 1",
              "keyctl: 1",
              "add_key: 1",
              "typing: 1",
              "typing, with more bits: 1"
            ]
          )
        })
      )

    test("gives no file the bit that sets the user, and none of root's that for the group", {}, ({ project, run }) =>
      Effect.gen(function* () {
        const said = yield* run(
          `umask 022; touch f; chmod 4755 f; chmod u+s f; install -m 4755 /bin/true g; mkdir -m 1777 d; stat -c '%a %n' d
           mkdir e; chmod g+s e; cp -a e e2; tar cf - e2 | (mkdir x; tar xpf - -C x); stat -c '%a %n' e e2 x/e2; chmod 2755 f`
        )
        const isRoot = process.getuid?.() === 0
        assert.strictEqual(said.stderr.match(/: Operation not permitted$/gm)?.length, isRoot ? 5 : 3)
        assert.strictEqual(
          said.stdout,
          isRoot ? "1777 d\n755 e\n755 e2\n755 x/e2\n" : "1777 d\n2755 e\n2755 e2\n2755 x/e2\n"
        )
        for (const name of ["f", "g"]) {
          const { mode = 0 } = Fs.statSync(Path.join(project, name), { throwIfNoEntry: false }) ?? {}
          assert.strictEqual(mode & (isRoot ? 0o6000 : 0o4000), 0)
        }
      })
    )

    test("knows its own name without a network", {}, ({ run }) =>
      Effect.gen(function* () {
        const said = yield* run("hostname -f >/dev/null && awk '/^Ip: [0-9]/ {print $13}' /proc/net/snmp")
        assert.strictEqual(said.stdout, "0\n")
      })
    )

    test("ends with its launcher's process, daemons too", {}, ({ start }) =>
      Effect.gen(function* () {
        const { ask, ended, pid } = yield* start
        assert.match(
          yield* ask("(setsid nohup sleep 1000 >/dev/null 2>&1 &); sleep 0.2; ps ax | grep -c '[s]leep 1000'"),
          /^1\n$/
        )
        process.kill(pid, "SIGKILL")
        yield* ended
        // Nothing is left: the test's end looks.
      })
    )
  })
}
