import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CommandCall, CommandHandler } from "../../src/command/CommandHandler.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import { DuplicateName } from "../../src/domain/DuplicateName.js"
import { InvalidName } from "../../src/domain/InvalidName.js"

const handler = (name: string): CommandHandler => ({
  name,
  summary: `The command ${name}.`,
  usage: name,
  run: () => Effect.succeed(CommandResult.make({ stdout: name }))
})

const add = (...names: ReadonlyArray<string>) =>
  names
    .map((name) => CommandRegistry.layerAdd(handler(name)))
    .reduce((all, layer) => Layer.merge(all, layer))
    .pipe(Layer.provideMerge(CommandRegistry.layer))

describe("CommandRegistry", () => {
  it.effect("holds the commands of any number of layers", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      assert.deepStrictEqual(
        registry.list().map(({ name }) => name),
        ["greet", "mcp:*", "mcp:local:*", "mcp:local:time", "part"]
      )
    }).pipe(Effect.provide(add("greet", "part", "mcp:*", "mcp:local:*", "mcp:local:time")))
  )

  it.effect("finds the exact name before any prefix, and the longest prefix before the others", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      const found = ["mcp:local:time", "mcp:local:x", "mcp:other:x", "greet", "greeting", "mcp", ""].map(
        (name) => registry.find(name)?.name
      )
      assert.deepStrictEqual(found, [
        "mcp:local:time",
        "mcp:local:*",
        "mcp:*",
        "greet",
        undefined,
        undefined,
        undefined
      ])
    }).pipe(Effect.provide(add("mcp:local:*", "greet", "mcp:*", "mcp:local:time")))
  )

  it.effect("answers --help of a command that a layer adds, unless that does so itself", () =>
    Effect.gen(function* () {
      const { find } = yield* CommandRegistry.CommandRegistry
      const out = (name: string, ...args: ReadonlyArray<string>) => {
        const found = find(name) as CommandHandler
        return found.run({ args } as unknown as CommandCall, {}).pipe(Effect.map(({ stdout }) => stdout))
      }
      assert.strictEqual(yield* out("plain", "--help"), "The command plain.\n\nUsage: plain\n")
      assert.strictEqual(yield* out("plain", "-h"), "The command plain.\n\nUsage: plain\n")
      assert.strictEqual(yield* out("plain", "--", "--help"), "plain")
      assert.strictEqual(yield* out("helping", "--help"), "helping")
      assert.strictEqual(yield* out("mcp:x", "--help"), "mcp:*")
    }).pipe(
      Effect.provide(
        Layer.provideMerge(CommandRegistry.layerAdd({ ...handler("helping"), hasHelp: true }), add("plain", "mcp:*"))
      )
    )
  )

  it.effect("lists what is to be named, as of the moment", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      const names = () => registry.listed().map(({ name }) => name)
      assert.deepStrictEqual(names(), ["greet", "mcp:*"])
      assert.strictEqual(registry.listed(), registry.listed())
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* registry.add({ ...handler("task:*"), isUnlisted: true })
          yield* registry.add(handler("part"))
          assert.deepStrictEqual(names(), ["greet", "mcp:*", "part"])
          assert.strictEqual(registry.find("task:x")?.name, "task:*")
          assert.include(
            registry.list().map(({ name }) => name),
            "task:*"
          )
        })
      )
      assert.deepStrictEqual(names(), ["greet", "mcp:*"])
    }).pipe(Effect.provide(add("greet", "mcp:*")))
  )

  it.effect("refuses a second command of the same name", () =>
    Effect.gen(function* () {
      for (const name of ["greet", "mcp:*"]) {
        const error = yield* Effect.flip(Layer.build(add(name, "other", name)))
        assert.deepStrictEqual(error, new DuplicateName({ kind: "command", name }))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a name that no command can have, and goes on without it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(add("greet", "builtin")))
      assert.deepStrictEqual(
        error,
        new InvalidName({ name: "builtin", reason: "it is a builtin of bash, which every line may need" })
      )
      const registry = yield* CommandRegistry.CommandRegistry
      for (const name of ["a b", "if", "", "e*"]) {
        assert.strictEqual((yield* Effect.flip(registry.add(handler(name))))._tag, "InvalidName")
        assert.deepStrictEqual([registry.list(), registry.find(name)], [[], undefined])
      }
    }).pipe(Effect.scoped, Effect.provide(CommandRegistry.layer))
  )

  it.effect("forgets a command when its layer ends", () =>
    Effect.gen(function* () {
      const registry = yield* CommandRegistry.CommandRegistry
      yield* Effect.scoped(registry.add(handler("brief")))
      assert.isUndefined(registry.find("brief"))
      yield* registry.add(handler("brief"))
      assert.strictEqual(registry.find("brief")?.name, "brief")
    }).pipe(Effect.scoped, Effect.provide(CommandRegistry.layer))
  )
})
