import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Seccomp from "../../../../../src/sandbox/platform/linux/plan/Seccomp.js"
import * as Bpf from "../../../../support/sandbox/Bpf.js"

const { allow, kill, notPermitted, notThere } = Bpf.verdicts
/** No kernel has as many. */
const mostCalls = 600
const anyWord = FastCheck.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** The kernel does not look at the upper half of a flag's argument. */
const above = FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((high) => high << 32n)

/** Every system call of a machine and its number, from the kernel's own headers (6.1, and what came after). */
const callsOf = (machine: string): ReadonlyMap<string, number> =>
  new Map(
    Fs.readFileSync(`${import.meta.dirname}/../../../../fixtures/syscalls/${machine}.txt`, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" "))
      .map(([number, name = ""]) => [name, Number(number)])
  )

/** Refused whatever their arguments are. */
const denied = new Set(
  `acct add_key bpf chroot create_module delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick
  init_module ioperm iopl kexec_file_load kexec_load keyctl lookup_dcookie mount mount_setattr move_mount nfsservctl
  open_by_handle_at open_tree open_tree_attr perf_event_open pivot_root query_module quotactl quotactl_fd reboot
  request_key setns swapoff swapon syslog umount2 uselib userfaultfd vhangup`.split(/\s+/)
)
/** As if the kernel had none: programs do without them then. */
const absent = new Set(["clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup"])
/** Those that depend on their arguments, with arguments that are refused. */
const judged: Readonly<Record<string, ReadonlyArray<number>>> = {
  clone: [0x10000000],
  unshare: [0x10000000],
  fcntl: [0, 1024],
  ioctl: [0, 0x5412],
  socket: [1, 1, 0],
  socketpair: [1, 2, 0],
  open: [0, 0o100, 0o4000],
  openat: [0, 0, 0o100, 0o4000],
  creat: [0, 0o4000],
  chmod: [0, 0o4000],
  fchmod: [0, 0o4000],
  fchmodat: [0, 0, 0o4000],
  fchmodat2: [0, 0, 0o4000],
  mknod: [0, 0o104000],
  mknodat: [0, 0, 0o104000]
}

/** The number by which the kernel knows the machine, and the calls that can give a file a mode: where it stands. */
const machines = [
  {
    machine: "x64",
    arch: 0xc000003e,
    modes: [
      { name: "openat", mode: 3, flags: 2 },
      { name: "open", mode: 2, flags: 1 },
      { name: "creat", mode: 1 },
      { name: "chmod", mode: 1 },
      { name: "fchmod", mode: 1 },
      { name: "fchmodat", mode: 2 },
      { name: "fchmodat2", mode: 2 },
      { name: "mknod", mode: 1 },
      { name: "mknodat", mode: 2 }
    ]
  },
  {
    machine: "arm64",
    arch: 0xc00000b7,
    modes: [
      { name: "openat", mode: 3, flags: 2 },
      { name: "fchmod", mode: 1 },
      { name: "fchmodat", mode: 2 },
      { name: "fchmodat2", mode: 2 },
      { name: "mknodat", mode: 2 }
    ]
  }
] as const

const users = machines.flatMap((machine) =>
  [false, true].map((isRoot) => ({ ...machine, isRoot, who: isRoot ? "root" : "an ordinary user" }))
)

describe.each(users)("the filter for $machine and $who", ({ arch, isRoot, machine, ...rest }) => {
  const program = Seccomp.make(machine, { isRoot, unixSockets: false })
  const forbidden = isRoot ? 0o6000 : 0o4000
  const calls = callsOf(machine)
  const modes: ReadonlyArray<{ readonly name: string; readonly mode: number; readonly flags?: number }> = rest.modes
  const ask = (call: string | number, ...args: ReadonlyArray<bigint | number>) => {
    const number = typeof call === "number" ? call : (calls.get(call) ?? assert.fail(`no such call: ${call}`))
    return Bpf.run(program, { number, arch, args: args.map(BigInt) })
  }

  it("is a program that the kernel takes", () => {
    assert.strictEqual(program.length % 8, 0)
    assert.isBelow(program.length / 8, 4096)
    // It comes through a pipe, and must come as a whole or not at all (PIPE_BUF).
    assert.isAtMost(program.length, 4096)
  })

  it("refuses the calls of these names, and no others", () => {
    const names = new Map([...calls].map(([name, number]) => [number, name]))
    const expected = (name: string) => (denied.has(name) ? notPermitted : absent.has(name) ? notThere : allow)
    FastCheck.assert(
      FastCheck.property(FastCheck.array(anyWord, { minLength: 6, maxLength: 6 }), (args) => {
        for (let number = 0; number < mostCalls; number++) {
          const name = names.get(number) ?? ""
          if (!(name in judged)) assert.strictEqual(ask(number, ...args), expected(name), `${number} ${name}`)
        }
      }),
      { numRuns: 20 }
    )
    const here = Object.entries(judged).filter(([name]) => calls.has(name))
    assert.deepStrictEqual(
      here.filter(([name, args]) => ask(name, ...args) !== notPermitted),
      []
    )
  })

  it("kills what comes from another architecture, or by the numbers of x32", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(0xffffffff), FastCheck.nat(mostCalls), (other, number) => {
        if (other !== arch) assert.strictEqual(Bpf.run(program, { number, arch: other }), kill)
        assert.strictEqual(ask(0x40000000 + number), kill)
        assert.strictEqual(ask(0xffffffff - number), kill)
      })
    )
  })

  it("gives no file the bit that sets the user, and none of root's that for the group", () => {
    const making = FastCheck.constantFrom(0o100, 0o101, 0o102, 0o20200002)
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(...modes),
        FastCheck.nat(0o177777),
        making,
        above,
        (call, mode, flags, high) => {
          const args = Array.from({ length: 6 }, (_, at) =>
            at === call.mode ? BigInt(mode) | high : at === call.flags ? BigInt(flags) | high : high
          )
          assert.strictEqual(ask(call.name, ...args), (mode & forbidden) === 0 ? allow : notPermitted)
          // What makes no file has no mode.
          if (call.flags !== undefined) assert.strictEqual(ask(call.name, ...args.with(call.flags, 2n)), allow)
        }
      )
    )
  })

  it("lets no process into a new namespace, and every other one begin", () => {
    const flags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(0xffffffff), above, (flag, high) => {
        const forbidden = flags.some((one) => (flag & one) !== 0)
        assert.strictEqual(ask("clone", BigInt(flag) | high), forbidden ? notPermitted : allow)
        assert.strictEqual(ask("unshare", BigInt(flag) | high), forbidden || (flag & 0x80) !== 0 ? notPermitted : allow)
      })
    )
    for (const flag of flags) {
      assert.deepStrictEqual([ask("clone", flag), ask("unshare", flag)], [notPermitted, notPermitted], String(flag))
    }
    // In clone, that bit is of a signal's number.
    assert.deepStrictEqual([ask("clone", 0x80), ask("unshare", 0x80)], [allow, notPermitted])
    // What pthread_create and fork ask for.
    assert.deepStrictEqual([ask("clone", 0x3d0f00), ask("clone", 0x01200011)], [allow, allow])
  })

  it("makes sockets of two families, and of one protocol of a third", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(64), FastCheck.nat(30), above, (family, protocol, high) => {
        const allowed = family === 2 || family === 10 || (family === 16 && protocol === 0)
        const verdict = ask("socket", BigInt(family) | high, 1, BigInt(protocol) | high)
        assert.strictEqual(verdict, allowed ? allow : notPermitted)
      })
    )
  })

  it("makes unix sockets, and pairs of any kind, where they are allowed, and no further family", () => {
    const open = Seccomp.make(machine, { isRoot, unixSockets: true })
    const verdict = (call: string, ...args: ReadonlyArray<bigint>) =>
      Bpf.run(open, { number: calls.get(call) ?? assert.fail(call), arch, args })
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(45), FastCheck.nat(15), above, (family, type, high) => {
        const one = verdict("socket", BigInt(family) | high, BigInt(type), 1n)
        const pair = verdict("socketpair", BigInt(family) | high, BigInt(type), 0n)
        assert.deepStrictEqual(
          [one, pair],
          [[1, 2, 10].includes(family) ? allow : notPermitted, family === 1 ? allow : notPermitted]
        )
      })
    )
  })

  it("makes connected pairs of sockets only", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(64), FastCheck.nat(15), above, (family, type, high) => {
        const flags = 0o2004000n
        const verdict = ask("socketpair", BigInt(family) | high, BigInt(type) | flags | high)
        assert.strictEqual(verdict, family === 1 && (type === 1 || type === 5) ? allow : notPermitted)
      })
    )
  })

  it("takes no leases, and allows all else that fcntl does", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(63), above, (number, high) => {
        for (const command of [number, 1024 + number]) {
          const isLease = [1024, 1026, 1040].includes(command)
          assert.strictEqual(ask("fcntl", 3, BigInt(command) | high, 0), isLease ? notPermitted : allow)
        }
      })
    )
  })

  it("types nothing into a terminal", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.constantFrom(0x5412, 0x541c, 0x5413, 0x5401, 0x5421, 0), above, (request, high) => {
        const expected = request === 0x5412 || request === 0x541c ? notPermitted : allow
        assert.strictEqual(ask("ioctl", 0, BigInt(request) | high), expected)
      })
    )
  })
})
