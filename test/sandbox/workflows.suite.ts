/** The tools that people work with, in this machine's own sandbox and without a network: what works, and what needs unix sockets. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { sandboxedOn } from "../support/sandbox/LocalHouse.js"

interface Workflow {
  /** The programs that it needs; where one does not run here, the test is skipped. */
  readonly needs: ReadonlyArray<string>
  readonly command: string
  /** What it puts out at its end. */
  readonly gives: string
  /** True where it works with unix sockets only. */
  readonly bySocket?: true
}

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
    bySocket: true
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
    bySocket: true
  },
  gcc: { needs: ["gcc"], command: `${c}; gcc a.c && ./a.out; echo $?`, gives: "7\n" },
  make: {
    needs: ["make", "gcc"],
    command: `${c}; printf 'a: a.o\\n' >Makefile; make -sj2 a && ./a; echo $?`,
    gives: "7\n"
  },
  cargo: {
    needs: ["cargo"],
    command: "cargo init -q --vcs none --name x . && cargo build -q --offline && ./target/debug/x",
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
  Chromium: {
    needs: ["chromium"],
    command:
      "chromium --headless --no-sandbox --disable-gpu --dump-dom 'data:text/html,<p>it</p>' 2>/dev/null | grep -o '<p>it</p>'",
    gives: "<p>it</p>\n",
    bySocket: true
  },
  // SHELL: without it, tmux starts the user's own, which is nologin for nobody.
  tmux: {
    needs: ["tmux"],
    command:
      "export SHELL=/bin/sh TMUX_TMPDIR=$PWD; tmux -f /dev/null new-session -d 'sleep 100' && tmux ls | cut -d : -f 1; tmux kill-server",
    gives: "0\n",
    bySocket: true
  },
  "Postgres, by TCP": { needs: ["initdb", "psql"], command: postgres("", "127.0.0.1"), gives: "42\n" },
  "Postgres, by its socket": {
    needs: ["initdb", "psql"],
    command: postgres("'$PWD'", '"$PWD"'),
    gives: "42\n",
    bySocket: true
  }
}

/** Looks in the system's directories alone (`Ground`): an ordinary user can't read what root has installed for itself. */
const runs = (program: string): boolean =>
  ["--version", "-V"].some((option) => ChildProcess.spawnSync(program, [option], { timeout: 20_000 }).status === 0)

/** Those in which root differs from an ordinary user; all others are that user's alone. */
const ofRoot = ["git", "npm", "gdb", "strace", "tmux"]

export const work = (title: string, ground: string): void => {
  const isRoot = process.getuid?.() === 0
  // What npm hands down to what it starts, as these tests.
  delete process.env["npm_config_cache"]
  const sandboxed = sandboxedOn(ground)
  const run = (command: string, unixSockets: boolean) =>
    sandboxed(({ execute }, { outside }) => {
      Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy: { unixSockets } }))
      return execute(command)
    })

  describe(title, () => {
    for (const [name, { bySocket, command, gives, needs }] of Object.entries(workflows)) {
      if (isRoot && !ofRoot.includes(name)) continue
      const works = bySocket === true ? "works with unix sockets, and not without" : "works"
      it.live.skipIf(!needs.every(runs))(`${name} ${works}`, () =>
        Effect.gen(function* () {
          if (bySocket === true) assert.notInclude((yield* run(command, false)).stdout, gives)
          const { stderr, stdout } = yield* run(command, bySocket === true)
          assert.strictEqual(stdout, gives, stderr)
        })
      )
    }
  })
}
