import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Capability from "../../../../../src/sandbox/platform/linux/check/Capability.js"

const bash = "/bin/bash"
const programs = { bash, bwrap: bash, unshare: bash, mount: bash, umount: bash, nsenter: bash }

/** A machine where nothing speaks against a sandbox; `undefined` takes a file away. */
const free: Readonly<Record<string, string | undefined>> = {
  "self/status": "Name:\tnode\nCapEff:\t000001ffffffffff\nSeccomp:\t0\nSeccomp_filters:\t0\n",
  "self/mountinfo": "22 27 0:21 / /proc rw - proc proc rw\n27 1 254:0 / / rw - ext4 /dev/vda rw\n",
  "sys/user/max_user_namespaces": "15000\n"
}

const expected = (changes: Readonly<Record<string, string | undefined>>, has: Partial<typeof programs> = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const proc = Fs.mkdtempSync(Path.join(Os.tmpdir(), "expectation-test-"))
        for (const [name, text] of Object.entries({ ...free, ...changes })) {
          Fs.mkdirSync(Path.join(proc, Path.dirname(name)), { recursive: true })
          if (text !== undefined) Fs.writeFileSync(Path.join(proc, name), text)
        }
        return proc
      }),
      (proc) => Effect.sync(() => Fs.rmSync(proc, { recursive: true, force: true }))
    ),
    (proc) => Capability.levelExpectation({ ...programs, ...has }, proc)
  )

const isRoot = process.getuid?.() === 0

describe.skipIf(process.platform !== "linux")("what is expected", () => {
  it.scoped("is the best, where nothing speaks against it", () =>
    Effect.gen(function* () {
      const best = isRoot ? "mount" : "user"
      assert.strictEqual(yield* expected({}), best)
      assert.strictEqual(yield* expected({ "self/attr/current": "unconfined\n" }), best)
      assert.strictEqual(
        yield* expected({ "self/attr/current": "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023\0" }),
        best
      )
    })
  )

  it.scoped("is nothing, where something does", () =>
    Effect.gen(function* () {
      const mounts = free["self/mountinfo"] ?? ""
      const doubts = {
        "no user namespaces": { "sys/user/max_user_namespaces": "0\n" },
        "a kernel that knows none": { "sys/user/max_user_namespaces": undefined },
        "a filter of somebody's": { "self/status": "CapEff:\t000001ffffffffff\nSeccomp:\t2\n" },
        "a profile": { "self/attr/current": "docker-default (enforce)\n" },
        "a part of /proc that is hidden": {
          "self/mountinfo": `${mounts}30 22 0:9 / /proc/kcore rw - tmpfs tmpfs rw\n`
        },
        "a chroot": { "self/mountinfo": "22 27 0:21 / /proc rw - proc proc rw\n" },
        "nothing to be read": { "self/status": undefined },
        ...(isRoot
          ? { "root without its rights": { "self/status": "CapEff:\t00000000a80425fb\nSeccomp:\t0\n" } }
          : {
              "AppArmor's restriction": { "sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" },
              "namespaces for root only": { "sys/kernel/unprivileged_userns_clone": "0\n" }
            })
      }
      for (const [doubt, changes] of Object.entries(doubts)) {
        assert.deepStrictEqual([doubt, yield* expected(changes)], [doubt, undefined])
      }
      assert.isUndefined(yield* expected({}, { nsenter: undefined as never }))
      assert.isUndefined(yield* expected({}, { bwrap: "/usr/bin/passwd" }))
    })
  )
})
