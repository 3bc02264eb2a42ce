/** The file commands and TodoWrite, wherever they stand in a line, over this machine's own sandbox: what the model gets. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TodoStore } from "../../src/extension/TodoStore.js"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"

const handle = (command: string, timeout?: number) =>
  Effect.flatMap(Toolset, (toolset) =>
    toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command, ...(timeout && { timeout }) }) })
  )

type Services = Toolset | TodoStore

/** Puts a secret and two texts into a directory. */
const fill = (directory: string): void => {
  Fs.writeFileSync(`${directory}/.env`, "TOKEN=1\n")
  Fs.writeFileSync(`${directory}/a.ts`, "const foo = 1\nconst bar = 2\nfoo + bar\n")
  Fs.mkdirSync(`${directory}/sub`)
  Fs.writeFileSync(`${directory}/sub/x.txt`, "1\n2\n3\n4\n5\n")
}

/** Runs in a filled directory; as many apps as there are kinds. */
const inApp = (
  name: string,
  use: (cwd: string) => Effect.Effect<unknown, unknown, Services>,
  kinds: ReadonlyArray<boolean> = [true, false]
) => {
  for (const enabled of kinds) {
    it.live(
      `${name}${enabled ? "" : ", without a sandbox"}`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const cwd = yield* Directory.make
            fill(cwd)
            const outside = yield* Directory.make
            const sandbox = { home: `${outside}/home`, temporary: outside, enabled }
            yield* Effect.provide(use(cwd), Synapse.layer({ cwd }, { sandbox }))
          })
        ),
      60_000
    )
  }
}

/** Lines, the stdout of their success, and the files that they leave. */
const lines: ReadonlyArray<readonly [command: string, stdout: string, files?: Readonly<Record<string, string>>]> = [
  ["read a.ts | grep -n foo", "1:     1\tconst foo = 1\n3:     3\tfoo + bar\n"],
  ["cd sub && read x.txt --limit 3", "     1\t1\n     2\t2\n     3\t3\n"],
  ["read sub/x.txt --offset 2 --limit 3", "     3\t3\n     4\t4\n     5\t5\n"],
  [
    'cp a.ts b.md; cp a.ts c.md; for f in *.md; do edit "$f" foo old; done',
    ["b.md", "c.md"]
      .map(
        (f) =>
          `1 more match: line 3; --all replaces every one\nReplaced 1 occurrence in ${f} (line 1)\n-const foo = 1\n+const old = 1\n`
      )
      .join(""),
    {
      "b.md": "const old = 1\nconst bar = 2\nfoo + bar\n",
      "c.md": "const old = 1\nconst bar = 2\nfoo + bar\n"
    }
  ],
  ["printf '{\"a\": 1}' | write out.json", "Written 8 bytes (1 line) to out.json\n", { "out.json": '{"a": 1}' }],
  [
    "find . -name '*.txt' -exec read {} \\; -exec read {} --offset 4 \\;",
    "     1\t1\n     2\t2\n     3\t3\n     4\t4\n     5\t5\n     5\t5\n"
  ],
  ["ls *.ts | xargs -n 1 read | head -n 1", "     1\tconst foo = 1\n"],
  [
    'echo \'read "$1" --limit 1; edit "$1" foo baz\' >s.sh; bash s.sh a.ts; chmod +x s.sh; (./s.sh a.ts)',
    "     1\tconst foo = 1\n1 more match: line 3; --all replaces every one\nReplaced 1 occurrence in a.ts (line 1)\n-const foo = 1\n+const baz = 1\n     1\tconst baz = 1\nReplaced 1 occurrence in a.ts (line 3)\n const bar = 2\n-foo + bar\n+baz + bar\n"
  ],
  ["write one 1 >log & (write two 2 >>log2); wait; cat one two", "12"],
  [
    'while read line; do echo "<$line>"; done <sub/x.txt | head -n 2; read -r first <a.ts; echo $first',
    "<1>\n<2>\nconst foo = 1\n"
  ],
  [
    "write new.txt <<'EOF'\n  kept \\n $x `y`\n\tthe tab, too\nEOF\ncat new.txt",
    "Written 31 bytes (2 lines) to new.txt\n  kept \\n $x `y`\n\tthe tab, too\n"
  ],
  ["x=5; write sum.txt <<EOF\n$x and $((x * 2))\nEOF\ncat sum.txt", "Written 9 bytes (1 line) to sum.txt\n5 and 10\n"],
  ["HOME=$PWD; write ~/home.txt x >/dev/null; cd sub; edit ../home.txt x y >/dev/null; cat ~/home.txt", "y"],
  [
    'out=$(read a.ts --limit 1 2>/dev/null); echo "[$out]"; if read missing 2>/dev/null; then echo there; else echo none; fi',
    "[     1\tconst foo = 1]\nnone\n"
  ]
]

describe.skipIf(process.platform !== "linux")("a Synapse command in a shell line", () => {
  inApp("gives what a command of the shell would", (cwd) =>
    Effect.gen(function* () {
      for (const [at, [command, stdout, files = {}]] of lines.entries()) {
        const directory = `${cwd}/${at}`
        Fs.mkdirSync(directory)
        fill(directory)
        yield* handle(`cd ${directory}`)
        const { extras } = yield* handle(command)
        assert.deepStrictEqual([extras.stdout, extras.exitCode], [stdout, 0], `${command}\n${extras.stderr}`)
        for (const [name, text] of Object.entries(files)) {
          assert.strictEqual(Fs.readFileSync(`${directory}/${name}`, "utf8"), text)
        }
      }
    })
  )

  inApp("TodoWrite takes its list from a substitution, from a pipe, from a here-document, bare", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore
      const list = (content: string) => `{"todos":[{"content":"${content}","activeForm":"doing","status":"pending"}]}`
      for (const [content, command] of Object.entries({
        one: `echo '${list("one")}' >todos.json; TodoWrite "$(cat todos.json)" && echo done`,
        two: `echo '${list("two")}' | TodoWrite; echo done`,
        three: `x=three; TodoWrite <<E; echo done\n${list("$x")}\nE`,
        four: `TodoWrite <<'E'\n${list("four")}\nE`,
        five: `TodoWrite ${list("five")}`,
        six: `TodoWrite '${list("six")}'`
      })) {
        const { extras } = yield* handle(command)
        assert.strictEqual(extras.exitCode, 0, extras.stderr)
        assert.match(extras.stdout ?? "", /^Todo list updated: 0 completed, 0 in progress, 1 pending\n/)
        assert.deepStrictEqual(
          (yield* store.get).todos.map((todo) => todo.content),
          [content]
        )
      }
      const { extras } = yield* handle("TodoWrite 'no json' || TodoWrite")
      assert.strictEqual(extras.exitCode, 1)
      assert.include(extras.stderr, "Missing JSON parameter")
      const open = yield* handle(`TodoWrite '${list("don't")}'`)
      assert.deepStrictEqual([open.extras.exitCode, open.extras.failureCategory], [1, "invalid_usage"])
      assert.match(open.extras.stderr ?? "", /^The quotes do not match.*\nTodoWrite <<'EOF'\n/)
      assert.match((yield* handle("TodoWrite --show | tail -1")).output, /^\[ \] six\n/)
      assert.strictEqual((yield* store.get).todos.length, 1)
    })
  )

  inApp("gives no call the category of a command that another has left in the background", () =>
    Effect.gen(function* () {
      yield* handle("false")
      yield* handle("mkfifo go; (read -r <go; edit 2>said; echo done >end) & mkfifo end")
      const { extras } = yield* handle("echo >go; read -r <end; cat said; false")
      assert.include(extras.stdout, "edit")
      assert.deepStrictEqual([extras.failureCategory, extras.exitCode], ["execution_error", 1])
      const own = yield* handle("(edit) || false")
      assert.deepStrictEqual([own.extras.failureCategory, own.extras.exitCode], ["invalid_usage", 1])
    })
  )

  inApp("says what is wrong with a call in the terms of the tool", () =>
    Effect.gen(function* () {
      const seen = yield* handle("cd sub && read")
      assert.deepStrictEqual([seen.extras.failureCategory, seen.extras.exitCode], ["invalid_usage", 1])
      assert.include(seen.output, "Usage: read <file>")
      assert.strictEqual((yield* handle("read missing")).extras.failureCategory, "execution_error")
    })
  )

  inApp(
    "S64: is refused a secret before it runs, where its words tell",
    () =>
      Effect.gen(function* () {
        for (const command of ["read .env", "cd . && read ./.env | cat", "write .env x", "edit .env TOKEN y"]) {
          const { extras } = yield* handle(command)
          assert.deepStrictEqual([extras.failureCategory, extras.blockedRule], ["blocked", "**/.env"], command)
        }
      }),
    [true]
  )

  inApp(
    "S66: has no more rights than the shell: secrets, the rest of the machine, and the policy stay closed",
    (cwd) =>
      Effect.gen(function* () {
        for (const [command, rule] of [
          ["x=.en; read ${x}v", "**/.env"],
          ["x=.en; write ${x}v hi", "**/.env"],
          ["x=.en; edit ${x}v TOKEN hi", "**/.env"],
          ["ln -s .env l; x=l; read ./$x", "**/.env"],
          ["x=.en; echo hi | xargs -I{} write ${x}v {}", "**/.env"],
          // Others are refused by the files' own modes, before any policy.
          ...(Directory.isRoot
            ? ([
                ["write /etc/synapse-test hi", "not whitelisted"],
                ["x=/usr; write $x/synapse-test hi", "not whitelisted"]
              ] as const)
            : [])
        ] as const) {
          const { extras } = yield* handle(command)
          assert.deepStrictEqual([extras.failureCategory, extras.blockedRule], ["blocked", rule], command)
        }
        assert.strictEqual(Fs.readFileSync(`${cwd}/.env`, "utf8"), "TOKEN=1\n")
        assert.isFalse(Fs.existsSync("/etc/synapse-test") || Fs.existsSync("/usr/synapse-test"))
      }),
    [true]
  )

  inApp("is cancelled with its line: nothing is half written", (cwd) =>
    Effect.gen(function* () {
      Fs.writeFileSync(`${cwd}/kept`, "old")
      const { extras } = yield* handle("(echo new; sleep 30) | write kept", 500)
      assert.strictEqual(extras.exitCode, 124)
      assert.strictEqual(Fs.readFileSync(`${cwd}/kept`, "utf8"), "old")
      assert.deepStrictEqual(
        Directory.list(cwd).filter((name) => name.startsWith(".") && name !== ".env"),
        []
      )
    })
  )

  inApp("loses no edit of several at once", (cwd) =>
    Effect.gen(function* () {
      const numbers = Array.from({ length: 20 }, (_, index) => index + 10)
      Fs.writeFileSync(`${cwd}/many`, numbers.map((number) => `line ${number}\n`).join(""))
      const { extras } = yield* handle(
        `for i in {10..29}; do edit many "line $i" "done $i" >/dev/null & done; wait; grep -c done many`
      )
      assert.strictEqual(extras.stdout, "20\n", extras.stderr)
    })
  )
})
