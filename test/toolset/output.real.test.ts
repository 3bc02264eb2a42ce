/** Against a real bash: what a model reads of a long, binary or animated output, and where the rest is. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApp, inApps } from "../support/toolset/App.js"

const path = /all of it: (\S+?\.txt)/

describe("the output of a call", () => {
  inApps("has one limit for both streams, and names a file with all of each that it cuts", ({ handle }) =>
    Effect.gen(function* () {
      const command = "seq 4000; seq 10001 14000 >&2"
      const { extras, output } = yield* handle({ command })
      assert.strictEqual(extras.stdout?.split("\n").length, 4001)
      assert.strictEqual(extras.stderr?.split("\n").length, 4001)
      assert.isAtMost(output.length, 30_400)
      assert.match(output, /^1\n2\n[\s\S]*\n\[… \d+ bytes left out; .* …\]\n[\s\S]*\n4000\n10001\n[\s\S]*14000\n$/)
      const [, stdout, stderr] = new RegExp(`${path.source}[\\s\\S]*${path.source}`).exec(output) ?? []
      assert.deepStrictEqual([stdout, stderr], [extras.stdoutFile, extras.stderrFile])
      const same = yield* handle({ command: `seq 4000 | cmp - '${stdout}' && seq 10001 14000 | cmp - '${stderr}'` })
      assert.strictEqual(same.output, "(no output)")
    })
  )

  inApp("has no file where it shows everything", ({ handle }) =>
    Effect.gen(function* () {
      const { extras, output } = yield* handle({ command: "seq 2000; seq 2000 >&2" })
      assert.strictEqual(output, `${extras.stdout}${extras.stderr}`)
      assert.isUndefined(extras.stdoutFile)
    })
  )

  inApp("is what a terminal would show, and `extras` what came", ({ handle }) =>
    Effect.gen(function* () {
      const { extras, output } = yield* handle({ command: "printf '10%%\\r\\033[32m100%%\\033[0m\\ndone\\0\\n'" })
      assert.strictEqual(output, "100%\ndone␀\n")
      assert.strictEqual(extras.stdout, "10%\r\x1b[32m100%\x1b[0m\ndone\0\n")
    })
  )

  inApp("cuts a long line and says of a binary file what it is; their files hold all bytes", ({ handle, put }) =>
    Effect.gen(function* () {
      const bytes = Buffer.from(Float64Array.from({ length: 500 }, (_, i) => Math.sqrt(i)).buffer)
      put("data", bytes)
      put("line", "x".repeat(5000))
      for (const [name, said] of [
        ["data", /^\[binary output: 4000 bytes; all of it: \S+\]\n$/],
        ["line", /^x+\[… \d+ characters left out; all of it: \S+ …\]$/]
      ] as const) {
        const { output } = yield* handle({ command: `cat ${name}` })
        assert.match(output, said)
        const same = yield* handle({ command: `cmp ${name} ${/all of it: ([^\s\]]+)/.exec(output)?.[1]}` })
        assert.strictEqual(same.output, "(no output)")
      }
    })
  )

  inApp("is as short for a command that ran out of its time", ({ handle }) =>
    Effect.gen(function* () {
      const { extras, output } = yield* handle({ command: "seq 4000; seq 4000 >&2; sleep 60", timeout: 1500 })
      assert.strictEqual(extras.exitCode, 124)
      assert.isAtMost(output.length, 30_500)
      assert.strictEqual(path.exec(output)?.[1], extras.stdoutFile)
    })
  )
})
