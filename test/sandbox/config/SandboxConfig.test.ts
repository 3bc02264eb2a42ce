import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SandboxFile from "../../../src/sandbox/config/SandboxFile.js"
import * as Config from "../../support/sandbox/Config.js"
import * as Directory from "../../support/sandbox/Directory.js"

const defaults: SandboxFile.SandboxFile = {
  enabled: true,
  provider: "local",
  env: [],
  policy: { filesystem: { whitelist: [], blacklist: [], readable: [] }, network: { allowNetwork: false } },
  providerOptions: {}
}

describe("sandbox.json", () => {
  it.scoped("that is not there means the defaults, and is not made", () =>
    Effect.gen(function* () {
      const { config, home } = yield* Config.make()
      assert.deepStrictEqual(yield* config.load, defaults)
      assert.deepStrictEqual(yield* (yield* Config.open(`${home}/not/there`)).load, defaults)
      assert.deepStrictEqual(Directory.list(home), [])
    })
  )

  it.scoped("has its directory made where commands could make it first, and nowhere else", () =>
    Effect.gen(function* () {
      const { home } = yield* Config.make()
      const { config } = yield* Effect.map(Config.open(`${home}/in/side`), (config) => ({ config }))
      const root = (path: string) => ({ pattern: path, path, kind: "path", source: "user" }) as const
      const policy = { cwd: "/w", blacklist: [], readonly: [], allowNetwork: false } as const
      yield* config.claim({ ...policy, whitelist: [root("/w")] })
      assert.deepStrictEqual(Directory.list(home), [])
      yield* config.claim({ ...policy, whitelist: [root(home)] })
      assert.isTrue(Fs.statSync(`${home}/in/side`).isDirectory())
      assert.strictEqual(Fs.statSync(`${home}/in/side`).mode & 0o777, 0o700)
    })
  )

  it.scoped("says only what differs from the defaults", () =>
    Effect.gen(function* () {
      const { config } = yield* Config.make(
        '\ufeff{"$schema":"s","policy":{"filesystem":{"blacklist":["*.pem"]},"network":{"allowNetwork":true}},"providerOptions":{"a":{"b":1}}}'
      )
      assert.deepStrictEqual(yield* config.load, {
        ...defaults,
        $schema: "s",
        policy: {
          filesystem: { whitelist: [], blacklist: ["*.pem"], readable: [] },
          network: { allowNetwork: false, isAsked: true }
        },
        providerOptions: { a: { b: 1 } }
      })
    })
  )

  it.scoped("turns the sandbox off only by the value false itself", () =>
    Effect.gen(function* () {
      const enabled = (value: string) =>
        Effect.flatMap(Config.make(`{"enabled":${value}}`), ({ config }) =>
          Effect.map(config.load, (file) => file.enabled)
        )
      assert.isFalse(yield* enabled("false"))
      assert.isTrue(yield* enabled("true"))
      for (const value of ['"false"', "0", "null", '"off"', "[]"]) {
        assert.match(yield* Config.messageOf(enabled(value)), /: enabled: Expected boolean, actual /, value)
      }
    })
  )

  it.scoped("is read anew each time", () =>
    Effect.gen(function* () {
      const { config, file } = yield* Config.make("{}")
      yield* config.load
      Fs.writeFileSync(file, '{"enabled":false}')
      assert.isFalse((yield* config.load).enabled)
    })
  )

  it.scoped("may be large", () =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 10_000 }, (_, at) => `/data/some/directory/of/a/user/${at}/x`)
      const text = JSON.stringify({
        policy: { filesystem: { blacklist: entries } },
        providerOptions: { other: "x".repeat(2 ** 20) }
      })
      const { config } = yield* Config.make(text)
      assert.strictEqual((yield* config.load).policy.filesystem.blacklist.length, entries.length)
      assert.isTrue(yield* config.addBlacklist("/one/more"))
      assert.strictEqual((yield* config.load).policy.filesystem.blacklist.at(-1), "/one/more")
    })
  )

  it("has the defaults of its schema", () => assert.deepStrictEqual(SandboxFile.defaults, defaults))
})

describe("a broken sandbox.json", () => {
  const cases: ReadonlyArray<readonly [what: string, text: string | Uint8Array, message: RegExp]> = [
    [
      "no JSON",
      '{"policy": ',
      /^\/.*\/sandbox\.json: it is no JSON: .*\. Nothing runs until that is put right: correct the file/
    ],
    ["nothing at all", "", /: it is empty/],
    ["no UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), /: it is not UTF-8/],
    ["a list", "[]", /: Expected .*, actual \[\]/],
    ["null", "null", /: Expected .*, actual null/],
    ["a policy that is null", '{"policy":null}', /: policy: Expected .*, actual null/],
    [
      "a blacklist that is text",
      '{"policy":{"filesystem":{"blacklist":"~/.ssh"}}}',
      /: policy\.filesystem\.blacklist: it must be a list: \["~\/\.ssh"\]\. Nothing/
    ],
    [
      "an entry that is no text",
      '{"policy":{"filesystem":{"whitelist":["/a",1]}}}',
      /: policy\.filesystem\.whitelist\[1\]: Expected string, actual 1/
    ],
    ["an empty provider", '{"provider":""}', /: provider: /],
    ["options that are text", '{"providerOptions":"x"}', /: providerOptions: /],
    [
      "a second policy",
      '{"policy":{"filesystem":{"blacklist":["/a"]}},"policy":{}}',
      /: policy: the name stands here twice/
    ],
    [
      "a list in the wrong place",
      '{"blacklist":["/a"]}',
      /: blacklist: it has no effect here: its place is policy\.filesystem\.blacklist/
    ],
    [
      "a network for all",
      '{"policy":{"allowNetwork":true}}',
      /: policy\.allowNetwork: it has no effect: name the hosts in policy\.network\.allowedHosts/
    ],
    ["a list beside its place", '{"policy":{"Blacklist":["/a"]}}', /: policy\.Blacklist: it has no effect here/],
    [
      "a misspelt list",
      '{"policy":{"filesystem":{"blackList":["/a"]}}}',
      /: policy\.filesystem\.blackList: the name is written blacklist/
    ],
    [
      "a misspelt object",
      '{"policy":{"filesytem":{"blacklist":["/a"]}}}',
      /: policy\.filesytem: unknown setting; filesystem may be meant\. Nothing runs/
    ],
    ["a misspelt policy", '{"polcy":{}}', /: polcy: unknown setting; policy may be meant/],
    [
      "an unknown name",
      '{"policy":{"limits":{"files":1}}}',
      /: policy\.limits\.files: unknown setting; there are processes, memory, sharedMemory/
    ],
    [
      "a misspelt name in an entry",
      '{"policy":{"filesystem":{"blacklist":["/b",{"path":"/a","hiden":"empty"}]}}}',
      /: policy\.filesystem\.blacklist\[1\].hiden: unknown setting; hidden may be meant/
    ],
    [
      "a name of another place in an entry",
      '{"policy":{"filesystem":{"blacklist":[{"path":"/a","provider":"x"}]}}}',
      /: policy\.filesystem\.blacklist\[0\]\.provider: it has no effect here: its place is the top of the file/
    ],
    ["an entry without a path", '{"policy":{"filesystem":{"blacklist":[{"hidden":"empty"}]}}}', /blacklist\[0\]/],
    ["a misspelt switch", '{"Enabled":true}', /: Enabled: the name is written enabled/],
    ["a file that is too large", `"${"x".repeat(2 ** 24)}"`, /: it is larger than 16777216 bytes/]
  ]
  for (const [what, text, message] of cases) {
    it.scoped(`is refused, named, and never written over: ${what}`, () =>
      Effect.gen(function* () {
        const { config, file, home } = yield* Config.make(text)
        const before = Fs.readFileSync(file)
        assert.match(yield* Config.messageOf(config.load), message)
        assert.match(yield* Config.messageOf(config.addWhitelist("/x")), message)
        assert.match(yield* Config.messageOf(config.addBlacklist("/x")), message)
        assert.match(yield* Config.messageOf(config.forget("/a", "/")), message)
        assert.isTrue(Fs.readFileSync(file).equals(before))
        assert.deepStrictEqual(Directory.list(home), ["sandbox.json"])
      })
    )
  }

  const places: ReadonlyArray<readonly [what: string, put: (file: string) => void, message: RegExp]> = [
    ["a directory", (file) => Fs.mkdirSync(file), /sandbox\.json: it is no file\. Nothing runs/],
    [
      "a link to nothing",
      (file) => Fs.symlinkSync("away.json", file),
      /sandbox\.json: it is a symbolic link to away\.json, where nothing is/
    ],
    ["a link to itself", (file) => Fs.symlinkSync("sandbox.json", file), /sandbox\.json: it can't be read: ELOOP/],
    ["a device", (file) => Fs.symlinkSync("/dev/zero", file), /sandbox\.json: it is no file/]
  ]
  for (const [what, put, message] of places) {
    it.scoped(`is refused, named, and never written over: ${what}`, () =>
      Effect.gen(function* () {
        const { config, file, home } = yield* Config.make()
        put(file)
        assert.match(yield* Config.messageOf(config.load), message)
        assert.match(yield* Config.messageOf(config.addWhitelist("/x")), message)
        assert.deepStrictEqual(Directory.list(home), ["sandbox.json"])
      })
    )
  }

  it.scoped("is one below a file", () =>
    Effect.gen(function* () {
      const { file } = yield* Config.make("{}")
      const config = yield* Config.open(file)
      assert.match(yield* Config.messageOf(config.load), /sandbox\.json\/sandbox\.json: it can't be read: ENOTDIR/)
    })
  )
})
