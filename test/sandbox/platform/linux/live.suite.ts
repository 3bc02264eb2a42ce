/**
 * What changes while a shell runs, and the shell goes on.
 */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { LinuxWrapped } from "../../../../src/sandbox/platform/linux/LinuxPlatform.js"
import * as LiveMasks from "../../../../src/sandbox/platform/linux/live/LiveMasks.js"
import type { LiveNamespace } from "../../../../src/sandbox/platform/linux/live/LiveNamespace.js"
import { effect, rule } from "../../../support/sandbox/Sandboxed.js"

const watchOf = (door: LiveNamespace, { layout, policy }: LinuxWrapped) =>
  LiveMasks.make(door, policy, layout, 0).watch({ isGranted: () => false, exclusive: (change) => change })

const globs = () => ({ blacklist: [rule("/**/.env")] })

export const live = (title: string): void => {
  describe(title, () => {
    effect(
      "masks what the host has replaced, and what is new",
      { policy: globs, prepare: ({ project }) => Fs.writeFileSync(`${project}/.env`, "old\n") },
      ({ project, start, wrapped }) =>
        Effect.gen(function* () {
          const { ask, pid } = yield* start
          const door = wrapped.live(pid)
          assert.match(yield* ask("kept=1; cat .env"), /Permission denied/)
          assert.deepStrictEqual(door.lost(wrapped.masks), [])

          Fs.writeFileSync(`${project}/next`, "new\n")
          Fs.renameSync(`${project}/next`, `${project}/.env`)
          assert.deepStrictEqual(door.lost(wrapped.masks), wrapped.masks)
          assert.strictEqual(yield* ask("cat .env"), "new\n")
          yield* door.addMasks(wrapped.masks)
          assert.deepStrictEqual(door.lost(wrapped.masks), [])
          assert.match(yield* ask("cat .env"), /Permission denied/)

          Fs.mkdirSync(`${project}/later`)
          Fs.writeFileSync(`${project}/later/.env`, "later\n")
          const path = `${project}/later`
          assert.isFalse(door.isMounted(path))
          yield* door.addMasks([{ path, kind: "directory" }])
          assert.isTrue(door.isMounted(path))
          const said = yield* ask("cat later/.env; echo x > .env; rm -f .env; touch later/x; mv later l2; echo $kept")
          assert.strictEqual(said.match(/Permission denied|Read-only|resource busy/g)?.length, 5)
          assert.match(said, /\n1\n$/)

          yield* door.removeMask(path)
          assert.strictEqual(yield* ask("cat later/.env"), "later\n")
          assert.strictEqual(Fs.readFileSync(`${project}/.env`, "utf8"), "new\n")
        })
    )

    effect("masks also where nothing was masked at the start", { policy: globs }, ({ project, start, wrapped }) =>
      Effect.gen(function* () {
        const { ask, pid } = yield* start
        const door = wrapped.live(pid)
        assert.strictEqual(yield* ask("echo ready"), "ready\n")
        Fs.writeFileSync(`${project}/.env`, "new\n")
        yield* door.addMasks([{ path: `${project}/.env`, kind: "file" }])
        assert.match(yield* ask("cat .env"), /Permission denied/)
        assert.match(yield* ask("chmod 777 .env"), /Read-only file system/)
        // A file that is gone needs no mask.
        yield* door.addMasks([{ path: `${project}/gone`, kind: "file" }])
      })
    )

    const inside = process.getuid?.() === 0
    if (!inside) it.skip("makes a path writable (an ordinary user has none to try it with outside of /tmp)")
    else
      effect(
        "makes a path writable, without what is masked in it, and takes that back",
        {
          prepare: ({ outside }) => {
            Fs.mkdirSync(`${outside}/more/deep`, { recursive: true })
            Fs.writeFileSync(`${outside}/more/deep/.env`, "secret\n")
            Fs.mkdirSync(`${outside}/own`)
          },
          policy: ({ outside }) => ({ ...globs(), readonly: [rule(`${outside}/own/policy.json`, "own")] })
        },
        ({ outside, project, start, wrapped }) =>
          Effect.gen(function* () {
            const { ask, pid } = yield* start
            const door = wrapped.live(pid)
            const more = `${outside}/more`
            assert.match(yield* ask(`kept=1; touch ${more}/made`), /Read-only/)
            const masks = yield* door.addBind(more)
            assert.deepStrictEqual(
              masks.map((mask) => mask.path),
              [`${more}/deep/.env`]
            )
            assert.strictEqual(
              yield* ask(`touch ${more}/made && awk '$5 == "${more}" && /nosuid,nodev/' /proc/self/mountinfo | wc -l`),
              "1\n"
            )
            assert.match(yield* ask(`cat ${more}/deep/.env`), /Permission denied/)
            assert.deepStrictEqual(Fs.readdirSync(more), ["deep", "made"])
            yield* door.removeBind(more)
            assert.match(yield* ask(`touch ${more}/again; echo $kept`), /Read-only file system\n1\n$/)
            assert.match(yield* ask(`cat ${more}/deep/.env`), /Permission denied/)

            // What can't be kept is not given; what is there already needs nothing.
            for (const path of [
              outside,
              `${outside}/own`,
              `${outside}/own/policy.json`,
              "/",
              "/proc",
              "/run/x",
              `${project}/../gone`
            ]) {
              const error = yield* Effect.flip(door.addBind(path))
              assert.strictEqual(error.kind, "sandbox")
            }
            assert.deepStrictEqual(yield* door.addBind(`${project}/sub`), [])
          })
      )

    effect(
      "watches for what is replaced and what appears",
      {
        prepare: ({ outside, project }) => {
          Fs.writeFileSync(`${project}/.env`, "old\n")
          Fs.mkdirSync(`${outside}/home`)
        },
        policy: ({ outside }) => ({ blacklist: [rule("/**/.env"), rule(`${outside}/home/.gnupg`)] })
      },
      ({ outside, project, start, wrapped }) =>
        Effect.gen(function* () {
          const { ask, pid } = yield* start
          yield* ask("true")
          const door = wrapped.live(pid)
          const watch = yield* watchOf(door, wrapped)
          const masked = (path: string) =>
            Effect.sync(() => door.isMounted(path)).pipe(
              Effect.repeat({ until: (is) => is, schedule: Schedule.spaced(5) }),
              Effect.timeout(5000)
            )
          Fs.writeFileSync(`${project}/next`, "new\n")
          Fs.renameSync(`${project}/next`, `${project}/.env`)
          yield* masked(`${project}/.env`)
          Fs.mkdirSync(`${outside}/home/.gnupg`)
          yield* masked(`${outside}/home/.gnupg`)
          assert.match(yield* ask("cat .env"), /Permission denied/)
          yield* watch.refresh
          assert.deepStrictEqual(
            watch.masks().map((mask) => [mask.path, mask.kind]),
            [
              [`${project}/.env`, "file"],
              [`${outside}/home/.gnupg`, "directory"]
            ]
          )
        })
    )

    effect(
      "watches the way to what is not there yet, and leaves other files alone",
      { policy: ({ project }) => ({ blacklist: [rule(`${project}/far/away/key`)] }) },
      ({ project, start, wrapped }) =>
        Effect.gen(function* () {
          const { ask, pid } = yield* start
          yield* ask("true")
          let looks = 0
          const live = wrapped.live(pid)
          const lost: typeof live.lost = (masks) => {
            looks++
            return live.lost(masks)
          }
          const door = { ...live, lost }
          yield* watchOf(door, wrapped)
          for (let at = 0; at < 20; at++) Fs.writeFileSync(`${project}/other`, `${at}\n`)
          Fs.mkdirSync(`${project}/next/away`, { recursive: true })
          Fs.writeFileSync(`${project}/next/away/key`, "secret\n")
          Fs.renameSync(`${project}/next`, `${project}/far`)
          yield* Effect.sync(() => live.isMounted(`${project}/far/away/key`)).pipe(
            Effect.repeat({ until: (is) => is, schedule: Schedule.spaced(5) }),
            Effect.timeout(5000)
          )
          assert.isBelow(looks, 5)
        })
    )

    effect(
      "has nothing to mask in a sandbox that has ended",
      { policy: globs, prepare: ({ project }) => Fs.writeFileSync(`${project}/.env`, "old\n") },
      ({ start, wrapped }) =>
        Effect.gen(function* () {
          const { ask, pid } = yield* start
          yield* ask("true")
          const door = wrapped.live(pid)
          assert.deepStrictEqual(door.lost(wrapped.masks), [])
          process.kill(pid, "SIGKILL")
          yield* Effect.repeat(
            Effect.sync(() => door.areMounted(wrapped.masks)),
            { until: (are) => !are, schedule: Schedule.spaced(5) }
          )
          assert.deepStrictEqual(door.lost(wrapped.masks), [])
          yield* door.addMasks(wrapped.masks)
        })
    )

    effect(
      "says that it can't where there is no door",
      {
        policy: globs,
        options: { level: "single" },
        prepare: ({ project }) => Fs.writeFileSync(`${project}/.env`, "old\n")
      },
      ({ project, start, wrapped }) =>
        Effect.gen(function* () {
          const { ask, pid } = yield* start
          yield* ask("true")
          const door = wrapped.live(pid)
          assert.isFalse(door.canChange)
          assert.deepStrictEqual(door.lost(wrapped.masks), [])
          Fs.writeFileSync(`${project}/next`, "new\n")
          Fs.renameSync(`${project}/next`, `${project}/.env`)
          assert.deepStrictEqual(door.lost(wrapped.masks), wrapped.masks)
          const error = yield* Effect.flip(door.addMasks(wrapped.masks))
          assert.strictEqual(
            error.message,
            `could not mask ${project}/.env: this sandbox can't be changed while it runs`
          )
        })
    )
  })
}
