import { once } from "node:events"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import * as SystemCalls from "../../../src/sandbox/denial/internal/SystemCalls.js"
import { withWorld } from "../../support/denial/World.js"

const trace = (call: string) =>
  `Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    ${call}\n  File "/usr/lib/python3.11/socket.py", line 232, in __init__\n    _socket.socket.__init__(self, family, type, proto, fileno)\nPermissionError: [Errno 1] Operation not permitted`

const root = { isRoot: true, unixSockets: false, hasAgent: true, processes: 512 }

/** Returns the rules and what was refused, as the last line of a text tells them. */
const refused = (command: string, text: string, confinement: Partial<SystemCalls.Confinement> = {}) => {
  const lines = text.split("\n")
  const found = SystemCalls.make({ ...root, ...confinement })(
    command,
    lines.at(-1) ?? "",
    [...lines].reverse().slice(0, 5).join("\n")
  )
  return found?.what
}

/** What programs say, each with the command, and what was refused to root; `*` where an ordinary user is told so as well. */
const said: ReadonlyArray<readonly [what: string, command: string, text: string]> = [
  ["*a new namespace", "unshare -r true", "unshare: unshare failed: Operation not permitted"],
  ["*a new namespace", "bwrap --ro-bind / / true", "bwrap: Creating new namespace failed: Operation not permitted"],
  [
    "*a new namespace",
    "bwrap true",
    "bwrap: No permissions to create new namespace, likely because the kernel does not"
  ],
  [
    "*a new namespace",
    "nsenter -t 1 -m true",
    "nsenter: reassociate to namespace 'ns/mnt' failed: Operation not permitted"
  ],
  ["*a new namespace", "buildah ps", "Error: fork/exec /proc/self/exe: operation not permitted"],
  ["*a new namespace", "nix build", "error: cloning builder process: Operation not permitted"],
  [
    "*a new namespace",
    "chromium",
    "[1:1:FATAL:zygote.cc(1)] Failed to move to new namespace: errno = Operation not permitted"
  ],
  ["a mount", "mount -t tmpfs none .", "mount: /srv/x: permission denied."],
  ["a mount", "umount /proc", "umount: /proc: must be superuser to unmount."],
  ["a mount", "mount -o loop a /b", "mount: /b: mount failed: Operation not permitted."],
  [
    "*a further watch over files",
    "npx vite",
    "Error: ENOSPC: System limit for number of file watchers reached, watch '/p/src'"
  ],
  ["*a further watch over files", "node a.js", "Error: EMFILE: too many open files, watch '/p'"],
  [
    "*a further watch over files",
    "tail -f x",
    "tail: inotify cannot be used, reverting to polling: Too many open files"
  ],
  ["*a further watch over files", "inotifywait -m .", "Failed to watch .; upper limit on inotify watches reached!"],
  ["*a further watch over files", "python3 x.py", "OSError: [Errno 28] inotify watch limit reached"],
  ["*a further page of /dev/shm", "dd of=x", "dd: error writing '/dev/shm/x': No space left on device"],
  [
    "*a further page of /dev/shm",
    "head -c 9M f >/dev/shm/x",
    "head: error writing 'standard output': No space left on device"
  ],
  ["*a further page of /dev/shm", "python3 -c 'open(\"/dev/shm/x\")'", "OSError: [Errno 28] No space left on device"],
  ["*a further page of /dev/shm", "psql", "ERROR:  could not resize shared memory segment: No space left on device"],
  ["chroot", "chroot / true", "chroot: cannot change root directory to '/': Operation not permitted"],
  ["chroot", "perl x.pl", "chroot: Operation not permitted at -e line 1."],
  ["chroot", "python3 -c 'import os; os.chroot(\"/\")'", "PermissionError: [Errno 1] Operation not permitted: '/'"],
  ["a raw socket", "python3 x.py", trace("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")],
  ["a raw socket", "python3 -c 'socket.socket(socket.AF_PACKET)'", trace("")],
  ["a raw socket", "nmap x", "Couldn't open a raw socket. Error: (1) Operation not permitted"],
  [
    "a raw socket",
    "tcpdump",
    "tcpdump: any: You don't have permission to perform this capture (socket: Operation not permitted)"
  ],
  ["a raw socket", "python3 x.py", trace("socket.socket(38, 5, 0)")],
  ["a mount", "ip netns add x", "mount --make-shared /run/netns failed: Operation not permitted"],
  ["*a unix socket", "python3 -c 'socket.socket(socket.AF_UNIX)'", trace("")],
  ["*a unix socket", "ssh-agent", "unix_listener: socket: Operation not permitted"],
  ["*a unix socket", "tmux", "error connecting to /tmp/tmux-0/q (Operation not permitted)"],
  ["*a unix socket", "npx tsx a.ts", "Error: listen EPERM: operation not permitted /tmp/tsx-0/16.pipe"],
  ["*a unix socket", "node a.js", "Error: connect EPERM 9.socket - Local (undefined:undefined)"],
  ["*a unix socket", "node a.js", "Error: listen EPERM: operation not permitted \u0000abstract"],
  [
    "*a unix socket",
    "chromium",
    "[1:1:FATAL:process_singleton_posix.cc(297)] Check failed: sock >= 0. socket() failed: Operation not permitted (1)"
  ],
  ["*a unix socket", "ssh-add -l", "Error connecting to agent: Operation not permitted"],
  ["*your ssh-agent", "ssh-add -l", "Could not open a connection to your authentication agent."],
  ["*a unix socket", "git commit -S", "error: gpg failed to sign the data"],
  ["*your ssh-agent", "git commit -S", "error: Couldn't get agent socket?"],
  [
    "*a unix socket",
    "curl --unix-socket /x http://h/",
    "curl: (7) Failed to connect to h port 80 after 0 ms: Couldn't connect to server"
  ],
  ["another user or group", "python3 -c 'os.setuid(5)'", "OSError: [Errno 22] Invalid argument"],
  ["another user or group", "setpriv --reuid=5 id", "setpriv: setresuid failed: Invalid argument"],
  ["another user or group", "node a.js", "Error: EINVAL: invalid argument, setuid"],
  ["*a unix socket", "gpg -s f", "gpg: can't connect to the agent: Operation not permitted"],
  ["*a unix socket", "systemctl", "Failed to connect to bus: Operation not permitted"],
  ["*becoming another user", "su -c true nobody", "su: System error"],
  ["*becoming another user", "su root", "Password: su: System error"],
  [
    "*becoming another user",
    "sudo -n x",
    'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.'
  ],
  ["*becoming another user", "newgrp x", "Cannot open audit interface - aborting."],
  ["another user or group", "chown 12345 f", "chown: changing ownership of 'f': Invalid argument"],
  ["another user or group", "chgrp 5 f", "chgrp: changing group of 'f': Invalid argument"],
  ["another user or group", "tar xf a", "tar: f: Cannot change ownership to uid 12345, gid 0: Invalid argument"],
  ["another user or group", "node a", "Error: EINVAL: invalid argument, chown 'f'"],
  ["another user or group", "runuser -u x -- id", "runuser: cannot set groups: Operation not permitted"],
  ["another user or group", "apt update", "E: setegid 65534 failed - setegid (22: Invalid argument)"],
  ["*a set-user-ID bit", "chmod u+s f", "chmod: changing permissions of 'f': Operation not permitted"],
  ["*a set-user-ID bit", "install -m 4755 f g", "install: cannot change permissions of 'g': Operation not permitted"],
  ["*a set-user-ID bit", "tar xf a", "tar: ping: Cannot change mode to rwsr-xr-x: Operation not permitted"],
  ["*the kernel's keyring", "keyctl show", "keyctl_read_alloc: Operation not permitted"],
  ["*io_uring", "fio x", "fio: io_uring_queue_init failed: Function not implemented"],
  ["*a further process or thread", "python3 x", "RuntimeError: can't start new thread"],
  ["*a further process or thread", "make -j100", "make: sleep: Resource temporarily unavailable"],
  ["*a further process or thread", "node a.js", "    at new Worker (node:internal/worker:203:25)\nError: EAGAIN"],
  ["*a further process or thread", "make -j900", "bash: fork: retry: Resource temporarily unavailable"],
  ["*a further process or thread", "node x", "Error: spawn /bin/sh EAGAIN"],
  [
    "*a further process or thread",
    "java x",
    "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory"
  ],
  ["*a further process or thread", "go build", "runtime: failed to create new OS thread (have 500 already; errno=11)"],
  ["a privileged call", "ip link set lo down", "RTNETLINK answers: Operation not permitted"],
  ["a privileged call", "date -s x", "date: cannot set date: Operation not permitted"],
  ["a privileged call", "dmesg", "dmesg: read kernel buffer failed: Operation not permitted"],
  ["a privileged call", "mknod x b 1 3", "mknod: x: Operation not permitted"],
  [
    "a privileged call",
    "python3 -c 'os.mknod(\"d\", 0o60600, 5)'",
    "PermissionError: [Errno 1] Operation not permitted"
  ],
  [
    "a privileged call",
    "python3 x.py",
    "Traceback (most recent call last):\n    os.sched_setscheduler(0, os.SCHED_FIFO, p)\nPermissionError: [Errno 1] Operation not permitted"
  ],
  ["a privileged call", "hostname x", "hostname: you must be root to change the host name"],
  ["a privileged call", "sysctl -w a=1", 'sysctl: permission denied on key "a"'],
  ["a privileged call", "ulimit -n 9999999", "bash: ulimit: open files: cannot modify limit: Operation not permitted"]
]

/** Refusals of something else. */
const others: ReadonlyArray<readonly [command: string, text: string]> = [
  ["kill 1", "bash: line 1: kill: (1) - Operation not permitted"],
  ["cat f", "cat: f: Operation not permitted"],
  ["chmod 644 f", "chmod: changing permissions of 'f': Operation not permitted"],
  ["mount foo", "mount: foo: can't find in /etc/fstab."],
  ["mount -t ext4", "mount: bad usage"],
  ["umount x", "umount: x: not mounted."],
  ["ping x", "ping: socket: Operation not permitted"],
  ["arping x", "arping: socket: Operation not permitted"],
  ["node a", "Error: read EAGAIN"],
  ["cargo run", "thread 'main' panicked: Os { code: 11, message: \"Resource temporarily unavailable\" }"],
  ["ulimit -u 50; make -j90", "bash: fork: retry: Resource temporarily unavailable"],
  ["prlimit --nproc=50 make -j90", "bash: fork: retry: Resource temporarily unavailable"],
  ["python3 -c 'os.makedirs(\"/x\")'", "PermissionError: [Errno 13] Permission denied: '/x'"],
  ["nice -n -5 make", "nice: cannot set niceness: Permission denied"],
  ["python3 -c 'raise OSError(22)'", "OSError: [Errno 22] Invalid argument"],
  ["node a", "Error: connect EPERM 10.0.0.1:80"],
  ["kubectl get ns", "error: namespace not found"],
  ["docker ps", 'docker: invalid argument "x" for --mount']
]

describe("a system call that the sandbox refuses", () => {
  it("is told by what programs say", () => {
    for (const [expected, command, text] of said) {
      assert.strictEqual(refused(command, text), expected.replace("*", ""), text)
      const ofUser = refused(command, text, { isRoot: false })
      assert.strictEqual(ofUser, expected.startsWith("*") ? expected.slice(1) : undefined, text)
    }
  })

  it("is not told where something else refuses", () => {
    for (const [command, text] of others) assert.isUndefined(refused(command, text), text)
    assert.isUndefined(refused("ssh-agent", "unix_listener: socket: Operation not permitted", { unixSockets: true }))
    const agent = "Could not open a connection to your authentication agent."
    assert.isUndefined(refused("ssh-add -l", agent, { hasAgent: false }))
    assert.isUndefined(refused("curl http://h/", "curl: (7) Failed to connect to h port 80: Connection refused"))
    assert.isUndefined(refused("python3 x", "RuntimeError: can't start new thread", { processes: undefined }))
  })

  const resources = (command: string, stderr: string, stdout = "") =>
    withWorld((world) =>
      Attribution.make(world.policy)({
        ...{ command: CommandLine.parse(command), directories: [world.project], masks: [], stderr, stdout },
        ...(/2>&1/.test(command) ? { merged: stdout } : {})
      }).map(({ resource }) => resource)
    )

  it("is the cause of what the program said last", async () => {
    const mkdir =
      "[1:1:ERROR:filesystem_posix.cc(63)] mkdir /usr/share/Crash Reports/pending: Read-only file system (30)"
    const socket = "[1:1:FATAL:process_singleton_posix.cc(297)] socket() failed: Operation not permitted (1)"
    assert.deepStrictEqual(await resources("chromium", `${mkdir}\n${socket}\n`), [
      "a unix socket",
      "/usr/share/Crash Reports/pending"
    ])
    assert.deepStrictEqual(await resources("chromium", `${socket}\n${mkdir}\n`), [
      "/usr/share/Crash Reports/pending",
      "a unix socket"
    ])
  })

  it("is of the socket that the command names where no message does", async () => {
    const directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "denial-test-"))
    const server = Net.createServer().listen(`${directory}/s`)
    await once(server, "listening")
    const said = "curl: (7) Failed to connect to x port 80: Couldn't connect to server\n"
    assert.deepStrictEqual(await resources(`curl --unix-socket ${directory}/s http://x/`, said), [`${directory}/s`])
    server.close()
    Fs.rmSync(directory, { recursive: true })
  })

  it("is told behind a pipe, and not where the words are the command's own", async () => {
    assert.deepStrictEqual(await resources("mount -t tmpfs x y 2>&1 | cat", "", "bwrap: x\n"), [])
    assert.deepStrictEqual(
      await resources("unshare -r true 2>&1 | tail -1", "", "unshare: unshare failed: Operation not permitted\n"),
      ["a new namespace"]
    )
    for (const said of [
      "unix_listener: socket: Operation not permitted",
      "Error connecting to agent: Operation not permitted",
      "Failed to connect to bus: Operation not permitted"
    ]) {
      assert.deepStrictEqual(await resources("./run 2>&1 | tail -3", "", `${said}\n`), ["a unix socket"])
      assert.deepStrictEqual(await resources("./run | tail -3", "", `${said}\n`), [])
      assert.deepStrictEqual(await resources("cat log 2>&1", "", `${said}\n`), [])
    }
    assert.deepStrictEqual(
      await resources("echo 'unshare: Operation not permitted' >&2; false", "unshare: Operation not permitted"),
      []
    )
  })
})
