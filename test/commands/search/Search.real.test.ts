/** The search in a real shell: the pipes that it stands in. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Extension from "../../support/Extension.js"
import { inApps } from "../../support/toolset/App.js"

describe("command:search in a shell", () => {
  inApps(
    "finds what is called next, also by programs",
    ({ run }) =>
      Effect.gen(function* () {
        const found = yield* run("command:search issue --limit 3 | head -n 1 | cut -d' ' -f1")
        assert.deepStrictEqual(found, { exitCode: 0, stdout: "mcp:gh:close_issue_14\n", stderr: "" })
        const called = yield* run(
          "echo issue | xargs command:search --limit 1 | sed -n '1s/ .*//p' | xargs -I{} env {} a"
        )
        assert.deepStrictEqual(JSON.parse(called.stdout ?? "").slice(0, 2), ["mcp:gh:close_issue_14", "a"])
      }),
    [
      (() => {
        const extension = Extension.make("mcp:*")
        extension.set(Extension.tools(20))
        return extension
      })()
    ]
  )
})
