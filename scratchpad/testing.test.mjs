// A test of a program that uses Synapse, over a scripted shell: npx vitest run scratchpad
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestSynapse from "synapse-shell/TestSynapse"
import * as Toolset from "synapse-shell/Toolset"

// What is tested.
const isClean = Effect.gen(function* () {
  const toolset = yield* Toolset.Toolset
  const { extras } = yield* toolset.handle({
    id: "1",
    name: "Bash",
    arguments: '{"command":"git status --porcelain"}'
  })
  return extras.stdout === ""
})

it.effect("a tree with changes is not clean", () =>
  Effect.gen(function* () {
    assert.isFalse(yield* isClean)
    const shell = yield* TestSynapse.TestShell
    assert.deepStrictEqual(yield* shell.calls, [{ _tag: "Execute", command: "git status --porcelain" }])
  }).pipe(Effect.provide(TestSynapse.layer(() => ({ stdout: " M README.md\n" }))))
)
