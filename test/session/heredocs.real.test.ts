/** Against a real bash: heredocs, here-strings and process substitution. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertKept, inSession, keeps, prepare, result } from "../support/Session.js"

describe("heredocs", () => {
  keeps("a heredoc expands, and a quoted one does not", [
    ["cat <<EOF\n$kept $((1 + 1)) $(echo sub) \\$kept\nEOF", { stdout: "a  b 2 sub $kept\n" }],
    [
      "cat <<'EOF'\n$kept $((1 + 1)) $(echo sub) \\$kept \"'`\nEOF",
      { stdout: "$kept $((1 + 1)) $(echo sub) \\$kept \"'`\n" }
    ],
    ["cat <<\\EOF\n$kept\nEOF", { stdout: "$kept\n" }],
    ["cat <<EOF\nEOF", {}]
  ])

  keeps("tabs before the text and the end go where <<- asks for it", [
    ["cat <<-EOF\n\t\tindented\n\t  more\n\tEOF\necho after", { stdout: "indented\n  more\nafter\n" }]
  ])

  keeps("two in a line are read in order", [
    ["cat <<A - <<B /dev/fd/3 3<<C\na\nA\nb\nB\nc\nC", { stdout: "b\nc\n" }],
    ["paste -d, /dev/fd/3 /dev/fd/4 3<<A 4<<B\n1\n2\nA\nx\ny\nB", { stdout: "1,x\n2,y\n" }]
  ])

  inSession("one of a hundred kilobytes arrives whole", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const text = "0123456789abcde\n".repeat(6400)
      assert.deepStrictEqual(
        yield* subject.run(`cat <<'EOF' > copy\n${text}EOF\nwc -c < copy`),
        result({ stdout: "102400\n" })
      )
      assert.deepStrictEqual(yield* subject.run("sort -u copy"), result({ stdout: "0123456789abcde\n" }))
      yield* assertKept(subject)
    })
  )

  keeps("a heredoc inside a function, a loop and a pipe", [
    ["f() { cat <<EOF\narg $1\nEOF\n}; for i in 1 2; do f $i; done | tr a-z A-Z", { stdout: "ARG 1\nARG 2\n" }],
    ["f 3", { stdout: "arg 3\n" }]
  ])

  keeps("here-strings", [
    ['cat <<< "$kept"', { stdout: "a  b\n" }],
    ["read -r first rest <<< 'one two three'; echo $rest", { stdout: "two three\n" }]
  ])

  keeps("process substitution reads", [
    ["cat <(echo one) <(echo two)", { stdout: "one\ntwo\n" }],
    ["diff <(seq 3) <(seq 4)", { stdout: "3a4\n> 4\n", exitCode: 1 }],
    ["while read -r x; do last=$x; done < <(seq 5); echo $last", { stdout: "5\n" }]
  ])

  keeps("what a process substitution writes late is still its command's", [
    ["echo text | tee >(tr a-z A-Z) >/dev/null", { stdout: "TEXT\n" }],
    ["echo text > >(sleep 0.05; cat)", { stdout: "text\n" }]
  ])
})
