/** Against a real bash: a model reads both streams in the order in which they came; a program has them apart. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApp, inApps } from "../support/toolset/App.js"

/** Time in which what was written is surely read, also on a busy machine that hears of no writes. */
const pause = "sleep 0.05"

describe.runIf(process.platform === "linux")("the order of both streams", () => {
  inApps("is that of a loop's commands", ({ handle }) =>
    Effect.gen(function* () {
      for (const between of ["", `${pause}; `]) {
        const command = `for i in 1 2 3; do echo test $i; ${between}ls /nope$i; ${between}done`
        const { extras, output } = yield* handle({ command })
        const said = (i: number) => `ls: cannot access '/nope${i}': No such file or directory\n`
        assert.strictEqual(output.replace("[exit 2]", ""), `test 1\n${said(1)}test 2\n${said(2)}test 3\n${said(3)}`)
        assert.strictEqual(extras.stdout, "test 1\ntest 2\ntest 3\n")
        assert.strictEqual(extras.stderr, `${said(1)}${said(2)}${said(3)}`)
      }
    })
  )

  inApp("is that of our own commands, sub-shells, pipelines and the background", ({ handle, put }) =>
    Effect.gen(function* () {
      put("x", "one\ntwo\n")
      for (const [command, expected] of [
        ["echo 1 >&2; read x; echo 2 >&2; read x", "1\n     1\tone\n     2\ttwo\n2\n     1\tone\n     2\ttwo\n"],
        [`(echo 1 >&2; ${pause}; echo a); ${pause}; (echo 2 >&2)`, "1\na\n2\n"],
        [`{ echo 1 >&2; ${pause}; echo a; } | cat; ${pause}; echo 2 >&2`, "1\na\n2\n"],
        [`{ ${pause}; echo 2 >&2; ${pause}; echo b; } & echo 1 >&2; echo a; wait`, "1\na\n2\nb\n"],
        [`f() { echo 1 >&2; ${pause}; echo a; }; f; ${pause}; f`, "1\na\n1\na\n"],
        [`bash -c 'echo 1 >&2; ${pause}; echo a; ${pause}; echo 2 >&2'`, "1\na\n2\n"]
      ] as const) {
        assert.strictEqual((yield* handle({ command })).output, expected, command)
      }
    })
  )

  inApp("splits no line, however late its end comes", ({ handle }) =>
    Effect.gen(function* () {
      const command = `printf 'checking… '; ${pause}; echo note >&2; ${pause}; echo yes; ${pause}; printf end >&2; ${pause}; printf last`
      const { output } = yield* handle({ command })
      assert.strictEqual(output, "note\nchecking… yes\nend\nlast")
    })
  )

  inApp("stays where a stream is cut", ({ handle }) =>
    Effect.gen(function* () {
      const command = `echo 1 >&2; ${pause}; seq 20000; ${pause}; echo 2 >&2; ${pause}; echo end`
      const { output } = yield* handle({ command })
      assert.match(output, /^1\n1\n2\n3\n[\s\S]*\n\[… \d+ bytes left out; .*\]\n[\s\S]*\n20000\n2\nend\n$/)
    })
  )

  inApp("is known of a command that ran out of its time", ({ handle }) =>
    Effect.gen(function* () {
      const command = `echo 1 >&2; ${pause}; echo a; ${pause}; echo 2 >&2; sleep 60`
      const { extras, output } = yield* handle({ command, timeout: 2000 })
      assert.strictEqual(extras.exitCode, 124)
      assert.match(output, /^1\na\n2\n\S/)
    })
  )
})
