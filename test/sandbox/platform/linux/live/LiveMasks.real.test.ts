/** The proof that all is masked before the first command, where files move between its walks. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../../../../src/domain/CommandError.js"
import * as LiveMasks from "../../../../../src/sandbox/platform/linux/live/LiveMasks.js"
import type { LiveNamespace } from "../../../../../src/sandbox/platform/linux/live/LiveNamespace.js"
import type { Layout } from "../../../../../src/sandbox/platform/linux/plan/Layout.js"
import type { Mask } from "../../../../../src/sandbox/platform/SandboxPlatform.js"
import type { SandboxPolicy } from "../../../../../src/sandbox/policy/SandboxPolicy.js"
import * as Directory from "../../../../support/sandbox/Directory.js"

const idle: LiveNamespace = {
  canChange: true,
  verify: Effect.void,
  arrive: Effect.void,
  isMounted: () => true,
  areMounted: () => true,
  lost: () => [],
  evict: () => Effect.succeed([]),
  addMasks: () => Effect.void,
  removeMask: () => Effect.void,
  unmask: () => Effect.void,
  addBind: () => Effect.succeed([]),
  removeBind: () => Effect.void,
  network: () => undefined
}

const policyOf = (cwd: string, source: "default" | "file"): SandboxPolicy => ({
  cwd,
  whitelist: [],
  blacklist: [{ pattern: "**/.env", path: "/**/.env", kind: "glob", source }],
  readonly: [],
  allowNetwork: false
})

const layoutOf = (base: string, masks: ReadonlyArray<Mask> = []): Layout => ({
  cwd: base,
  roots: [base],
  readonly: [],
  refused: [],
  moved: [],
  masks,
  openings: [],
  pins: [],
  isReadOnly: false,
  held: () => [],
  temporary: [],
  sessions: "/nonexistent",
  others: [],
  unsearched: [],
  session: base,
  vital: []
})

/** Proves over a directory with `a/.env`, which is masked, and calls `after` when a walk has been compared. */
const prove = (
  after: (walks: number, base: string) => void,
  { isAtRest = false, learns = true }: { readonly isAtRest?: boolean; readonly learns?: boolean } = {}
) =>
  Effect.gen(function* () {
    const base = yield* Directory.make
    for (const name of ["a", "b"]) Fs.mkdirSync(`${base}/${name}`)
    Fs.writeFileSync(`${base}/a/.env`, "")
    const mounted = new Set([`${base}/a/.env`])
    const learnt: Array<string> = []
    let walks = 0
    const namespace: LiveNamespace = {
      ...idle,
      isMounted: (path) => mounted.has(path),
      areMounted: (masks) => {
        const areAll = masks.every(({ path }) => mounted.has(path))
        after(++walks, base)
        return areAll
      }
    }
    const policy = policyOf(base, "file")
    const layout = layoutOf(base)
    const learn = (masks: ReadonlyArray<Mask>) =>
      Effect.sync(() => {
        for (const { path } of masks) {
          if (!mounted.has(path)) learnt.push(path.slice(base.length))
          mounted.add(path)
        }
        return []
      })
    const walked = Date.now() + (isAtRest ? 3_600_000 : 0)
    const outcome = yield* LiveMasks.make(namespace, policy, layout, walked)
      .prove(learns ? learn : undefined)
      .pipe(Effect.match({ onFailure: ({ message }: ExecutionFailed) => message, onSuccess: () => "proven" }))
    return { outcome, walks, learnt }
  })

/** Changes a directory, as a file that comes and goes does. */
const stir = (base: string) => {
  Fs.writeFileSync(`${base}/b/x`, "")
  Fs.rmSync(`${base}/b/x`)
}

const moved = /^no sandbox: what the blacklist names is being moved while the sandbox starts/

describe("the proof of a sandbox", () => {
  it.scoped("takes one walk where nothing has changed since the last one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* prove(() => {}, { isAtRest: true }), { outcome: "proven", walks: 1, learnt: [] })
    })
  )

  it.live("takes eight walks in a row that find all masked where directories keep changing", () =>
    Effect.gen(function* () {
      const still = yield* prove((_, base) => stir(base))
      assert.deepStrictEqual(still, { outcome: "proven", walks: 8, learnt: [] })
      const once = yield* prove((walks, base) => {
        if (walks === 3) Fs.renameSync(`${base}/a/.env`, `${base}/b/.env`)
        stir(base)
      })
      assert.deepStrictEqual(once, { outcome: "proven", walks: 12, learnt: ["/b/.env"] })
    }).pipe(Effect.scoped)
  )

  it.live("fails where what is to be hidden moves on and on, or once if nothing can be masked any more", () =>
    Effect.gen(function* () {
      const always = yield* prove((walks, base) => {
        Fs.mkdirSync(`${base}/b/${walks}`)
        Fs.renameSync(`${base}/${walks === 1 ? "a" : `b/${walks - 1}`}/.env`, `${base}/b/${walks}/.env`)
      })
      assert.match(always.outcome, moved)
      assert.strictEqual(always.walks, 24)
      const single = yield* prove(
        (walks, base) => {
          if (walks === 1) Fs.renameSync(`${base}/a/.env`, `${base}/b/.env`)
          stir(base)
        },
        { learns: false }
      )
      assert.match(single.outcome, moved)
      assert.strictEqual(single.walks, 2)
    }).pipe(Effect.scoped)
  )
})

describe("the masks of a sandbox", () => {
  it.live("go from a file whose content git holds since, as soon as its index has it", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      const git = (...words: ReadonlyArray<string>) => ChildProcess.execFileSync("git", ["-C", base, ...words])
      git("init", "-q")
      const path = `${base}/.env`
      Fs.writeFileSync(path, "PORT=1\n")
      const policy = policyOf(base, "default")
      const shown = yield* Deferred.make<string>()
      const namespace = { ...idle, unmask: (path: string) => Deferred.succeed(shown, path) }
      const layout = layoutOf(
        base,
        policy.blacklist.map((rule) => ({ path, kind: "file", rule }))
      )
      yield* LiveMasks.make(namespace, policy, layout, 0).watch({
        exclusive: (change) => change,
        isGranted: () => false
      })
      git("add", "-f", ".env")
      assert.strictEqual(yield* Deferred.await(shown), path)
    }).pipe(Effect.scoped)
  )
})
