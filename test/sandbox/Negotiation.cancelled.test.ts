import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as CallContext from "../../src/domain/CallContext.js"
import * as CommandListener from "../../src/domain/CommandListener.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Negotiation from "../../src/sandbox/Negotiation.js"
import type { SandboxBackend, SandboxResult } from "../../src/sandbox/SandboxBackend.js"

it.effect("a command that has run is not told of as cancelled before it began, while its right is given", () =>
  Effect.gen(function* () {
    const listeners: Array<CommandListener.CommandListener> = []
    const note = Effect.map(FiberRef.get(CommandListener.current), (listener) => void listeners.push(listener))
    const result: SandboxResult = {
      ...CommandResult.make({ exitCode: 1 }),
      blocked: true,
      denial: { access: "read", resource: "/a", rule: "*", source: "user", reason: "r", how: "verified-text" }
    }
    const run = Negotiation.make({
      ask: () => Effect.succeed("allow_once"),
      attempt: () => Effect.as(note, { backend: { policy: undefined } as unknown as SandboxBackend, result }),
      keep: () => Effect.succeed({ now: undefined, forGood: undefined }),
      tryOut: () => Effect.as(note, Option.none())
    })
    const listener: CommandListener.CommandListener = { onInterrupted: () => {} }
    yield* CallContext.locally(run("cat /a"), { listener })
    assert.deepStrictEqual(listeners, [listener, {}])
  })
)
