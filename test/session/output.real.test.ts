/** Against a real bash: what a command puts out is what its result holds. */
import * as Crypto from "node:crypto"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../src/domain/CallContext.js"
import { assertKept, inSession, keeps, prepare, result } from "../support/Session.js"

describe("output", () => {
  keeps("blanks and newlines are kept to the byte", [
    ["printf '  a \\n\\n'", { stdout: "  a \n\n" }],
    ["printf '\\n'", { stdout: "\n" }],
    ["printf '\\n\\n  ' >&2", { stderr: "\n\n  " }],
    ["printf '\\r\\n\\t\\r'", { stdout: "\r\n\t\r" }]
  ])

  keeps("a last line without a newline stays one", [
    ["printf 'no newline'", { stdout: "no newline" }],
    ["printf 'no newline' >&2", { stderr: "no newline" }]
  ])

  inSession("stderr comes with its own command, a hundred times", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (let i = 0; i < 100; i++) {
        assert.deepStrictEqual(
          yield* subject.run(`echo out ${i}; echo err ${i} >&2`),
          result({ stdout: `out ${i}\n`, stderr: `err ${i}\n` })
        )
      }
      yield* assertKept(subject)
    })
  )

  keeps(
    "exit codes come through, and the next command sees them",
    [0, 1, 2, 42, 126, 127, 128, 130, 137, 255].flatMap((code) => [
      [`(exit ${code})`, { exitCode: code }] as const,
      ["echo $?", { stdout: `${code}\n` }] as const,
      ["echo $?", { stdout: "0\n" }] as const
    ])
  )

  keeps("empty, blank and comment-only commands do nothing, and leave the exit code of the one before", [
    ["", {}],
    [" \t ", {}],
    ["\n\n", {}],
    ["# only a comment", {}],
    ["echo said # and a comment at the end", { stdout: "said\n" }],
    ["echo said #", { stdout: "said\n" }]
  ])

  keeps("bytes that are no UTF-8 are replaced, and nothing else is lost", [
    ["printf 'a\\377\\376b\\0c'", { stdout: "a\ufffd\ufffdb\0c" }],
    ["printf '\\303'", { stdout: "\ufffd" }],
    ["printf '\\251after'; printf '\\1\\33[0m' >&2", { stdout: "\ufffdafter", stderr: "\u0001\u001b[0m" }]
  ])

  keeps("a character split between two writes comes out whole", [
    [
      "printf '\\xf0\\x9f'; sleep 0.05; printf '\\x98\\x80|'; sleep 0.05; printf '\\xc3'; sleep 0.05; printf '\\xa9'",
      {
        stdout: "😀|é"
      }
    ]
  ])

  keeps(
    "characters that straddle every chunk's edge come out whole",
    [["printf xx; for ((i=0;i<40000;i++)); do printf '€\\n'; done", { stdout: `xx${"€\n".repeat(40_000)}` }]],
    { outputLimit: 100_000 }
  )

  inSession("ten megabytes reach a listener intact, and the result a head and a tail", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const made = yield* subject.run(
        "head -c 10485760 /dev/urandom > blob; sha256sum < blob | cut -d' ' -f1 | tr -d '\\n'"
      )
      const hash = Crypto.createHash("sha256")
      const got = yield* subject
        .run("cat blob")
        .pipe(CallContext.locally({ listener: { onOutput: (_, chunk) => void hash.update(chunk) } }))
      assert.strictEqual(hash.digest("hex"), made.stdout)
      assert.strictEqual(got.exitCode, 0)
      assert.isAtMost(got.stdout.length, 30_300)
      const whole = yield* subject.run(`cmp blob '${got.stdoutFile}'`)
      assert.deepStrictEqual(whole, result())
      yield* assertKept(subject)
    })
  )

  inSession("two megabytes on both streams at once are both complete", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const length = { stdout: 0, stderr: 0 }
      const got = yield* subject
        .run("head -c 2097152 /dev/zero | tr '\\0' o & head -c 2097152 /dev/zero | tr '\\0' e >&2; wait")
        .pipe(
          CallContext.locally({
            listener: {
              onOutput: (stream, chunk) => {
                length[stream] += chunk.length
              }
            }
          })
        )
      assert.deepStrictEqual(length, { stdout: 2_097_152, stderr: 2_097_152 })
      assert.strictEqual(got.exitCode, 0)
      assert.match(got.stdout, /^o+\n\[… \d+ bytes left out; all of it: .*…\]\no+$/)
      assert.match(got.stderr, /^e+\n\[… \d+ bytes left out; all of it: .*…\]\ne+$/)
      yield* assertKept(subject)
    })
  )

  keeps("/dev/stdout and /dev/stderr can be opened again, by builtins and programs", [
    ["echo a > /dev/stdout; echo b > /dev/stderr", { stdout: "a\n", stderr: "b\n" }],
    ["echo a | tee /dev/stderr", { stdout: "a\n", stderr: "a\n" }],
    ["bash -c 'echo a > /dev/stdout; echo b >> /proc/self/fd/2'", { stdout: "a\n", stderr: "b\n" }]
  ])

  keeps("stdout and stderr are pipes, and no terminal", [
    ["[[ -p /dev/stdout && -p /dev/stderr ]]; echo $?", { stdout: "0\n" }],
    ["test -t 0 || test -t 1 || test -t 2", { exitCode: 1 }]
  ])

  keeps("a pipe's writer ends with SIGPIPE when its reader has gone", [
    ["yes | head -2", { stdout: "y\ny\n" }],
    ["yes | head -1; echo ${PIPESTATUS[@]}", { stdout: "y\n141 0\n" }]
  ])

  keeps("a merged stream keeps its order", [["{ echo 1; echo 2 >&2; echo 3; } 2>&1", { stdout: "1\n2\n3\n" }]])
})
