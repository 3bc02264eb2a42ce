/** `$?`, `$_` and traces around a Synapse command are those of any command. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApps } from "../support/toolset/App.js"

const bad = "TodoWrite x 2>/dev/null"
const good = `TodoWrite '{"todos":[]}' >/dev/null`

const gives = (name: string, lines: Readonly<Record<string, string>>) =>
  inApps(name, ({ run }) =>
    Effect.gen(function* () {
      for (const [line, expected] of Object.entries(lines)) {
        assert.strictEqual((yield* run(line)).stdout, expected, line)
      }
    })
  )

describe("a Synapse command", () => {
  gives("leaves its exit code to what follows, wherever it stands", {
    [`${bad}; echo $?`]: "1\n",
    [`${good}; echo $?`]: "0\n",
    [`${bad}\necho $?`]: "1\n",
    [`${bad} && echo yes; echo $?`]: "1\n",
    [`${bad} || echo no $?`]: "no 1\n",
    [`if ${bad}; then echo yes; else echo no $?; fi`]: "no 1\n",
    [`! ${bad}; echo $?`]: "0\n",
    [`x=$(${bad}); echo $?`]: "1\n",
    [`${bad} | cat; echo \${PIPESTATUS[@]} $?`]: "1 0 0\n",
    [`set -o pipefail; ${bad} | cat; echo $?; set +o pipefail`]: "1\n",
    [`(${bad}); echo $?`]: "1\n",
    [`f() { ${bad}; }; f; echo $?`]: "1\n",
    [`f() { ${bad}; return; }; f; echo $?`]: "1\n",
    [`${bad} & wait $!; echo $?`]: "1\n",
    [`(set -e; ${bad}; echo on); echo $?`]: "1\n",
    [`(trap 'echo ERR $?' ERR; ${bad}; ${good}; ${bad} || :)`]: "ERR 1\n",
    [`until ${good}; do :; done; while ${bad}; do :; done; echo $?`]: "0\n",
    "write /dev/null/x y 2>/dev/null; echo $?; read nosuch 2>/dev/null; echo $?": "1\n1\n",
    "seq 1000 >long; read ./long >/dev/full 2>&1; echo $?": "1\n",
    "echo x >f; edit f y z 2>/dev/null; echo $?; edit f x y >/dev/null; echo $?": "1\n0\n"
  })

  inApps("leaves its exit code to the next line, also where it ran without the shell", ({ run }) =>
    Effect.gen(function* () {
      for (const [line, code] of [
        ["TodoWrite x", "1"],
        [`TodoWrite '{"todos":[]}'`, "0"],
        ["TodoWrite", "1"],
        ["false", "1"],
        ['TodoWrite {"todos":[]}', "0"],
        ["skill:none", "127"],
        ["write f x", "0"],
        ["(exit 9)", "9"],
        ["TodoWrite --help", "0"]
      ] as const) {
        yield* run(line)
        assert.strictEqual((yield* run("echo $?")).stdout, `${code}\n`, line)
      }
    })
  )

  inApps("of an earlier line, in the background, gives no later line its category", ({ handle, run }) =>
    Effect.gen(function* () {
      const late = (file: string) => `until [ -e ${file} ]; do sleep 0.01; done`
      yield* run(`{ ${late("go")}; ${bad}; >gone; } >/dev/null 2>&1 &`)
      const { extras } = yield* handle({ command: `>go; ${late("gone")}; (exit 1)` })
      assert.deepStrictEqual([extras.exitCode, extras.failureCategory], [1, "execution_error"])
      const own = yield* handle({ command: bad })
      assert.deepStrictEqual([own.extras.exitCode, own.extras.failureCategory], [1, "invalid_usage"])
    })
  )

  gives("leaves its last word in $_", {
    "TodoWrite a last >/dev/null 2>&1; echo $_": "last\n",
    "write f 'the last' >/dev/null; echo $_": "the last\n",
    "read ./f >/dev/null; echo $_": "./f\n",
    "edit f last end >/dev/null; echo $_": "end\n",
    "write f a >/dev/null; : x; echo $_": "x\n"
  })

  inApps("shows nothing of itself in a trace", ({ run }) =>
    Effect.gen(function* () {
      const seen = yield* run(`set -x; ${good}; write f x >/dev/null; x=$(edit f x y); write f z | cat; set +x`)
      assert.deepStrictEqual((seen.stderr ?? "").split("\n").sort(), [
        "",
        `++ TodoWrite '{"todos":[]}'`,
        "++ cat",
        "++ set +x",
        "++ write f x",
        "++ write f z",
        "++ x='Replaced 1 occurrence in f (line 1)",
        "+++ edit f x y",
        "+y'",
        "-x"
      ])
    })
  )
})
