/** Which files of a server count as what it runs. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as NamedFiles from "../../../src/extension/mcp/NamedFiles.js"
import * as Directory from "../../support/sandbox/Directory.js"

const pathsOf = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Either.getOrThrow(
    NamedFiles.pathsOf({ command: "/usr/bin/node", args, env, cwd: "/p" }, "/usr/bin", (path) => path.startsWith("/p/"))
  )

/** With `+` for a space within a word. */
const named = (line: string) => {
  const [command = "", ...args] = line.split(" ").map((word) => word.replace(/(?<=.)\+(?=.)/g, " "))
  const program = { command, args, env: {}, cwd: "/p" }
  return Either.getOrThrow(NamedFiles.pathsOf(program, "/usr/bin", (path) => path.startsWith("/p/")))
}

describe("the files that a server names", () => {
  it("are its programs, by whatever word", () => {
    assert.deepStrictEqual(pathsOf(["server.js", "-r", "./hook.cjs", "--loader=l.mjs", "sh -c 'run.sh x'"]), [
      "/p/server.js",
      "/p/hook.cjs",
      "/p/l.mjs",
      "/p/sh -c 'run.sh x'",
      "/p/sh",
      "/p/run.sh",
      "/p/x"
    ])
    assert.deepStrictEqual(pathsOf([], { NODE_OPTIONS: "--require ./a.js", X: "1" }), ["/p/a.js", "/p/1"])
  })

  it.scoped("are no database, by its content: a server writes that itself", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      const paths = ["x.db", "y.db", "empty", "z.txt"].map((name) => `${directory}/${name}`)
      for (const [at, text] of ["SQLite format 3\0rest", "SQLite format 3", "", "SQLite format 3\n"].entries()) {
        Fs.writeFileSync(paths[at] ?? "", text)
      }
      const { read } = NamedFiles
      assert.deepStrictEqual(
        Either.map(read(paths), (files) => files.map(({ path }) => path)),
        Either.right(paths.slice(1))
      )
    })
  )

  it("are what a program runs or is told by, whatever they are called", () => {
    for (const line of [
      "python3 x.txt",
      "python3 -uW ignore x.txt memory.json",
      "python3 -X importtime -- x.txt",
      "python3 -m pdb x.txt",
      "/usr/bin/python3.12 x.txt",
      "bash x.txt",
      "bash +x x.txt",
      "bash -eo pipefail x.txt",
      "bash --rcfile x.txt -i",
      "bash --norc --init-file x.txt run.sh",
      "sh -c x.txt",
      "sh -c .+./x.txt",
      "sh -c bash+x.txt",
      "sh -c ./x.txt;true",
      "sh -c .+$0 x.txt",
      "bash -c .+$1 _ x.txt",
      "node -r hook.cjs x.txt",
      "node --require hook.cjs x.txt",
      "node --unheard --require hook.cjs x.txt",
      "node --title name x.txt",
      "node --import ./x.txt s.js",
      "node --import=file:///p/x.txt s.js",
      "node --env-file x.txt s.js",
      "node inspect x.txt",
      "node -e require('./x.txt')",
      "deno run x.txt",
      "deno run --config x.txt s.ts",
      "deno x.txt",
      "bun run x.txt",
      "tsx watch x.txt",
      "ruby x.txt",
      "ruby --encoding UTF-8 x.txt",
      "perl x.txt",
      "perl -I lib x.txt",
      "php -S localhost:1 x.txt",
      "php -f x.txt",
      "env -S python3 x.txt",
      "env -S python3+x.txt",
      "env A=b ./x.txt",
      "env BASH_ENV=x.txt bash /o/run.sh",
      "env NODE_OPTIONS=--require=./x.txt node /o/s.js",
      "env PERL5OPT=-I./x.txt perl /o/s.pl",
      "bash DB=/../x.txt",
      "python3 -c exec(open('x.txt').read())",
      "sh -c python3<x.txt",
      "node -- x.txt",
      "docker run --env-file x.txt image",
      "make DATA=x.txt",
      "nice -n 5 bash x.txt",
      "timeout 5 ./x.txt",
      "flock lock ./x.txt",
      "busybox sh x.txt",
      "npx tsx x.txt",
      "npx -y vite-node x.txt",
      "uv run x.txt",
      "uvx --with-requirements x.txt server",
      "make -f x.txt",
      "make -fx.txt",
      "make --makefile=x.txt",
      "java @x.txt",
      "java -cp @x.txt",
      "java -cp lib:x.txt Main",
      "java -javaagent:x.txt=a,b Main",
      "lua x.txt",
      "lua s.lua x.txt",
      "awk -f x.txt",
      "pwsh -File x.txt",
      "/o/server --config x.txt",
      "./x.txt",
      "./venv/bin/python x.txt",
      "docker compose --file x.txt up",
      "python3 sub/../x.txt",
      "node /o/run.mjs x.txt",
      "npx -y server --memory-file x.txt",
      "/o/server --config=x.txt",
      "env LD_PRELOAD=/o/a.so:x.txt /o/server"
    ]) {
      assert.include(
        named(line).map((path) => path.replace(/[^/]+\/\.\.\//, "")),
        "/p/x.txt",
        line
      )
    }
    assert.include(named("docker compose -f x.yml up"), "/p/x.yml")
    for (const [name, value] of [
      ["NODE_OPTIONS", "--require=./x.txt"],
      ["NODE_OPTIONS", "--max-old-space-size=9 --import ./x.txt"],
      ["PYTHONSTARTUP", "x.txt"],
      ["BASH_ENV", "/p/x.txt"],
      ["ENV", "x.txt"],
      ["MAKEFILES", "x.txt"],
      ["LUA_INIT", "@x.txt"],
      ["LD_PRELOAD", "/o/a.so:/p/x.txt"],
      ["JAVA_TOOL_OPTIONS", "-javaagent:/p/x.txt"],
      ["CLASSPATH", "lib:x.txt"],
      ["RUBYOPT", "-r./x.txt"],
      ["DOTNET_STARTUP_HOOKS", "x.txt"]
    ] as const) {
      assert.include(pathsOf([], { [name]: value }), "/p/x.txt", `${name}=${value}`)
    }
  })
})
