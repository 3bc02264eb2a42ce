import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Seccomp from "../../../../../src/sandbox/platform/linux/plan/Seccomp.js"
import * as Syscall from "../../../../../src/sandbox/platform/linux/plan/Syscall.js"
import * as Bpf from "../../../../support/sandbox/Bpf.js"

const { allow, kill, notPermitted, notThere } = Bpf.verdicts
const machines = ["x64", "arm64"] as const
/** No kernel has as many. */
const mostCalls = 600
const anyWord = FastCheck.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** The kernel does not look at the upper half of a flag's argument. */
const above = FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((high) => high << 32n)

describe.each(machines)("the filter for %s", (machine) => {
  const program = Seccomp.make(machine)
  const arch = Syscall.auditOf(machine)
  const judged = Syscall.judgedOn(machine)
  const modes = Object.values(Syscall.modesOn(machine))
  const denied = Object.values(Syscall.deniedOn(machine))
  const absent: ReadonlyArray<number> = Object.values(Syscall.absent)
  const ask = (number: number, ...args: ReadonlyArray<bigint | number>) =>
    Bpf.run(program, { number, arch, args: args.map(BigInt) })

  it("is a program that the kernel takes", () => {
    assert.strictEqual(program.length % 8, 0)
    assert.isBelow(program.length / 8, 4096)
    // It comes through a pipe, and must come as a whole or not at all (PIPE_BUF).
    assert.isAtMost(program.length, 4096)
  })

  it("answers every call by its number, whatever the arguments are", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(anyWord, { minLength: 6, maxLength: 6 }), (args) => {
        for (let number = 0; number < mostCalls; number++) {
          if (Object.values(judged).includes(number) || modes.some((call) => call.number === number)) continue
          const expected = denied.includes(number) ? notPermitted : absent.includes(number) ? notThere : allow
          assert.strictEqual(ask(number, ...args), expected, String(number))
        }
      }),
      { numRuns: 20 }
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

  it("gives no file the bit that sets the user", () => {
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
          assert.strictEqual(ask(call.number, ...args), (mode & 0o4000) === 0 ? allow : notPermitted)
          // What makes no file has no mode.
          if (call.flags !== undefined) assert.strictEqual(ask(call.number, ...args.with(call.flags, 2n)), allow)
        }
      )
    )
  })

  it("lets no process into a new namespace, and every other one begin", () => {
    const flags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(0xffffffff), above, (flag, high) => {
        const forbidden = flags.some((one) => (flag & one) !== 0)
        assert.strictEqual(ask(judged.clone, BigInt(flag) | high), forbidden ? notPermitted : allow)
        assert.strictEqual(
          ask(judged.unshare, BigInt(flag) | high),
          forbidden || (flag & 0x80) !== 0 ? notPermitted : allow
        )
      })
    )
    // What pthread_create and fork ask for.
    assert.deepStrictEqual([ask(judged.clone, 0x3d0f00), ask(judged.clone, 0x01200011)], [allow, allow])
  })

  it("makes sockets of two families, and of one protocol of a third", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(64), FastCheck.nat(30), above, (family, protocol, high) => {
        const allowed = family === 2 || family === 10 || (family === 16 && protocol === 0)
        const verdict = ask(judged.socket, BigInt(family) | high, 1, BigInt(protocol) | high)
        assert.strictEqual(verdict, allowed ? allow : notPermitted)
      })
    )
  })

  it("makes connected pairs of sockets only", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(64), FastCheck.nat(15), above, (family, type, high) => {
        const flags = 0o2004000n
        const verdict = ask(judged.socketpair, BigInt(family) | high, BigInt(type) | flags | high)
        assert.strictEqual(verdict, family === 1 && (type === 1 || type === 5) ? allow : notPermitted)
      })
    )
  })

  it("types nothing into a terminal", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.constantFrom(0x5412, 0x541c, 0x5413, 0x5401, 0x5421, 0), above, (request, high) => {
        const expected = request === 0x5412 || request === 0x541c ? notPermitted : allow
        assert.strictEqual(ask(judged.ioctl, 0, BigInt(request) | high), expected)
      })
    )
  })
})
