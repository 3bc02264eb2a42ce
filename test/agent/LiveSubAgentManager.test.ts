import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as LiveSubAgentManager from "../../src/agent/LiveSubAgentManager.js"
import { SubAgentManager } from "../../src/extension/SubAgentManager.js"
import { SkillStore } from "../../src/extension/skill/SkillStore.js"
import * as SandboxSettings from "../../src/sandbox/config/SandboxSettings.js"
import { Permission } from "../../src/sandbox/permission/Permission.js"
import { SandboxManager } from "../../src/sandbox/SandboxManager.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"

const unused = {} as never

describe("LiveSubAgentManager", () => {
  it.effect("interrupts its tasks when its layer ends", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const deps = Layer.mergeAll(
        Layer.succeed(Permission, unused),
        Layer.succeed(SandboxManager, unused),
        Layer.succeed(SkillStore, unused),
        SandboxSettings.layer({ home: "/nonexistent" }),
        SessionSettings.layer({ cwd: "/" })
      )
      const layer = LiveSubAgentManager.layer({
        app: () => Effect.dieMessage("no app is made"),
        isOffered: true,
        models: () => {
          Deferred.unsafeDone(begun, Effect.void)
          return new Promise(() => {})
        }
      })
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(Layer.provide(layer, deps), scope)
      const manager = Context.get(services, SubAgentManager)
      const task = yield* Effect.forkDaemon(manager.execute("general", { prompt: "go", description: "Test" }))
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(task)))
    })
  )
})
