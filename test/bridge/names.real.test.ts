/** Names with a colon work wherever a program's name does. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Extension from "../support/Extension.js"
import { eventually, withSession } from "../support/Session.js"
import { type App, inApps } from "../support/toolset/App.js"

const has = (program: string) => ChildProcess.spawnSync("sh", ["-c", `command -v ${program}`]).status === 0

/** The names that a call was made by, and its words, without the directory and the input. */
const calls = (stdout: string | undefined) =>
  (stdout ?? "")
    .split("\n")
    .filter((line) => line.startsWith("["))
    .map((line) => (JSON.parse(line) as ReadonlyArray<string>).slice(0, -2).join(" "))

/** A command line, and the calls that it makes, with and without a sandbox. */
const makes = (name: string, command: string, expected: ReadonlyArray<string>) =>
  inApps(
    name,
    ({ run }) =>
      Effect.gen(function* () {
        const seen = yield* run(command)
        assert.deepStrictEqual(
          { ...seen, stdout: calls(seen.stdout) },
          { exitCode: 0, stderr: "", stdout: expected },
          seen.stdout
        )
      }),
    [Extension.make("mcp:*"), Extension.make("acme:*")]
  )

describe("a name with a colon", () => {
  inApps(
    "that a handler tells without its prefix stands before no program of the system",
    ({ run }) =>
      Effect.gen(function* () {
        // What is known when a command comes is there for the next one.
        yield* run("true")
        const { stdout } = yield* run("type -P acme:it sha256sum")
        const [ours = "", theirs = ""] = (stdout ?? "").split("\n").map((path) => Path.dirname(path))
        assert.include(ours, "/session-")
        assert.match(theirs, /\/bin$/)
        assert.notStrictEqual(theirs, ours)
      }),
    [
      Object.assign(Extension.make("acme:*"), {
        known: () => ["acme:it", "sha256sum"].map((name) => ({ name, summary: "", usage: name }))
      })
    ]
  )
  makes("is run by xargs", "printf 'a\\nb c\\n' | xargs -n1 mcp:gh:show --id", [
    "mcp:gh:show --id a",
    "mcp:gh:show --id b",
    "mcp:gh:show --id c"
  ])
  makes("is run by env", "env X=1 mcp:gh:list; env -i PATH=\"$PATH\" 'mcp:gh:list' x", ["mcp:gh:list", "mcp:gh:list x"])
  makes("is run by find", "touch f; find . -type f -exec mcp:gh:show {} +; find f -exec acme:it {} \\;", [
    "mcp:gh:show ./f",
    "acme:it f"
  ])
  makes("is run by timeout and nohup", "timeout 5 mcp:gh:list 1 && nohup mcp:gh:list 2 2>/dev/null", [
    "mcp:gh:list 1",
    "mcp:gh:list 2"
  ])
  makes(
    "is there for scripts of other shells",
    "printf '#!/bin/sh\\nmcp:gh:list \"$1\"\\n' >s; chmod +x s; ./s 'a b'; sh -c 'mcp:gh:list 2'; bash -c 'mcp:gh:list 3'; sh s 4",
    ["mcp:gh:list a b", "mcp:gh:list 2", "mcp:gh:list 3", "mcp:gh:list 4"]
  )
  if (has("python3")) {
    makes(
      "is there for python",
      'python3 -c \'import subprocess; subprocess.run(["mcp:gh:list", "a  b"], check=True)\'',
      ["mcp:gh:list a  b"]
    )
  }
  makes(
    "works in lines, loops, substitutions and the background",
    'mcp:gh:list | cat; for i in 1 2; do mcp:gh:list $i; done; echo "$(mcp:gh:list 3)"; mcp:gh:list 4 & wait',
    ["mcp:gh:list", "mcp:gh:list 1", "mcp:gh:list 2", "mcp:gh:list 3", "mcp:gh:list 4"]
  )
  makes("is called in its turn where it comes from a variable, too", "x=mcp:gh:list; $x 1; env $x 2", [
    "mcp:gh:list 1",
    "mcp:gh:list 2"
  ])

  inApps(
    "is found by what looks for programs",
    ({ run }) =>
      Effect.gen(function* () {
        const { stdout } = yield* run("command -v mcp:gh:list; type -t mcp:gh:list; sh -c 'command -v mcp:gh:list'")
        assert.match(stdout ?? "", /^(\/\S+\/bin\/mcp:gh:list)\nfile\n\1\n$/)
      }),
    [Extension.make("mcp:*")]
  )

  inApps(
    "is there for what nobody has written, where its handler knows it",
    ({ run }) =>
      Effect.gen(function* () {
        yield* run("true")
        const { stdout } = yield* run("n=gh; env mcp:$n:list_issue_1; env mcp:$n:create_issue_0 x")
        assert.deepStrictEqual(calls(stdout), ["mcp:gh:list_issue_1", "mcp:gh:create_issue_0 x"])
      }),
    [Extension.make("mcp:*", ["mcp:gh:list_issue_1", "mcp:gh:create_issue_0"])]
  )

  inApps(
    "lives on over a restart and an exit",
    ({ handle, run }: App) =>
      Effect.gen(function* () {
        yield* run("printf 'mcp:gh:list 1\\n' >s")
        assert.deepStrictEqual(calls((yield* run("sh s")).stdout), ["mcp:gh:list 1"])
        yield* run("exit 0")
        assert.deepStrictEqual(calls((yield* run("sh s")).stdout), ["mcp:gh:list 1"])
        yield* handle({ command: "true", restart: true })
        assert.deepStrictEqual(calls((yield* run("sh s; env mcp:gh:list 2")).stdout), [
          "mcp:gh:list 1",
          "mcp:gh:list 2"
        ])
      }),
    [Extension.make("mcp:*")]
  )

  inApps("that nobody has is told so, wherever it is called", ({ run }) =>
    Effect.gen(function* () {
      const direct = yield* run("mcp:none:x | cat; echo ${PIPESTATUS[0]}")
      assert.strictEqual(direct.stdout, "127\n")
      const { exitCode, stderr } = yield* run("env mcp:none:x")
      assert.strictEqual(exitCode, 127)
      assert.strictEqual(stderr, direct.stderr)
      assert.include(stderr ?? "", "Unknown MCP server: none")
    })
  )
})

describe("the programs of a session", () => {
  const programs = (root: string): ReadonlyArray<string> =>
    Fs.readdirSync(root)
      .filter((name) => name.startsWith("synapse-"))
      .flatMap((user) => Fs.readdirSync(`${root}/${user}`).map((session) => `${root}/${user}/${session}/bin`))
      .flatMap((bin) => Fs.readdirSync(bin))
      .sort()

  const rootOf = (directory: string) => directory.slice(0, directory.lastIndexOf("/"))

  it.live("are those that the handlers of prefixes know, and follow them", () => {
    const extension = Extension.make("mcp:*")
    const other = Extension.make("skill:*", ["skill:pdf:split"])
    extension.set(Extension.tools(400))
    return withSession(
      ({ directory, run }) =>
        Effect.gen(function* () {
          const root = rootOf(directory)
          yield* run("true")
          const all = yield* eventually(
            () => programs(root),
            (names) => names.length >= 401
          )
          assert.strictEqual(all.length, 401)
          assert.include(all, "skill:pdf:split")
          extension.set([...Extension.tools(3), Extension.described("mcp:x:new")])
          yield* run("true")
          const some = yield* eventually(
            () => programs(root),
            (names) => names.length <= 5
          )
          assert.deepStrictEqual(
            some,
            [...Extension.tools(3).map(({ name }) => name), "mcp:x:new", "skill:pdf:split"].sort()
          )
        }),
      {},
      [extension, other]
    )
  })

  it.live("are no others than of names that a command can have, under the handler's prefix", () => {
    const hostile = [
      "ls",
      "bash",
      "skill:x:y",
      "mcp:",
      "mcp:../../../x",
      "mcp:a/b",
      "mcp:a\nb",
      "mcp:a\0b",
      "mcp:a b",
      "mcp:$(touch x)",
      `mcp:${"a".repeat(252)}`,
      `mcp:${"é".repeat(126)}`,
      "-mcp:x",
      "../mcp:x",
      "",
      "mcp:\u202ex"
    ]
    const extension = Extension.make("mcp:*", [...hostile, "mcp:..", "mcp:gh:fine", `mcp:${"a".repeat(251)}`])
    return withSession(
      ({ directory, run }) =>
        Effect.gen(function* () {
          const text = [...hostile, "mcp:gh:also"].filter((name) => !name.includes("\0")).join("' '")
          yield* run(`: '${text}'`)
          const expected = ["mcp:..", "mcp:a", "mcp:gh:also", "mcp:gh:fine", `mcp:${"a".repeat(251)}`]
          const names = yield* eventually(
            () => programs(rootOf(directory)),
            (names) => names.includes("mcp:gh:fine")
          )
          // What a text holds is read up to the first character that no name has.
          assert.deepStrictEqual(names, [...expected, "skill:x:y"].sort())
          assert.strictEqual((yield* run("type -P ls bash | grep -c synapse")).stdout, "0\n")
        }),
      {},
      [extension]
    )
  })

  it.live("are at most 200 more from the texts of commands: the oldest go", () =>
    withSession(
      ({ directory, run }) =>
        Effect.gen(function* () {
          const words = (from: number) => Array.from({ length: 150 }, (_, at) => `mcp:gh:t${from + at}`).join(" ")
          yield* run("env mcp:gh:first >/dev/null")
          yield* run(`: ${words(0)}`)
          yield* run("env mcp:gh:t0 >/dev/null")
          yield* run(`: ${words(1000)}`)
          const names = programs(rootOf(directory))
          assert.strictEqual(names.length, 200)
          assert.notInclude(names, "mcp:gh:first")
          assert.notInclude(names, "mcp:gh:t1")
          assert.include(names, "mcp:gh:t0")
          yield* run(`: ${Array.from({ length: 100_000 }, (_, at) => `mcp:a:${at}`).join(" ")}`)
          assert.strictEqual(programs(rootOf(directory)).length, 200)
        }),
      {},
      [Extension.make("mcp:*")]
    )
  )

  it.live("are made nowhere else, where a command puts a link in the place of their directory", () =>
    withSession(
      ({ directory, run }) =>
        Effect.gen(function* () {
          yield* run("mkdir elsewhere; d=${PATH%%:*}; mv $d $d.away; ln -s $PWD/elsewhere $d")
          const { stdout } = yield* run("mcp:gh:list a")
          assert.deepStrictEqual(calls(stdout), ["mcp:gh:list a"])
          assert.deepStrictEqual(Fs.readdirSync(`${directory}/elsewhere`), [])
        }),
      {},
      [Extension.make("mcp:*")]
    )
  )

  it.live("may be gone: the shell itself still finds the commands", () =>
    withSession(
      ({ run }) =>
        Effect.gen(function* () {
          yield* run('rm -r "${PATH%%:*}"')
          assert.deepStrictEqual(calls((yield* run("mcp:gh:list a")).stdout), ["mcp:gh:list a"])
        }),
      {},
      [Extension.make("mcp:*")]
    )
  )
})
