/** Every route by which the other suite tries to write, by a sub-agent that may only read: also in the project itself. */
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ModelProvider } from "../../src/agent/model/ModelProvider.js"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as FakeModel from "../support/agent/FakeModel.js"
import { scene } from "../support/escape/Attack.js"
import { seesCheckout } from "../support/escape/Ground.js"
import { snapshot, write } from "../support/escape/World.js"
import { routes } from "./writes.js"

const attacks = ({ home, outside, project }: Readonly<Record<"home" | "outside" | "project", string>>) =>
  routes.flatMap(([, script]) => [outside, project].map((place) => `export o=${place} u=${home}\n${script}`))

export const explore = (ground: string): void => {
  scene(
    ground,
    "a sub-agent that may only read writes by none of the routes of the other suite",
    {},
    (world) =>
      Effect.gen(function* () {
        const { home, outside, project, temporary } = world
        write(`${project}/file`, "precious\n")
        write(`${project}/directory/file`, "precious\n")
        const all = attacks(world)
        for (const [at, script] of all.entries()) write(`${project}/.attacks/${at}.sh`, `${script}\necho RAN\n`)
        const fake = yield* FakeModel.make((messages) =>
          messages.some(({ role }) => role === "tool")
            ? { text: JSON.stringify(messages.at(-1)?.content) }
            : {
                calls: [
                  `cd ${project}; for f in .attacks/*.sh; do bash $f </dev/null 2>&1; done >$TMPDIR/log; grep -c ^RAN $TMPDIR/log; grep BREACH $TMPDIR/log; echo x > /tmp/mark-${world.mark}; echo end`
                ]
              }
        )
        const models: Layer.Layer<ModelProvider> = Layer.succeed(ModelProvider, {
          model: () => Effect.succeed(fake.model)
        })
        const app = Synapse.layer(
          { cwd: project },
          {
            sandbox: { home: `${home}/.synapse`, userHome: home, temporary, enabled: true },
            models
          }
        )
        const places = () => [home, outside, project].flatMap(snapshot)
        const before = places()
        const { output } = yield* Effect.provide(
          Effect.flatMap(Toolset, (toolset) =>
            toolset.handle({
              id: "1",
              name: "Bash",
              arguments: JSON.stringify({ command: "task:explore -d Attack -p attack", timeout: 120_000 })
            })
          ),
          Layer.orDie(app)
        )
        assert.include(output, `${all.length}\\nend`)
        assert.notInclude(output, "BREACH")
        assert.deepStrictEqual(places(), before)
        assert.isFalse(Fs.existsSync(`/tmp/mark-${world.mark}`))
      }),
    seesCheckout() ? undefined : "the checkout can't be read"
  )
}
