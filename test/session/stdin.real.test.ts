/** Against a real bash: a command's standard input is at its end. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../src/domain/CallContext.js"
import * as Ground from "../support/escape/Ground.js"
import { inSession, keeps, result } from "../support/Session.js"

describe("stdin", () => {
  keeps("programs and builtins that read get end-of-file at once", [
    ["cat", {}],
    ["read x", { exitCode: 1 }],
    ['read -t 5 x; echo $? "<$x>"', { stdout: "1 <>\n" }],
    ["mapfile lines; echo ${#lines[@]}", { stdout: "0\n" }],
    ...(Ground.has("python3")
      ? ([
          ["python3 -", {}],
          ["python3 -c 'input()' 2>&1 | tail -1", { stdout: "EOFError: EOF when reading a line\n" }]
        ] as const)
      : []),
    ["bash", {}],
    ["bash -s one", {}],
    ["cat -; echo after", { stdout: "after\n" }],
    ["while read line; do echo $line; done", {}],
    ["wc -c </dev/stdin", { stdout: "0\n" }]
  ])

  keeps("select ends at once", [
    ["select x in a b; do echo chosen; done; echo", { stdout: "\n\n", stderr: "1) a\n2) b\n#? " }]
  ])

  keeps("a command that redirects its own input does not redirect the session", [
    ["exec </etc/passwd", {}],
    ["cat", {}],
    ["exec 0<&-", {}],
    ["cat", {}]
  ])

  keeps("pipes, files and strings serve as input", [
    ["printf 'a\\nb\\n' | while read -r x; do printf '<%s>' $x; done", { stdout: "<a><b>" }],
    [
      "printf 'one\\ntwo\\n' > lines; while read -r x; do printf '<%s>' $x; cat; done < lines",
      { stdout: "<one>two\n" }
    ],
    ["cat <<< string", { stdout: "string\n" }],
    ["seq 3 | xargs -n 1 echo item", { stdout: "item 1\nitem 2\nitem 3\n" }],
    ["{ read a; read b; echo $b$a; } < lines", { stdout: "twoone\n" }]
  ])

  keeps("a program that reads until it is told otherwise steals no command", [
    ["cat & wait", {}],
    ["cat /proc/$$/fd/0", {}],
    ["head -c 100 /proc/self/fd/0", {}]
  ])

  inSession(
    "a limit on descriptors that a command with an input sets leaves the shell and its input alone",
    ({ run }) =>
      Effect.gen(function* () {
        const given = (command: string) => {
          const left = ["in\n"].map((chunk) => new TextEncoder().encode(chunk))
          return Effect.map(
            CallContext.locally(run(command), { stdin: async () => left.shift() }),
            ({ exitCode, stderr, stdout }) => [exitCode, stdout, stderr]
          )
        }
        const open = "cat; ls /proc/self/fd | grep -cx 63"
        assert.deepStrictEqual(yield* given(open), [1, "in\n0\n", ""])
        assert.deepStrictEqual(yield* given("V=kept; cat; ulimit -Sn 40; (exit 3)"), [3, "in\n", ""])
        assert.deepStrictEqual(yield* given("cat; echo $V $(ulimit -n)"), [0, "in\nkept 40\n", ""])
        assert.deepStrictEqual(yield* run("echo $V"), result({ stdout: "kept\n" }))
        assert.deepStrictEqual((yield* given("trap 'echo bye' EXIT; ulimit -Sn 1024; ulimit -n 40; cat")).slice(0, 2), [
          0,
          "in\n"
        ])
        assert.deepStrictEqual(yield* given("cat; echo $V"), [0, "in\nkept\n", ""])
      })
  )

  inSession(
    "an input that ends at once leaves nobody who waits for it, and takes nothing of the next",
    ({ jobs, run }) =>
      Effect.gen(function* () {
        const given = (command: string, ...chunks: ReadonlyArray<string>) => {
          const left = chunks.map((chunk) => new TextEncoder().encode(chunk))
          return CallContext.locally(run(command), { stdin: async () => left.shift() })
        }
        for (let time = 0; time < 20; time++) {
          assert.deepStrictEqual(yield* given("echo a"), result({ stdout: "a\n" }))
          assert.deepStrictEqual(yield* given("cat; cat /dev/stdin", "b", `${time}`), result({ stdout: `b${time}` }))
        }
        assert.deepStrictEqual(yield* jobs.list, [])
      })
  )
})
