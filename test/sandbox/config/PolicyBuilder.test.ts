import * as Fs from "node:fs"
import * as Os from "node:os"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../../../src/sandbox/config/SandboxConfig.js"
import * as SandboxFile from "../../../src/sandbox/config/SandboxFile.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import type { Rule, SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import * as Directory from "../../support/sandbox/Directory.js"

const settings: Partial<SandboxSettings.Settings> = {
  home: "/nowhere/ada/.synapse",
  userHome: "/nowhere/ada",
  variables: { DATA: "/data" },
  temporary: "/tmp",
  program: ["/nowhere/synapse"]
}

const config = (policy: unknown) => Either.getOrThrow(SandboxFile.decode({ policy }))

const layers = (policy: unknown = {}, more: Partial<SandboxSettings.Settings> = {}) =>
  PolicyBuilder.layer.pipe(
    Layer.provide(SandboxConfig.layerMemory(config(policy))),
    Layer.provide(SandboxSettings.layer({ ...settings, ...more }))
  )

const build = (cwd: string, runtime?: PolicyBuilder.RuntimeRules) =>
  Effect.flatMap(PolicyBuilder.PolicyBuilder, (builder) => builder.build(cwd, runtime))

const show = (rules: ReadonlyArray<Rule>) => rules.map(({ path, source }) => `${source} ${path}`)

describe("buildPolicy", () => {
  it.effect(
    "S58 whitelists cwd, what is configured, what the session added, and the system's temporary directory",
    () =>
      Effect.gen(function* () {
        const policy = yield* build("/workspace", { whitelist: ["/extra"] })
        assert.deepStrictEqual(show(policy.whitelist), [
          "cwd /workspace",
          "file /data",
          "runtime /extra",
          `tmp ${Os.tmpdir()}`
        ])
      }).pipe(Effect.provide(layers({ filesystem: { whitelist: ["/data"] } }, { temporary: Os.tmpdir() })))
  )

  it.scoped.runIf(process.platform === "linux")("refuses what was allowed for good where a link is by now", () =>
    Effect.gen(function* () {
      const shared = yield* Directory.make
      const own = Fs.mkdtempSync("/dev/shm/synapse-test-")
      yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(own, { recursive: true })))
      const buildWith = (directory: string) => {
        const whitelist = [`${directory}/data`, "/extra"]
        return Effect.either(build("/workspace").pipe(Effect.provide(layers({ filesystem: { whitelist } }))))
      }
      for (const directory of [shared, own]) {
        Fs.mkdirSync(`${directory}/data`)
        const { whitelist } = Either.getOrThrow(yield* buildWith(directory))
        assert.include(show(whitelist), `file ${directory}/data`)
        Fs.rmdirSync(`${directory}/data`)
        Fs.symlinkSync("/srv", `${directory}/data`)
      }
      // Any user can put a link into /tmp, which must stop nothing else.
      const { whitelist } = Either.getOrThrow(yield* buildWith(shared))
      assert.deepStrictEqual(show(whitelist), ["cwd /workspace", "file /extra", "tmp /tmp"])
      const refusal = Either.getOrUndefined(Either.flip(yield* buildWith(own)))
      assert.include(refusal?.reason, `${own}/data is a symbolic link, and leads to /srv`)
    })
  )

  it.scoped.runIf(process.platform === "linux")("keeps what may only be read of the machine's /tmp from a write", () =>
    Effect.gen(function* () {
      const path = `${yield* Directory.make}/x.png`
      Fs.writeFileSync(path, "")
      const { decide, held } = yield* Effect.gen(function* () {
        return PolicyDecision.make(yield* build("/workspace"))
      }).pipe(Effect.provide(layers({ filesystem: { readable: [path] } })))
      assert.isTrue(decide(path, "read").allowed)
      assert.strictEqual(decide(path, "write").rule?.pattern, "allowed to be read only")
      assert.strictEqual(held(path)?.path, path)
    })
  )

  it.effect("has built-in rules, and adds to them layer by layer", () =>
    Effect.gen(function* () {
      const { blacklist } = yield* build("/w", { blacklist: ["~/.ssh", "/r"] })
      const written = blacklist.filter(({ source }) => source !== "default")
      assert.deepStrictEqual(show(written), [
        "own /nowhere/ada/.synapse",
        "file /data/secret",
        "file /**/*.pem",
        "file /**/.env",
        "user /w/u",
        "runtime /nowhere/ada/.ssh",
        "runtime /r"
      ])
    }).pipe(
      Effect.provide(
        layers({ filesystem: { blacklist: ["$DATA/secret", "*.pem", "**/.env"] } }, { blacklist: ["./u"] })
      )
    )
  )

  it.effect("S62 keeps what one session added out of every other", () =>
    Effect.gen(function* () {
      yield* build("/w", { whitelist: ["/extra"] })
      const { whitelist } = yield* build("/w")
      assert.deepStrictEqual(show(whitelist), ["cwd /w", "tmp /tmp"])
    }).pipe(Effect.provide(layers()))
  )

  it.effect("never allows the network, whatever was written", () =>
    Effect.forEach([true, "true", 1, null, { yes: true }], (allowNetwork) =>
      Effect.map(Effect.provide(build("/w"), layers({ network: { allowNetwork } })), (policy) =>
        assert.deepStrictEqual(
          [policy.allowNetwork, policy.asksForNetwork],
          [false, allowNetwork === true ? true : undefined]
        )
      )
    )
  )

  it.effect("protects its own file and its own program", () =>
    Effect.map(Effect.provide(build("/nowhere/ada"), layers()), ({ readonly }) =>
      assert.deepStrictEqual(show(readonly), ["own /nowhere/ada/.synapse", "own /nowhere/synapse"])
    )
  )

  it("protects, without settings, the directory that it was loaded from, and node", () => {
    const { program } = SandboxSettings.make()
    assert.deepStrictEqual(program, [`${process.cwd()}/src`, process.execPath])
  })

  it.effect("takes no character of cwd for a wildcard, a variable or an alternative", () =>
    Effect.gen(function* () {
      const cwd = "/w/[id]/$DATA/{a,b}/*"
      const policy = yield* build(cwd, { blacklist: ["k/*.pem", "x"], granted: [`${cwd}/x`] })
      const seen = ({ blacklist, granted, whitelist }: SandboxPolicy) => [
        whitelist[0],
        ...blacklist.filter(({ source }) => source === "runtime"),
        ...(granted ?? [])
      ]
      assert.deepStrictEqual(seen(policy), [
        { pattern: cwd, path: cwd, kind: "path", source: "cwd" },
        { pattern: "k/*.pem", path: "/w/\\[id\\]/\\$DATA/\\{a\\,b\\}/\\*/k/*.pem", kind: "glob", source: "runtime" },
        { pattern: "x", path: `${cwd}/x`, kind: "path", source: "runtime" },
        { pattern: `${cwd}/x`, path: `${cwd}/x`, kind: "path", source: "runtime" }
      ])
    }).pipe(Effect.provide(layers()))
  )

  it.effect("gives no write access where the working directory is the root or the kernel's", () =>
    Effect.forEach(["/", "/proc", "/dev"], (cwd) =>
      Effect.map(Effect.provide(build(cwd), layers()), ({ whitelist }) =>
        assert.deepStrictEqual(show(whitelist), ["tmp /tmp"])
      )
    )
  )

  it.scoped("knows where links led", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.mkdirSync(`${root}/real/k`, { recursive: true })
      Fs.symlinkSync("real", `${root}/link`)
      const policy = yield* Effect.provide(
        build(`${root}/link`, { blacklist: ["k", "k/*.pem", "new"] }),
        layers({}, { temporary: `${root}/link` })
      )
      assert.deepStrictEqual(
        policy.blacklist.filter(({ source }) => source === "runtime").map(({ real }) => real),
        [`${root}/real/k`, `${root}/real/k/*.pem`, `${root}/real/new`]
      )
      assert.deepStrictEqual(
        policy.whitelist.map(({ path, real }) => [path, real]),
        [[`${root}/link`, `${root}/real`]]
      )
    })
  )
})

describe("a policy that can't be", () => {
  const failure = (cwd: string, policy: unknown, more?: Partial<SandboxSettings.Settings>) =>
    Effect.map(Effect.flip(Effect.provide(build(cwd), layers(policy, more))), ({ message }) => message)

  it.effect("names the entry of the file", () =>
    Effect.map(failure("/w", { filesystem: { whitelist: ["/a", "/"] } }), (message) =>
      assert.strictEqual(
        message,
        "/nowhere/ada/.synapse/sandbox.json: policy.filesystem.whitelist[1]: / can't be on the whitelist: it would match everything. " +
          "Nothing runs until that entry is corrected or taken away."
      )
    )
  )

  it.effect("names the entry of the settings", () =>
    Effect.map(failure("/w", {}, { blacklist: ["!**/.env"] }), (message) =>
      assert.match(message, /^--deny: !\*\*\/.env can't be on the blacklist: (?!.*Nothing runs)/)
    )
  )

  it.effect.runIf(process.platform === "linux")("is one that reads all of a directory which the sandbox replaces", () =>
    Effect.gen(function* () {
      const readable = ["/tmp"]
      const message = yield* failure("/w", {}, { readable, temporaryFiles: "private" })
      assert.match(message, /^--allow-read: \/tmp can't be read as a whole: .* --temporary host\.$/)
      const host = yield* Effect.provide(build("/w"), layers({}, { readable, temporaryFiles: "host" }))
      assert.strictEqual(host.temporary, undefined)
    })
  )

  it.scoped("is one whose whitelist leads to the root by a link", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.symlinkSync("/", `${root}/all`)
      assert.match(yield* failure("/w", {}, { whitelist: [`${root}/all`] }), /would match everything/)
    })
  )

  it.scoped("is one whose own file is reached by a link that commands may write", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      const outside = yield* Directory.make
      Fs.symlinkSync(outside, `${root}/link`)
      const at = (cwd: string) =>
        Effect.either(Effect.provide(build(cwd), layers({}, { home: `${root}/link/home`, temporary: "/nowhere/tmp" })))
      const loose = `it is reached by the link ${root}/link, which commands may write: they could lead it elsewhere`
      assert.include(Either.getOrThrow(Either.flip(yield* at(root))).message, loose)
      // Where they may not write it, it is as good as any other name.
      assert.deepStrictEqual(Either.getOrThrow(yield* at("/nowhere/w")).cwd, "/nowhere/w")
    })
  )

  it.effect("is one for a directory that is on the blacklist", () =>
    Effect.map(failure("/nowhere/ada/.aws/x", {}), (message) =>
      assert.strictEqual(
        message,
        "/nowhere/ada/.aws/x: a sandbox can't start in this directory: rule ~/.aws is on the blacklist (built in). " +
          "Start in another one."
      )
    )
  )

  it.scoped("holds the file that servers are started by, where it is there; on macOS in any case", () =>
    Effect.gen(function* () {
      const cwd = yield* Directory.make
      const file = `${cwd}/${PolicyBuilder.serversFile}`
      const isHeld = Effect.map(build(cwd), ({ readonly }) => show(readonly).includes(`own ${file}`))
      assert.strictEqual(yield* isHeld, process.platform === "darwin")
      Fs.writeFileSync(file, "{}")
      assert.isTrue(yield* isHeld)
    }).pipe(Effect.provide(layers()))
  )
})

describe("a fixed policy", () => {
  it.scoped("has what was allowed since, but for a path that leads elsewhere by now", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      for (const name of ["a*", "b", "victim"]) Fs.mkdirSync(`${directory}/${name}`)
      const fixed = yield* Effect.provide(build(directory), layers())
      const runtime = { whitelist: [`${directory}/a\\*`, `${directory}/b`], granted: [`${directory}/victim/key`] }
      const added = Effect.map(
        Effect.provide(build("/elsewhere", runtime), PolicyBuilder.layerFixed(fixed)),
        ({ granted = [], whitelist }) =>
          [...whitelist.slice(fixed.whitelist.length), ...granted].map(({ path }) => path)
      )
      assert.deepStrictEqual(yield* added, [`${directory}/a*`, `${directory}/b`, `${directory}/victim/key`])
      Fs.rmdirSync(`${directory}/b`)
      Fs.symlinkSync("victim", `${directory}/b`)
      assert.deepStrictEqual(yield* added, [`${directory}/a*`, `${directory}/victim/key`])
      assert.deepStrictEqual(yield* Effect.provide(build("/"), PolicyBuilder.layerFixed(fixed)), fixed)
    })
  )
})
