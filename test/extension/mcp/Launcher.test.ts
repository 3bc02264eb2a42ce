/** Which programs are refused because commands decide what they run. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Launcher from "../../../src/extension/mcp/internal/Launcher.js"
import * as Directory from "../../support/sandbox/Directory.js"

const make = Effect.gen(function* () {
  const directory = yield* Directory.make
  const project = `${directory}/p`
  for (const path of ["dist", "pkg", "node_modules/.bin"]) Fs.mkdirSync(`${project}/${path}`, { recursive: true })
  for (const path of ["dist/index.js", "pkg/index.js", "pkg/__main__.py", "s.py", "run.sh"]) {
    Fs.writeFileSync(`${project}/${path}`, "")
  }
  const isWritable = (path: string) => path === project || path.startsWith(`${project}/`)
  const program = (line: string, cwd: string) => {
    const words = line.split(" ").map((word) => word.replaceAll("+", " "))
    const at = words.findIndex((word) => !/^\w+=/.test(word))
    const env = Object.fromEntries(words.slice(0, at).map((word) => /^(\w+)=(.*)/.exec(word)?.slice(1) ?? []))
    return { command: words[at] ?? "", args: words.slice(at + 1), env, cwd }
  }
  return {
    directory,
    project,
    refusal: (line: string, cwd = project) => Launcher.refusal(program(line, cwd), isWritable),
    isAnywhere: (line: string) => Launcher.locate(program(line, project), "/elsewhere", isWritable).cwd === "/elsewhere"
  }
})

describe("a program of which commands decide what it runs", () => {
  it.scoped("is one whose script is not named in full", () =>
    Effect.gen(function* () {
      const { project, refusal } = yield* make
      assert.strictEqual(
        refusal("node dist/index"),
        "there is no file dist/index, and commands could write the one that node runs instead: name a file that exists, as node dist/index.js"
      )
      for (const line of [
        "node .",
        "node pkg",
        "/usr/bin/node dist",
        "node --import ./hook dist/index.js",
        "node -r ./hook dist/index.js",
        "node --enable-source-maps -- dist/index",
        `node ${project}/dist/index`,
        "bun dist/index",
        "deno run -A dist/index",
        "tsx dist/index",
        "python3 pkg",
        "python3.12 -u pkg",
        "bash nosuch.sh",
        "ruby none",
        "env A=b node dist/index",
        "bash -c cd+dist+&&+exec+node+index",
        "sh -lc npm+start"
      ]) {
        assert.isString(refusal(line), line)
      }
      for (const line of [
        "node dist/index.js",
        "node --enable-source-maps -r dotenv/config ./dist/index.js pkg",
        `node ${project}/dist/index.js`,
        "deno run -A npm:server",
        "python3 -u s.py pkg",
        "python3 -W ignore s.py pkg",
        "sh -eo pipefail run.sh",
        "./run.sh dist/index",
        "env A=b nice -n 5 ./run.sh",
        "timeout 5 node dist/index.js"
      ]) {
        assert.isUndefined(refusal(line), line)
      }
      assert.isUndefined(refusal("node dist/index", "/opt"))
      Fs.writeFileSync(`${project}/s.py`, "SQLite format 3\0with a zip archive behind it")
      assert.strictEqual(refusal("python3 s.py"), "s.py is a database, and no program")
    })
  )

  it.scoped("is any whose code is in no file that it names, on whatever list it is or not", () =>
    Effect.gen(function* () {
      const { directory, isAnywhere, project, refusal } = yield* make
      for (const line of [
        "git mcp",
        "env -S npm+start",
        "env -S node+dist/index.js",
        "env -C dist node index.js",
        "op run -- npm start",
        "op run -- node dist/index.js",
        "node -e 1",
        "python3 -I -c 1",
        "node",
        "docker run node server",
        "/opt/server dist/index",
        "bash -c cd+.+&&+exec+$(cat+cmd)",
        "bash -c cd+dist+&&+exec+node+index.js"
      ]) {
        assert.match(refusal(line) ?? "", /^commands decide what .* runs, for they may write to .*\/p/, line)
      }
      for (const line of [
        `git -C ${project} mcp`,
        `op run -- make -C ${project}`,
        `env -S npm+--prefix+${project}+start`,
        `bash -c cd+${project}+&&+npm+start`,
        `busybox sh -c cd+${project};+./x`,
        `awk BEGIN{system("cd+${project}+&&+./x")}`,
        `script -qc cd+${project}+&&+./x /dev/null`,
        `sh -c node+${project}/none/hook`,
        `env -C ${project} node s`,
        `env --chdir=${project} node s`,
        `node -r ${project}/none -e 1`,
        `ruby -r${project}/none -e 1`,
        `NODE_OPTIONS=--require+${project}/none /opt/server`,
        `GCONV_PATH=${project} /opt/server`,
        `GIO_EXTRA_MODULES=${project} /opt/server`
      ]) {
        assert.isString(refusal(line, directory), line)
      }
      assert.isUndefined(refusal(`uv run --directory /opt/x server --root ${project}/new`, directory))
      assert.isUndefined(refusal(`node --cpu-prof-dir=${project}/new /opt/s.js`, directory))
      for (const line of [
        `/opt/server --root ${project}`,
        `python3 -m server --repository ${project}`,
        `op run -- /opt/server ${project}`,
        `/opt/server --name Files+of+us --config {"roots":+["${project}"]}`,
        `docker run -v ${project}:/x image`,
        `docker exec c sh -c node+/app/s.js+--root+${project}/new`,
        `sh -c /opt/srv+2>${project}/err.log`,
        `JAVA_OPTS=-Dx=${project}/log /opt/server`,
        `R_DATA=${project}/new /opt/server`,
        `bash -c exec+node+${project}/dist/index.js`
      ]) {
        assert.isUndefined(refusal(line, directory), line)
        assert.isTrue(isAnywhere(line), line)
      }
      for (const line of [
        "/opt/server --stdio",
        "docker run node server",
        "node -e 1",
        "python3 -m server",
        "op run -- x"
      ]) {
        assert.isTrue(isAnywhere(line), line)
      }
      for (const line of [
        "op run --env-file=run.sh -- npm x",
        "/opt/server ./pkg",
        "npm start",
        "git mcp",
        "./run.sh"
      ]) {
        assert.isFalse(isAnywhere(line), line)
      }
    })
  )

  it.scoped("is one that looks for code where commands may write, whatever file it runs", () =>
    Effect.gen(function* () {
      const { directory, project, refusal } = yield* make
      assert.strictEqual(
        refusal("NODE_PATH=pkg node dist/index.js"),
        `node dist/index.js takes code from ${project}/pkg, which commands may write: name another directory`
      )
      for (const line of [
        "PYTHONPATH=/opt:. python3 s.py",
        `PYTHONPATH=${project} python3 -m server`,
        `env PYTHONPATH=${project} python3 -c import+server`,
        "NODE_OPTIONS=--require+./pkg node dist/index.js",
        `PATH=/usr/bin:${project}/node_modules/.bin ./run.sh`,
        "PERL5OPT=-Mlib=pkg perl s.pl",
        "PERL5LIB=pkg perl s.pl",
        "perl -Ipkg s.py",
        "php -c pkg s.py",
        `java -cp ${project}/pkg s.py`,
        `GIT_DIR=${project}/pkg git status`,
        `HOME=${project} /opt/server`,
        `npm_config_prefix=${project} npx server`
      ]) {
        assert.match(String(refusal(line)), / takes code from .*\/p\b/, line)
      }
      for (const line of [
        `WORKSPACE=${project} DATA_DIR=pkg node dist/index.js`,
        "NODE_ENV=pkg node dist/index.js",
        "PYTHONPATH= python3 s.py",
        "PATH=/usr/bin:/bin ./run.sh",
        `deno run --allow-read=${project} dist/index.js`,
        `java -Ddata=${project} dist/index.js`,
        "python3 s.py pkg"
      ]) {
        assert.isUndefined(refusal(line), line)
      }
      for (const line of [
        `TCLLIBPATH=/opt+${project}/pkg tclsh /opt/s.tcl`,
        `R_LIBS=/opt:${project}/pkg Rscript /opt/s.R`,
        `R_LIBS_USER=${project}/pkg op run -- Rscript /opt/s.R`,
        `ERL_LIBS=${project}/pkg erl -s server`,
        `ERL_FLAGS=-pa+${project}/pkg erl -s server`,
        `EMACSLOADPATH=${project}/pkg: emacs --script /opt/s.el`,
        `JULIA_LOAD_PATH=@;${project}/pkg julia /opt/s.jl`,
        `env JULIA_DEPOT_PATH=${project}/pkg julia /opt/s.jl`,
        `LUA_PATH=${project}/pkg/?.lua;/opt/?.lua lua /opt/s.lua`,
        `erl -pa ${project}/pkg -s server`,
        `guile-3.0 -L ${project}/pkg /opt/s.scm`,
        `nice guile -L${project}/pkg /opt/s.scm`,
        `guile --load-path=${project}/pkg /opt/s.scm`,
        `scala -cp /opt:${project}/pkg Server`,
        `ruby -I ${project}/pkg -e 1`
      ]) {
        assert.match(String(refusal(line, directory)), / takes code from .*\/p\/pkg\/?,/, line)
      }
      for (const line of [
        `REPO_PATH=${project} LIBRARY=${project} DATA_DIR=/opt:${project}/pkg /opt/server --directory ${project}`,
        `npx -y server -I ${project}`,
        `TCLLIBPATH=/opt tclsh /opt/s.tcl ${project}`,
        "LUA_PATH=/opt/?.lua lua /opt/s.lua"
      ]) {
        assert.isUndefined(refusal(line, directory), line)
      }
      for (const line of [`make -C${project}`, `npm --prefix=${project} start`, `npx -C${project} server`]) {
        assert.isString(refusal(line, directory), line)
      }
    })
  )

  it.scoped("is one that looks up a task or a module where commands may write", () =>
    Effect.gen(function* () {
      const { directory, project, refusal } = yield* make
      for (const line of [
        "npm start",
        "npm run -s serve",
        "pnpm serve",
        "yarn serve",
        "bun run serve",
        "deno task serve",
        "node --run serve",
        "make serve",
        "just serve",
        "uv run s.py",
        "python3 -m pkg",
        "python3 -um pkg"
      ]) {
        assert.match(refusal(line) ?? "", /^commands decide what .* runs, for they may write to .*\/p/, line)
      }
      for (const line of [
        `npm --prefix ${project} start`,
        `uv --directory ${project} run s.py`,
        `make -C ${project}`
      ]) {
        assert.isString(refusal(line, directory), line)
      }
      for (const line of ["npm start", "make serve", "python3 -m pkg"])
        assert.isUndefined(refusal(line, directory), line)
      assert.isUndefined(refusal("python3 -I -m pkg"))
      assert.isUndefined(refusal("python3 -Im pkg"))
      assert.isString(refusal("npm start", `${project}/dist`))
    })
  )

  it.scoped("is one that is looked for in the project before it is fetched", () =>
    Effect.gen(function* () {
      const { directory, isAnywhere, project, refusal } = yield* make
      for (const line of ["npx -y server", "bunx server", "uvx server", "pnpm dlx server", "npm exec -- server"]) {
        assert.isString(refusal(line), line)
        assert.isUndefined(refusal(line, directory), line)
        assert.isTrue(isAnywhere(line), line)
      }
      for (const line of [`npx -y server ${project}`, "npx -y pkg --db=none", `uvx --from server tool ${project}`]) {
        assert.isUndefined(refusal(line, directory), line)
        assert.isTrue(isAnywhere(line), line)
      }
      for (const line of ["npx -y server .", "npx ./pkg", "npx server --root=pkg", "node dist/index.js"]) {
        assert.isFalse(isAnywhere(line), line)
      }
      for (const line of [`npx --prefix=${project} server`, `npx ${project}/pkg`, `npx tsx ${project}/dist/index`]) {
        assert.isString(refusal(line, directory), line)
      }
      assert.isUndefined(refusal(`npx tsx ${project}/dist/index.js`, directory))
    })
  )
})
