/** The tools that people work with, in this machine's own sandbox and without a network: what works, and what has to be allowed. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { sandboxedOn } from "../support/sandbox/LocalApp.js"

/** Read before the process becomes a user who may not see the checkout. */
const limits = Fs.readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8")

/** What the user can allow, as it stands in the docs, and in `sandbox.json`. */
const allowances = {
  own: ["`--unix-sockets own`", { unixSockets: "own" }],
  env: ["`--allow-read .env`", { filesystem: { readable: [".env"] } }],
  agent: ['`--allow-socket "$SSH_AUTH_SOCK"`', { sockets: ["~/agent"] }]
} as const

interface Workflow {
  /** Programs, or whole commands; where one does not run here, the test is skipped. */
  readonly needs: ReadonlyArray<string>
  /** What the user's own shell does in the project before the session, with `~` for a home of the test's. */
  readonly setUp?: string
  readonly command: string
  /** What it puts out at its end. */
  readonly gives: string
  /** What the user has to allow: without it, it gives something else. */
  readonly by?: keyof typeof allowances
  /** What the user's own shell does afterwards. */
  readonly end?: string
}

const repository = (at = ".") =>
  `git init -qb main ${at}; cd ${at}; git config user.name a; git config user.email a@b.c; echo 1 >f; git add -A .; git commit -qm one; cd "$OLDPWD"`
const another = "echo x >>f; git add f; git -c user.name=a -c user.email=a@b.c commit -qm two"
const withAgent =
  "ssh-agent -s -a ~/agent >~/started; export SSH_AUTH_SOCK=$HOME/agent; ssh-keygen -qt ed25519 -N '' -C mine -f ~/.ssh/key; ssh-add -q ~/.ssh/key; cp ~/.ssh/key.pub ~/key.pub"
const endAgent = "kill $(sed -n 's/.*PID=\\([0-9]*\\).*/\\1/p' ~/started | head -n 1)"
const loads = (module: string) => `NODE_PATH=$(npm root -g) node -e 'require("${module}")'`

const c = `printf 'int main(void) { return 7; }' >a.c`
const postgres = (socket: string, host: string) =>
  `initdb -D data -A trust >log 2>&1 && pg_ctl -D data -o "-k '${socket}' -c listen_addresses=127.0.0.1" -l log -w start >>log &&
    psql -h ${host} -d postgres -Atc 'select 42'; pg_ctl -D data -m immediate stop >>log`

const workflows: Readonly<Record<string, Workflow>> = {
  git: {
    needs: ["git"],
    command: `git init -q r && cd r && git config user.name a && git config user.email a@b.c && echo x >f && git add f &&
      git commit -qm one && git worktree add -q ../r2 && git clone -q . ../r3 && git -C ../r3 log --format=%s`,
    gives: "one\n"
  },
  npm: {
    needs: ["npm"],
    command: `mkdir dep; echo '{"name":"dep","version":"1.0.0","main":"m.js"}' >dep/package.json; echo 'console.log("dep")' >dep/m.js
      echo '{"name":"x","version":"1.0.0","scripts":{"start":"node -e \\"require(String.fromCharCode(100,101,112))\\""}}' >package.json
      npm pack ./dep >/dev/null 2>&1 && npm install --offline ./dep-1.0.0.tgz >/dev/null && npm run -s start && ls "$npm_config_cache"/_cacache >/dev/null`,
    gives: "dep\n"
  },
  pnpm: {
    needs: ["pnpm"],
    command: `mkdir dep; echo '{"name":"dep","version":"1.0.0"}' >dep/package.json; echo '{"name":"x"}' >package.json
      pnpm add --offline ./dep >/dev/null && ls node_modules`,
    gives: "dep\n"
  },
  tsx: {
    needs: ["tsx"],
    command: "echo 'const a: number = 1; console.log(a)' >a.ts; tsx a.ts",
    gives: "1\n",
    by: "own"
  },
  venv: {
    needs: ["python3"],
    command: `python3 -m venv v && . v/bin/activate && pip --version >/dev/null && python -c 'import sys; print(sys.prefix != sys.base_prefix)'`,
    gives: "True\n"
  },
  pytest: {
    needs: ["pytest"],
    command:
      "printf 'def test_it(tmp_path):\\n    assert tmp_path.exists()\\n' >test_it.py; pytest -q | tail -n 1 | cut -d ' ' -f 1,2",
    gives: "1 passed\n"
  },
  "multiprocessing's Pool": {
    needs: ["python3"],
    command: `python3 -c 'from multiprocessing import Pool; print(Pool(2).map(abs, [-1, 2]))'`,
    gives: "[1, 2]\n"
  },
  "multiprocessing's Manager": {
    needs: ["python3"],
    command: `python3 -c 'from multiprocessing import Manager; print(Manager().list([1]))'`,
    gives: "[1]\n",
    by: "own"
  },
  gcc: { needs: ["gcc"], command: `${c}; gcc a.c && ./a.out; echo $?`, gives: "7\n" },
  make: {
    needs: ["make", "gcc"],
    command: `${c}; printf 'a: a.o\\n' >Makefile; make -sj2 a && ./a; echo $?`,
    gives: "7\n"
  },
  cargo: {
    needs: ["cargo"],
    // The variable of the tests' own process names a place that these sandboxes do not let them write.
    command: "export TMPDIR=$PWD; cargo init -q --vcs none --name x . && cargo build -q --offline && ./target/debug/x",
    gives: "Hello, world!\n"
  },
  sqlite: {
    needs: ["sqlite3"],
    command: `sqlite3 d.db 'pragma journal_mode=wal; create table t(a); insert into t values(1); select count(*) from t'`,
    gives: "wal\n1\n"
  },
  gdb: {
    needs: ["gdb", "gcc"],
    command: `${c}; gcc -g a.c && gdb -nx -batch -ex 'break main' -ex run -ex 'print 6*7' ./a.out 2>/dev/null | tail -n 1`,
    gives: "$1 = 42\n"
  },
  strace: {
    needs: ["strace"],
    command: "strace -f -o trace sh -c 'echo x' && grep -c '^[0-9]* *write(1, \"x' trace",
    gives: "x\n1\n"
  },
  "Chromium, with --no-sandbox and --user-data-dir": {
    needs: ["chromium"],
    command:
      "export TMPDIR=$PWD; chromium --headless --no-sandbox --disable-gpu --user-data-dir=$PWD/c --dump-dom 'data:text/html,<p>it</p>' 2>/dev/null | grep -o '<p>it</p>'",
    gives: "<p>it</p>\n",
    by: "own"
  },
  // SHELL: without it, tmux starts the user's own, which is nologin for nobody.
  tmux: {
    needs: ["tmux"],
    command:
      "export SHELL=/bin/sh TMUX_TMPDIR=$PWD; tmux -f /dev/null new-session -d 'sleep 100' && tmux ls | cut -d : -f 1; tmux kill-server",
    gives: "0\n",
    by: "own"
  },
  "Postgres, by TCP": { needs: ["initdb", "psql"], command: postgres("", "127.0.0.1"), gives: "42\n" },
  "Postgres, by its socket": {
    needs: ["initdb", "psql"],
    command: postgres("'$PWD'", '"$PWD"'),
    gives: "42\n",
    by: "own"
  },
  "git worktree": {
    needs: ["git"],
    setUp: repository(),
    command: "git worktree add -q .worktrees/x && git -C .worktrees/x log --format=%s",
    gives: "one\n"
  },
  "git in a linked worktree": {
    needs: ["git"],
    setUp: `rm .env; ${repository("../main")}; git -C ../main worktree add -qf -b side "$PWD"`,
    command: `${another} && git log --format=%s`,
    gives: "two\none\n"
  },
  "git in a submodule": {
    needs: ["git"],
    setUp: `${repository()}; ${repository("../lib")}; git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib" sub; git commit -qm sub`,
    command: `cd sub && ${another} && git log --format=%s`,
    gives: "two\none\n"
  },
  "git in a directory of a monorepo": {
    needs: ["git"],
    setUp:
      "echo 1 >f; cd ..; git init -qb main; git add project/f; git -c user.name=a -c user.email=a@b.c commit -qm one",
    command: `${another} && git log --format=%s`,
    gives: "two\none\n"
  },
  "git stash": {
    needs: ["git"],
    setUp: repository(),
    command: "echo 2 >f && git stash -q && cat f && git stash pop -q && cat f",
    gives: "1\n2\n"
  },
  "git reset, with a .env in the commits": {
    needs: ["git"],
    setUp: `${repository()}; echo A=2 >.env; git add -A; git commit -qm two`,
    command: "git reset -q --hard HEAD~1 && cat .env && git status --porcelain",
    gives: "TOKEN=1\n"
  },
  "git rebase": {
    needs: ["git"],
    setUp: `${repository()}; git checkout -qb side; echo 1 >g; git add g; git commit -qm side; git checkout -q main; ${another}; git checkout -q side`,
    command: "git rebase -q main && git log --format=%s",
    gives: "side\ntwo\none\n"
  },
  "a signed commit": {
    needs: ["git", "ssh -V"],
    setUp: `${withAgent}; ${repository()}; git config gpg.format ssh; git config user.signingkey ~/key.pub`,
    command: `export SSH_AUTH_SOCK=$(realpath ../user)/agent; echo 2 >f && git commit -q -S -a -m two && git cat-file -p HEAD | grep -c 'BEGIN SSH'`,
    gives: "1\n",
    by: "agent",
    end: endAgent
  },
  "keys of the ssh-agent": {
    needs: ["ssh -V"],
    setUp: withAgent,
    command: "SSH_AUTH_SOCK=$(realpath ../user)/agent ssh-add -l | cut -d ' ' -f 3,4",
    gives: "mine (ED25519)\n",
    by: "agent",
    end: endAgent
  },
  "an ssh-agent of the command's own": {
    needs: ["ssh -V"],
    command: "eval $(ssh-agent) >/dev/null; ssh-add -l; ssh-agent -k >/dev/null",
    gives: "The agent has no identities.\n",
    by: "own"
  },
  "vite build": {
    needs: ["vite"],
    setUp: "echo '<p>x</p>' >index.html",
    command: "vite build --logLevel error && ls dist",
    gives: "index.html\n",
    by: "env"
  },
  vitest: {
    needs: ["vitest"],
    setUp: "echo 'test(\"x\", () => {})' >a.test.js",
    command: "vitest run --globals --reporter json 2>/dev/null | grep -o 'numPassedTests\":1'",
    gives: 'numPassedTests":1\n',
    by: "env"
  },
  "next build": {
    needs: ["next", loads("react-dom")],
    setUp:
      'mkdir -p pages node_modules; echo \'export default () => "hi"\' >pages/index.js; for m in next react react-dom; do cp -r "$(npm root -g)/$m" node_modules/; done; echo "{}" >package.json',
    command:
      "NEXT_TELEMETRY_DISABLED=1 node node_modules/next/dist/bin/next build --webpack >log 2>&1 && ls .next/BUILD_ID",
    gives: ".next/BUILD_ID\n"
  },
  "docker compose config": {
    needs: ["docker compose version"],
    setUp: "printf 'services: { a: { image: \"b:${TOKEN}\" } }' >compose.yaml",
    command: "docker compose config | grep -o b:1",
    gives: "b:1\n",
    by: "env"
  },
  "node --env-file": {
    needs: ["node --env-file=/dev/null -e 1"],
    command: "node --env-file=.env -p process.env.TOKEN",
    gives: "1\n",
    by: "env"
  },
  "dotenv in Node": {
    needs: [loads("dotenv")],
    command: `NODE_PATH=$(npm root -g) node -e 'require("dotenv").config({ quiet: true }); console.log(process.env.TOKEN)'`,
    gives: "1\n",
    by: "env"
  },
  "dotenv in Python": {
    needs: ["python3 -c 'import dotenv'"],
    command: `python3 -c 'import dotenv; print(dotenv.dotenv_values(".env")["TOKEN"])'`,
    gives: "1\n",
    by: "env"
  },
  "dotenv in Ruby": {
    needs: ["ruby -e 'require %q(dotenv)'"],
    command: "ruby -e 'require %q(dotenv); Dotenv.load(%q(.env)); puts ENV[%q(TOKEN)]'",
    gives: "1\n",
    by: "env"
  },
  "pre-commit": {
    needs: ["pre-commit"],
    setUp: `${repository()}; printf 'repos: [{ repo: local, hooks: [{ id: x, name: x, entry: "true", language: system }] }]' >.pre-commit-config.yaml; git add -A`,
    command: "pre-commit run -a --color never | grep -c Passed",
    gives: "1\n"
  },
  poetry: {
    needs: ["poetry", "python3 -m venv --help"],
    setUp: `printf '[tool.poetry]\\nname = "x"\\nversion = "0"\\ndescription = ""\\nauthors = []\\n[tool.poetry.dependencies]\\npython = ">=3.8"\\n' >pyproject.toml`,
    command:
      "export HOME=$TMPDIR POETRY_VIRTUALENVS_IN_PROJECT=1; python3 -m venv .venv && poetry install --no-root -n >&2 && poetry run python -c 'import sys; print(sys.prefix)' | grep -o .venv",
    gives: ".venv\n"
  }
}

/** Looks in the system's directories alone (`Ground`): an ordinary user can't read what root has installed for itself. */
const runs = (program: string): boolean =>
  (program.includes(" ") ? [program] : [`${program} --version`, `${program} -V`]).some(
    (line) => ChildProcess.spawnSync("sh", ["-c", line], { timeout: 20_000 }).status === 0
  )

/** Those in which root differs from an ordinary user; all others are that user's alone. */
const ofRoot = ["git", "git in a linked worktree", "npm", "gdb", "strace", "tmux", "keys of the ssh-agent"]

/** Returns the table of the docs. */
const table = (): string => {
  const rows = Object.entries(workflows).map(([name, { by }]) => [
    name,
    by === undefined ? "yes" : `with ${allowances[by][0]}`
  ])
  const all = [["tool", "works"], ...rows]
  const widths = [0, 1].map((at) => Math.max(...all.map((row) => (row[at] ?? "").length)))
  const line = (row: ReadonlyArray<string>, fill: string) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0, fill)).join(" | ")} |\n`
  return [line(all[0] ?? [], " "), line(["", ""], "-"), ...rows.map((row) => line(row, " "))].join("")
}

export const work = (title: string, ground: string): void => {
  const isRoot = process.getuid?.() === 0
  // What npm hands down to what it starts, as these tests.
  delete process.env["npm_config_cache"]
  // Tools that were installed for a trial by hand.
  const { SYNAPSE_TEST_TOOLS: tools = "" } = process.env
  if (tools !== "") process.env["PATH"] = `${tools}:${process.env["PATH"]}`
  const sandboxed = sandboxedOn(ground)
  const run = ({ command, end, setUp }: Workflow, policy: object) =>
    sandboxed(({ execute }, { outside, project }) => {
      const byUser = (text: string) =>
        ChildProcess.spawnSync("sh", ["-c", `set -e; ${text}`], {
          cwd: project,
          env: { ...process.env, HOME: `${outside}/user` },
          encoding: "utf8"
        })
      Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy }))
      const { status = 0, stderr = "" } = setUp === undefined ? {} : byUser(setUp)
      assert.strictEqual(status, 0, stderr)
      return Effect.ensuring(
        execute(`export TMPDIR=/tmp; ${command}`, { timeout: 150_000 }),
        Effect.sync(() => void (end === undefined || byUser(end)))
      )
    })

  describe(title, () => {
    it("are in the docs as they are here", () => assert.include(limits, `\n${table()}`))

    for (const [name, workflow] of Object.entries(workflows)) {
      if (isRoot && !ofRoot.includes(name)) continue
      const { by, gives, needs } = workflow
      const [words, policy] = by === undefined ? ["", {}] : allowances[by]
      it.live.skipIf(!needs.every(runs))(
        `${name} works${by === undefined ? "" : ` with ${words}, and not without`}`,
        () =>
          Effect.gen(function* () {
            if (by !== undefined) assert.notInclude((yield* run(workflow, {})).stdout, gives)
            const { stderr, stdout } = yield* run(workflow, policy)
            assert.strictEqual(stdout, gives, stderr)
          }),
        180_000
      )
    }
  })
}
