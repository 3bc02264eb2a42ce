/** What is asked about a definition: what it names in places that commands may write. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Definition } from "../../../src/extension/mcp/Definition.js"
import * as NamedFiles from "../../../src/extension/mcp/NamedFiles.js"
import * as Server from "../../../src/extension/mcp/Server.js"
import * as Directory from "../../support/sandbox/Directory.js"

const files = ["dist/index.js", "pkg/index.js", "s.py", "run.sh", "x.txt", "x.jar", "X.dll", "hook.cjs", "server"]

/** In a line, `+` is a blank within a word, and `P` the project, whose path has a blank. */
const make = Effect.gen(function* () {
  const directory = yield* Directory.make
  const project = `${directory}/my p`
  for (const path of ["dist", "pkg", "node_modules/@a"]) Fs.mkdirSync(`${project}/${path}`, { recursive: true })
  for (const path of [...files, "node_modules/@a/i.js"]) Fs.writeFileSync(`${project}/${path}`, "")
  Fs.symlinkSync("../x.txt", `${project}/pkg/link`)
  Fs.symlinkSync(`${project}/run.sh`, `${directory}/tool`)
  const around = {
    variables: { PATH: `/usr/bin:${directory}` },
    userHome: directory,
    root: project,
    home: `${directory}/home`,
    isWritable: (path: string) =>
      [path, Fs.existsSync(path) ? Fs.realpathSync(path) : path].some((one) => `${one}/`.startsWith(`${project}/`))
  }
  const server = (line: string, source: "home" | "project", cwd?: string) => {
    const words = line.split(" ").map((word) => word.replaceAll("+", " ").replaceAll(/P(?=[/:;",)'&]|$)/g, project))
    const at = words.findIndex((word) => !/^\w+=/.test(word))
    const env = Object.fromEntries(words.slice(0, at).map((word) => /^(\w+)=(.*)/s.exec(word)?.slice(1) ?? []))
    const definition = { command: words[at], args: words.slice(at + 1), env, ...(cwd === undefined ? {} : { cwd }) }
    return Server.make({ source, file: "/list.json" }, "s", definition, around)
  }
  /** The files, and the places with a slash at the end. Begins with `here` if the program starts in the project. */
  const look = (line: string, source: "home" | "project", cwd?: string): string => {
    const { consent, expanded, named } = server(line, source, cwd)
    if (Either.isLeft(expanded)) return "refused"
    const short = (path: string) => path.replace(project, "P").replace(/^P\//, "").replace(directory, "")
    assert.strictEqual(consent !== undefined, source === "home" && named.places.length > 0, line)
    const isHere = expanded.right._tag === "Stdio" && expanded.right.cwd === project
    const pinned = Either.getOrThrow(NamedFiles.read(named)).map(({ path }) => short(path))
    return [...(isHere ? ["here"] : []), ...pinned, ...named.places.map((path) => `${short(path)}/`)].join(" ")
  }
  return { directory, project, server, look }
})

type Table = Readonly<Record<string, ReadonlyArray<string>>>

const holds = (table: Table, source: "home" | "project", cwd?: string) =>
  Effect.map(make, ({ look }) => {
    const outcomes = (outcome: (line: string, listed: string) => string) =>
      Object.entries(table).flatMap(([listed, lines]) => lines.map((line) => [line, outcome(line, listed)]))
    assert.deepStrictEqual(
      outcomes((line) => look(line, source, cwd)),
      outcomes((_, listed) => listed)
    )
  })

describe("a server that names what commands may write", () => {
  it.scoped("is asked about by values, whatever its options and variables are called", () =>
    holds(
      {
        // Surely harmless.
        "": [
          "/opt/server --stdio --port 80 --name Files+of+us",
          "URL=https://e/tmp/x KEY=a/b+c== MODE=production N=1 DIR=/opt /opt/server",
          "npx -y @scope/server --db=none",
          "docker run -e TOKEN image server",
          "op run -- npm start",
          "env -S npm+start",
          "git mcp",
          "uv tool run pkg",
          "sh -c cd+.+&&+exec+$(cat+cmd)",
          "PATH=P/pkg:/usr/bin /opt/server"
        ],
        "x.txt": [
          "/opt/server --config P/x.txt",
          "/opt/server -fP/x.txt",
          '/opt/server {"file":+"P/x.txt"}',
          "java @P/x.txt",
          "LD_PRELOAD=/opt/a.so:P/x.txt /opt/server",
          "NODE_OPTIONS=--max-old-space-size=9+--require=P/x.txt /opt/server",
          "PYTHONSTARTUP=P/x.txt python3 -i",
          "BASH_ENV=P/x.txt bash /opt/run.sh",
          "PERL5OPT=-I/opt+-MP/x.txt perl /opt/s.pl",
          "RUBYOPT=-rP/x.txt ruby /opt/s.rb",
          "JAVA_TOOL_OPTIONS=-javaagent:P/x.txt=a,b java Main",
          "LUA_INIT=@P/x.txt lua /opt/s.lua",
          "DOTNET_STARTUP_HOOKS=P/x.txt dotnet /opt/s.dll",
          "ANY_NAME=P/x.txt /opt/server",
          "/opt/server --import=file://P/x.txt",
          "sh -c exec+$HOME/my\\+p/x.txt",
          "sh -c python3<~/my\\+p/x.txt",
          "sh -c exec+'P/x.txt'+2>&1",
          "git -c core.editor=P/x.txt mcp",
          "env A=b nice -n 5 bash P/x.txt"
        ],
        "run.sh": ["GIT_SSH_COMMAND=P/run.sh+-x git-mcp", "EDITOR=P/run.sh git-mcp", "GIT_PAGER=less|P/run.sh git-mcp"],
        "x.txt %78.txt/": ["/opt/server file://P/%78.txt"],
        "/tool": ["tool"],
        "pkg/link": ["/opt/server P/pkg/link"],
        "node_modules/@a/i.js": ["node P/node_modules/@a/i.js", "uv run P/node_modules/@a/i.js"],
        "P/": [
          "npx -y @modelcontextprotocol/server-filesystem P",
          "npx -y pnpm -CP start",
          "uvx mcp-server-git --repository P",
          "docker run -v P:/x image",
          "DATA_DIR=P /opt/server",
          "HOME=P /opt/server",
          "GIT_DIR=/opt,P /opt/server",
          "npm --prefix=P start",
          "make -CP",
          "git -C P mcp",
          "env --chdir=P node s",
          "op run -- make -C P",
          "sh -c cd+~/my\\+p+&&+./x",
          "awk BEGIN{system(\"cd+'P'+&&+./x\")}",
          '/opt/server --config {"roots":+["P"]}'
        ],
        "pkg/": [
          "PYTHONPATH=/opt:P/pkg python3 -m server",
          "TCLLIBPATH=/opt+P/pkg tclsh /opt/s.tcl",
          "JULIA_LOAD_PATH=@;P/pkg julia /opt/s.jl",
          "LUA_PATH=P/pkg/?.lua;/opt/?.lua lua /opt/s.lua",
          "ANY_NAME=-x+-pa+P/pkg /opt/server",
          "erl -pa P/pkg -s server",
          "nice guile -LP/pkg /opt/s.scm",
          "cc -isystemP/pkg",
          "scala -cp /opt:P/pkg Server",
          "java -cp /opt:P/pkg Main",
          "docker run -L P/pkg image"
        ],
        // Commands could make these, and the last could mean a file of another name.
        "n/": ["MEMORY=P/n /opt/server", "docker run -e OPTS=P/n image", "ruby -rP/n -e 1", "npx P/n"],
        "hook.cjs hook/": ["NODE_OPTIONS=--require+P/hook /opt/server", "node -r P/hook -e 1", "npx tsx P/hook"],
        refused: ["node P/dist", "node P/dist/index", "python3 -u P/pkg", "dotnet P/none.dll"]
      },
      "home"
    )
  )

  it.scoped("starts in the project only if its words tell which file of the project runs", () =>
    holds(
      {
        "here dist/index.js": [
          "node dist/index.js",
          "node --enable-source-maps -r dotenv/config ./dist/index.js --port 80",
          "node P/dist/index.js",
          "PATH=/usr/bin:P/node_modules/.bin node dist/index.js"
        ],
        "here hook.cjs dist/index.js": ["node -r ./hook.cjs dist/index.js", "node --import=./hook.cjs dist/index.js"],
        "here dist/index.js hook.cjs hook/": ["node --import ./hook dist/index.js"],
        "here dist/index.js pkg/": ["NODE_PATH=pkg node dist/index.js", "node dist/index.js pkg"],
        "here s.py x.txt": ["LD_PRELOAD=x.txt python3 s.py", "python3 -W ignore s.py x.txt"],
        "here s.py P/": ["PYTHONPATH=/opt:. python3 s.py"],
        "here run.sh": ["./run.sh dist/none", "sh -eo pipefail run.sh", "bash --norc run.sh"],
        "here x.jar": ["java -javaagent:x.jar -jar x.jar", "java -cp lib -jar x.jar"],
        "here X.dll": ["dotnet X.dll", "dotnet exec X.dll"],
        "here x.txt": ["deno run -A x.txt", "tsx watch x.txt", "ruby --encoding UTF-8 x.txt", "pwsh -File x.txt"],
        "x.txt": [
          "/opt/server --config x.txt",
          "docker compose -f ./x.txt up",
          "NODE_OPTIONS=--import=./x.txt node /opt/s.js",
          "uv run x.txt",
          "python3 -m pdb x.txt"
        ],
        "run.sh": ["env A=b nice ./run.sh", "timeout 5 bash run.sh", "op run --env-file=run.sh -- npm x"],
        "P/": ["npx -y @modelcontextprotocol/server-filesystem .", "uvx server --root=.", "git -C . mcp"],
        "pkg/": ["npx ./pkg", "/opt/server ./pkg", "DATA=./pkg /opt/server"],
        "": [
          "npm start",
          "bun run server",
          "deno task server",
          "npx server",
          "uvx --from server tool",
          "/opt/s pkg",
          "node -e 1",
          "java -cp lib Main"
        ],
        refused: ["node .", "node pkg", "bun dist/index", "python3.12 -u pkg", "bash nosuch.sh"]
      },
      "project"
    )
  )

  it.scoped("is refused if it works in the project, and commands may decide what it runs", () =>
    holds(
      {
        "here dist/index.js": ["node dist/index.js", "node ./dist/index.js"],
        "here run.sh": ["./run.sh", "bash run.sh"],
        // These take their code from elsewhere.
        "here P/": ["node /opt/s.js", "python3 /opt/s.py --port 80", "python3 -Im mod"],
        refused: [
          ...["npm start", "git mcp", "make serve", "just serve", "uv run s.py", "npx -y server", "dotnet run", "tool"],
          ...["env -S npm+start", "env -C dist node index.js", "op run -- node dist/index.js", "docker run image"],
          ...["node", "node -e 1", "node --run serve", "python3 -m pkg", "python3 -I -c 1", "sh -lc ./run.sh"],
          ...["bun run server", "bun x server", "deno task server", "deno run npm:server", "/opt/server dist/index.js"]
        ]
      },
      "project",
      "."
    )
  )

  it.scoped("is told why it is refused, with the words that would do", () =>
    Effect.map(make, ({ project, server }) => {
      const reason = (line: string, cwd?: string) => Either.flip(server(line, "project", cwd).expanded)
      assert.deepStrictEqual(
        reason("node dist/index"),
        Either.right(
          "there is no file dist/index, and commands could write the one that node runs instead: name a file that exists, as node dist/index.js"
        )
      )
      assert.deepStrictEqual(
        reason("npm start", "dist"),
        Either.right(
          `commands decide what npm start runs, for they may write to ${project}/dist: name the program's own file, or leave "cwd" out and name files and directories by their full paths`
        )
      )
      Fs.writeFileSync(`${project}/s.py`, "SQLite format 3\0with a zip archive behind it")
      assert.deepStrictEqual(reason("python3 s.py"), Either.right("s.py is a database, and no program"))
      assert.match(String(reason(`sh -c ${"P/x.txt,".repeat(100)}`)), /more than 5000 words/)
    })
  )

  it.scoped("is asked about no database, by its content: a server writes that itself", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      const paths = ["x.db", "y.db", "empty", "z.txt"].map((name) => `${directory}/${name}`)
      for (const [at, text] of ["SQLite format 3\0rest", "SQLite format 3", "", "SQLite format 3\n"].entries()) {
        Fs.writeFileSync(paths[at] ?? "", text)
      }
      assert.deepStrictEqual(
        Either.map(NamedFiles.read({ paths, places: [] }), (files) => files.map(({ path }) => path)),
        Either.right(paths.slice(1))
      )
    })
  )

  it.scoped("does not start if a file that it could load has changed, appeared or gone since", () =>
    Effect.map(make, ({ project, server }) => {
      const { named } = server("NODE_OPTIONS=--require+P/hook node P/dist/index.js", "home")
      const files = Either.getOrThrow(NamedFiles.read(named))
      const change = () => NamedFiles.changeOf(named, files, "/usr/bin/node")
      assert.isUndefined(change())
      Fs.writeFileSync(`${project}/hook.node`, "")
      assert.strictEqual(change(), `${project}/hook.node has changed just now`)
      Fs.rmSync(`${project}/hook.node`)
      Fs.writeFileSync(`${project}/hook`, "")
      assert.isString(change())
      Fs.rmSync(`${project}/hook`)
      Fs.writeFileSync(`${project}/dist/index.js`, "2")
      assert.strictEqual(change(), `${project}/dist/index.js has changed just now`)
      Fs.rmSync(`${project}/dist/index.js`)
      assert.isString(change())
    })
  )

  it.scoped("is settled for the home file with its directory, or with full paths", () =>
    Effect.map(make, ({ project }) => {
      const settle = (command: string, args: ReadonlyArray<string>, cwd?: string) => {
        const settled = Server.settle(Definition.Stdio({ command, args, env: {}, cwd }), project)
        return settled._tag === "Stdio" ? [settled.cwd, settled.command, ...settled.args] : []
      }
      const here = [
        ["node", "./dist/index.js", "x.txt"],
        ["./run.sh", "pkg"]
      ] as const
      for (const [command, ...args] of here) assert.deepStrictEqual(settle(command, args), [project, command, ...args])
      assert.deepStrictEqual(settle("/opt/s", ["-f", "x.txt", "--root=.", "pkg"]), [
        undefined,
        "/opt/s",
        "-f",
        `${project}/x.txt`,
        `--root=${project}`,
        "pkg"
      ])
      assert.deepStrictEqual(settle("node", ["none"]), [undefined, "node", "none"])
      assert.deepStrictEqual(settle("x", ["./y"], "dist"), [`${project}/dist`, "x", "./y"])
      for (const cwd of ["/usr", "~/x", "${DIR}"]) assert.deepStrictEqual(settle("x", ["./y"], cwd), [cwd, "x", "./y"])
    })
  )
})
