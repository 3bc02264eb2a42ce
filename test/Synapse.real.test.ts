/** Whole apps, side by side and put together from other parts, over real shells. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommandRegistry from "../src/command/CommandRegistry.js"
import * as CommandResult from "../src/domain/CommandResult.js"
import * as Synapse from "../src/Synapse.js"
import * as Permission from "../src/sandbox/permission/Permission.js"
import * as SandboxPlatform from "../src/sandbox/platform/SandboxPlatform.js"
import * as SandboxProvider from "../src/sandbox/SandboxProvider.js"
import { Toolset } from "../src/toolset/Toolset.js"
import * as Directory from "./support/sandbox/Directory.js"
import { FakeProvider } from "./support/sandbox/Managed.js"

/** One of two apps' toolsets, under a tag of its own. */
class One extends Context.Tag("test/One")<One, Context.Tag.Service<Toolset>>() {}
class Other extends Context.Tag("test/Other")<Other, Context.Tag.Service<Toolset>>() {}

const run = (toolset: Context.Tag.Service<Toolset>, command: string) =>
  Effect.map(
    toolset.handle({ id: crypto.randomUUID(), name: "Bash", arguments: JSON.stringify({ command }) }),
    ({ output }) => output
  )

const runHere = (command: string) => Effect.flatMap(Toolset, (toolset) => run(toolset, command))

const inDirectories = <A, E>(use: (one: string, other: string) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Effect.all([Directory.make, Directory.make]), ([one, other]) => use(one, other)))

const both = <A, E>(
  one: Layer.Layer<Toolset, E>,
  other: Layer.Layer<Toolset, E>,
  use: (one: Context.Tag.Service<Toolset>, other: Context.Tag.Service<Toolset>) => Effect.Effect<A>
) =>
  Effect.flatMap(Effect.all([One, Other]), ([first, second]) => use(first, second)).pipe(
    Effect.provide(
      Layer.merge(
        Layer.effect(One, Toolset).pipe(Layer.provide(one)),
        Layer.effect(Other, Toolset).pipe(Layer.provide(other))
      )
    )
  )

describe("two apps in one graph of layers", () => {
  it.live("are one without a sandbox and one with it", () =>
    inDirectories((one, other) =>
      Effect.gen(function* () {
        for (const directory of [one, other]) Fs.writeFileSync(`${directory}/.env`, "TOKEN=1\n")
        const sandbox = { home: `${one}/home` }
        const said = yield* both(
          Synapse.layer({ cwd: one }, { sandbox: { ...sandbox, enabled: false } }),
          Synapse.layer({ cwd: other }, { sandbox }),
          (free, held) => Effect.all([run(free, "pwd; cat .env"), run(held, "pwd"), run(held, "f=.en; cat ${f}v")])
        )
        assert.deepStrictEqual(said.slice(0, 2), [`${one}\nTOKEN=1\n`, `${other}\n`])
        assert.include(said[2], "is blocked by rule")
      })
    )
  )

  it.live("have each their directory and their variables; one value that is used twice is one app", () =>
    inDirectories((one, other) =>
      Effect.gen(function* () {
        const app = (cwd: string) => Synapse.layer({ cwd }, { sandbox: { enabled: false } })
        const said = (first: Layer.Layer<Toolset, unknown>, second: Layer.Layer<Toolset, unknown>) =>
          both(first, second, (a, b) => Effect.zipRight(run(a, "X=1; pwd"), run(b, 'pwd; echo "<$X>"')))
        assert.strictEqual(yield* said(app(one), app(other)), `${other}\n<>\n`)
        assert.strictEqual(yield* said(app(one), app(one)), `${one}\n<>\n`)
        const same = app(one)
        assert.strictEqual(yield* said(same, same), `${one}\n<1>\n`)
      })
    )
  )
})

describe("the services of an app", () => {
  it.live("lead to no shell but the sandbox's: what root may do, none of them can", () =>
    inDirectories((cwd, home) =>
      Effect.gen(function* () {
        const context = yield* Layer.build(Synapse.layer({ cwd }, { sandbox: { home } }))
        assert.deepStrictEqual([...context.unsafeMap.keys()].sort(), [
          "synapse/BashRouter",
          "synapse/BashTool",
          "synapse/CommandRegistry",
          "synapse/Jobs",
          "synapse/McpClient",
          "synapse/SandboxManager",
          "synapse/SessionJobs",
          "synapse/SkillStore",
          "synapse/SubAgentManager",
          "synapse/TodoStore",
          "synapse/Toolset"
        ])
        const services = context as Context.Context<Synapse.Services>
        const target = `${process.env["HOME"] ?? "/root"}/synapse-door-test`
        const tried = `echo x > ${target}; f=/etc/sha; cat "\${f}dow"`
        const { BashRouter } = yield* Effect.promise(() => import("../src/router/BashRouter.js"))
        const { SandboxManager } = yield* Effect.promise(() => import("../src/sandbox/SandboxManager.js"))
        const { BashTool } = yield* Effect.promise(() => import("../src/toolset/BashTool.js"))
        const manager = Context.get(services, SandboxManager)
        const answers = [
          yield* run(Context.get(services, Toolset), tried),
          (yield* Context.get(services, BashTool).run({ command: tried })).stdout,
          (yield* Context.get(services, BashRouter).route(tried)).stdout,
          (yield* Context.get(services, BashRouter).route(`bash ${tried}`)).stdout,
          (yield* manager.execute(tried)).stdout,
          (yield* (yield* manager.getSandbox(cwd)).execute(tried)).stdout
        ]
        for (const answer of answers) assert.notMatch(answer, /^root:/m)
        assert.isFalse(Fs.existsSync(target))
      }).pipe(Effect.scoped)
    )
  )
})

describe("parts of an app", () => {
  it.live("are the user's own provider, where sandbox.json names it, and its commands run there", () =>
    inDirectories((cwd, home) =>
      Effect.gen(function* () {
        Fs.writeFileSync(`${home}/sandbox.json`, '{"provider":"cloud"}')
        const provider = new FakeProvider((command) => ({ stdout: `${command} in the cloud\n` }))
        const cloud = { name: "cloud", create: provider.create, destroy: provider.destroy }
        const app = Synapse.layer(
          { cwd },
          { sandbox: { home }, providers: SandboxProvider.layerAdd(Effect.succeed(cloud)) }
        )
        assert.strictEqual(yield* Effect.provide(runHere("ls"), app), "ls in the cloud\n")
        assert.deepStrictEqual(provider.events, ["create 1", "run ls in 1", "dispose 1"])
      })
    )
  )

  it.live("are a provider called local, in place of the one that Synapse brings", () =>
    inDirectories((cwd, home) =>
      Effect.gen(function* () {
        const provider = new FakeProvider(() => ({ stdout: "mine" }))
        const app = Synapse.layer(
          { cwd },
          { sandbox: { home }, providers: SandboxProvider.layerAdd(Effect.succeed(provider)) }
        )
        assert.strictEqual(yield* Effect.provide(runHere("ls"), app), "mine")
      })
    )
  )

  it.live("are a platform of the user's, which wraps the shell", () =>
    inDirectories((cwd, home) =>
      Effect.gen(function* () {
        const platform = Layer.succeed(SandboxPlatform.SandboxPlatform, {
          name: "test",
          wrap: ({ environment, shell }) =>
            Effect.succeed({
              spawnable: shell,
              environment: { ...environment, WRAPPED: "yes" },
              masks: []
            })
        })
        const app = Synapse.layer({ cwd }, { sandbox: { home }, platform })
        assert.strictEqual(yield* Effect.provide(runHere("echo $WRAPPED"), app), "yes\n")
      })
    )
  )

  it.live("are the commands: one left out, one replaced, one added", () =>
    inDirectories((cwd) =>
      Effect.gen(function* () {
        const says = (name: string) => ({
          name,
          summary: `Is ${name}.`,
          usage: name,
          run: () => Effect.succeed(CommandResult.make({ stdout: `my ${name}\n` }))
        })
        const app = CommandRegistry.layerAdd(says("greet")).pipe(
          Layer.provideMerge(
            Synapse.layer(
              { cwd },
              {
                sandbox: { enabled: false },
                commands: { TodoWrite: false, read: says("read"), edit: Effect.succeed(says("edit")) }
              }
            )
          )
        )
        const said = yield* Effect.provide(
          Effect.gen(function* () {
            const { list } = yield* CommandRegistry.CommandRegistry
            assert.deepStrictEqual(
              list().map(({ name }) => name),
              [
                "apply_patch",
                "bash",
                "command:search",
                "edit",
                "greet",
                "job:list",
                "job:output",
                "job:screen",
                "job:send",
                "job:start",
                "job:stop",
                "job:wait",
                "mcp:*",
                "read",
                "skill:*",
                "task:*",
                "write"
              ]
            )
            return yield* runHere("read x | cat; greet; edit; TodoWrite a b c")
          }),
          app
        )
        assert.match(said, /^my read\nmy greet\nmy edit\nUnknown command: TodoWrite/)
      })
    )
  )

  it("do not type-check where they have no effect", () => {
    const enabled: boolean = process.argv.length > 0
    const { layerNone } = Permission
    const known: ReadonlyArray<unknown> = [
      Synapse.layer(),
      Synapse.layer(undefined, { permission: layerNone }),
      Synapse.layer({ cwd: "/" }, { sandbox: { enabled, blacklist: ["*.pem"] }, permission: layerNone }),
      Synapse.layer({}, { sandbox: { enabled: true }, permission: layerNone }),
      Synapse.layer({}, { sandbox: { enabled: false }, commands: { edit: false } }),
      // @ts-expect-error a misspelt setting
      Synapse.layer({ tiemout: 1 }),
      // @ts-expect-error a misspelt setting beside a right one
      Synapse.layer({ cwd: "/", tiemout: 1 }),
      // @ts-expect-error a misspelt option
      Synapse.layer({}, { sandbox: {}, permision: layerNone }),
      // @ts-expect-error a misspelt setting of the sandbox
      Synapse.layer({}, { sandbox: { enabled: true, blaklist: [] } }),
      // @ts-expect-error a command that Synapse does not bring
      Synapse.layer({}, { commands: { edti: false } }),
      // @ts-expect-error whom to ask in an app without a sandbox
      Synapse.layer({}, { sandbox: { enabled: false }, permission: layerNone })
    ]
    assert.strictEqual(known.length, 11)
  })
})

describe("an app whose scope is closed", () => {
  it.live("starts no other shell", () =>
    inDirectories((cwd, home) =>
      Effect.gen(function* () {
        for (const enabled of [true, false]) {
          const toolset = yield* Effect.scoped(
            Effect.gen(function* () {
              const app = yield* Layer.build(Synapse.layer({ cwd }, { sandbox: { home, enabled } }))
              const toolset = Context.get(app, Toolset)
              assert.strictEqual(yield* run(toolset, "echo open"), "open\n")
              return toolset
            })
          )
          assert.include(yield* run(toolset, "echo closed"), "the session has ended")
        }
      })
    )
  )
})

describe("an app", () => {
  it.live("has a sandbox unless it is disabled by false itself", () =>
    inDirectories((cwd, home) =>
      Effect.gen(function* () {
        for (const enabled of [null, 0, "", undefined]) {
          const app = Synapse.layer({ cwd }, { sandbox: { home, enabled: enabled as never } })
          assert.strictEqual(yield* Effect.provide(runHere("cat /proc/1/comm"), app), "bwrap\n")
        }
      })
    )
  )
})
