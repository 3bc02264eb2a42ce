/** What must go on working, and is not to be called blocked: as it stands, with the preflight before it. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { has } from "../support/escape/Ground.js"
import { World, layer as worldLayer, write } from "../support/escape/World.js"

interface Benign {
  readonly command: string
  /** 0 where it is not given. */
  readonly exitCode?: number
  readonly stdout?: RegExp
  readonly needs?: string
  /** Root is stopped by nothing there. */
  readonly ordinary?: boolean
}

const git = "git -c user.name=x -c user.email=x@example.com"

const commands: ReadonlyArray<Benign> = [
  { command: "git init -q repo && cd repo && git status -s && cd ..", needs: "git" },
  {
    command: `cd repo && echo .env > .gitignore && git add . && ${git} commit -qm 'ignore .env' && cd ..`,
    needs: "git"
  },
  { command: "cd repo && git log --oneline | grep 'ignore .env'; git check-ignore .env; cd ..", needs: "git" },
  { command: 'echo "see ~/.ssh and ~/.aws/credentials"', stdout: /~\/\.ssh/ },
  { command: "echo 'cat .env: Permission denied' > log && grep 'Permission denied' log", stdout: /denied/ },
  { command: "grep -c 'Permission denied' README", exitCode: 1, stdout: /^0$/m },
  { command: "echo 'open: Permission denied' >&2; echo 'Read-only file system' >&2; false", exitCode: 1 },
  { command: "npm -v", needs: "npm", stdout: /^\d+\./ },
  { command: "node -e 'console.log(1 + 1)'", needs: "node", stdout: /^2$/m },
  { command: "python3 -m venv --without-pip venv && venv/bin/python -c 'print(1)'", needs: "python3", stdout: /^1$/m },
  {
    command: "python3 -c 'import multiprocessing as m; print(sum(m.Pool(2).map(abs, [-1, -2])))'",
    needs: "python3",
    stdout: /^3$/m
  },
  { command: "tar czf t.tgz README && tar tzf t.tgz", stdout: /README/ },
  { command: "find . -name README -print", stdout: /README/ },
  { command: "ls .. && ls / >/dev/null", stdout: /project/ },
  { command: "touch own && chmod 000 own && cat own", exitCode: 1, ordinary: true },
  {
    command: "printf '#include <stdio.h>\\nint main(void){puts(\"built\");}' > m.c && gcc m.c -o m && ./m",
    needs: "gcc",
    stdout: /built/
  },
  { command: "printf 'all:\\n\\t@echo made\\n' > Makefile && make -s", needs: "make", stdout: /made/ },
  { command: "printf 'b\\na\\n' | sort", stdout: /^a\nb$/m },
  { command: "cp README r && sed -i s/read/reread/ r && cat r", stdout: /reread/ },
  { command: 'f=$(mktemp) && echo x > "$f" && cat "$f" && rm "$f"', stdout: /x/ },
  { command: "ln -sf README link && cat link && ln -f README hardlink && cat hardlink", stdout: /read me/ },
  { command: "(sleep 0.01; echo done > job) & wait; cat job", stdout: /done/ },
  { command: "mkfifo pipe; (echo through > pipe &); cat pipe; rm pipe", stdout: /through/ },
  { command: "diff <(echo a) <(echo a) && echo same", stdout: /same/ },
  { command: "umask 077; mkdir -p a/b && chmod -R 700 a && mv a c && rm -rf c" },
  { command: "head -c 16 /dev/urandom | od -An -tx1 | wc -l; echo x > /dev/null", stdout: /1/ },
  {
    command: "perl -e 'socketpair(A, B, 1, 1, 0) or die; syswrite(A, \"pair\\n\"); sysread(B, $x, 5); print $x'",
    needs: "perl",
    stdout: /pair/
  },
  {
    command: `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die $!; if (!fork) { my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport) or die $!; print $c "loop\\n"; exit } print scalar readline $s->accept'`,
    needs: "perl",
    stdout: /loop/
  },
  { command: "cat missing", exitCode: 1 },
  { command: "test -r README && test ! -e nothing && id -u && date +%Y && uname -s", stdout: /Linux/ },
  { command: "cp -r . ../nowhere 2>/dev/null || echo 'no such luck'", stdout: /luck/ },
  { command: "ls -la . >/dev/null; du -s README; stat README >/dev/null; file README >/dev/null 2>&1 || true" }
]

export const benign = (ground: string): void => {
  describe("what is benign", () => {
    const skipped = commands.filter(
      ({ needs, ordinary }) => (ordinary === true && process.getuid?.() === 0) || (needs !== undefined && !has(needs))
    )
    for (const { command, needs } of skipped)
      it.skip(`${command} (${needs === undefined ? "root reads it" : `no ${needs}`})`)
    layer(worldLayer(ground, { prepare: ({ outside }) => write(`${outside}/plain`, "") }), {
      excludeTestServices: true
    })((it) => {
      for (const one of commands) {
        if (skipped.includes(one)) continue
        it.effect(one.command, () =>
          Effect.gen(function* () {
            const { execute, project } = yield* World
            const result = yield* execute(`cd ${project}; ${one.command}`)
            const { blocked = false, blockedResource, exitCode, stderr, stdout } = result
            assert.deepStrictEqual(
              { blocked, blockedResource, exitCode, stderr: exitCode === (one.exitCode ?? 0) ? "" : stderr },
              { blocked: false, blockedResource: undefined, exitCode: one.exitCode ?? 0, stderr: "" }
            )
            assert.match(stdout, one.stdout ?? /^/)
          })
        )
      }
    })
  })
}
