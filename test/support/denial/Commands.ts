/** The corpora of commands in `test/fixtures/denial`, and the app that they run in. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Ground from "../escape/Ground.js"
import type { Place } from "../sandbox/LocalApp.js"

/**
 * A command; `PROJECT`, `OUT` and `USER` stand for the project, for a directory that nothing may write to, and for the
 * user's home directory.
 */
export interface Command {
  readonly command: string
  /** The rule that denies it; a benign command has none. */
  readonly rule?: string
  /** The program that has to be installed. */
  readonly needs?: string
  /** The only user for whom the policy, and nothing else, decides. */
  readonly as?: "root" | "user"
}

/** Reads a corpus: `commands`, which attribution was built with, or `unseen`, which was written before it was looked at. */
export const load = (
  name: "commands" | "unseen"
): { readonly denied: ReadonlyArray<Command>; readonly benign: ReadonlyArray<Command> } =>
  JSON.parse(Fs.readFileSync(Path.resolve(`test/fixtures/denial/${name}.json`), "utf8"))

/** Asked late: a test that is root may become an ordinary user. */
const isRoot = () => process.getuid?.() === 0

/** Tests whether a command means the same on this machine, for this user. */
export const canRun = ({ as, needs }: Command): boolean =>
  (as === undefined || (as === "root") === isRoot()) && (needs === undefined || Ground.has(needs))

/** Whatever git says of an author, and of the machine's own settings, is left out. */
const gitEnvironment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org"
}

const files: Readonly<Record<string, string>> = {
  "project/a.txt": "one\ntwo\n",
  "project/b.txt": "one\ndeux\n",
  "project/.env.example": "TOKEN=\n",
  "project/sub/.env": "TOKEN=2\n",
  "project/sub/text": "x\n",
  "project/src/main.py": "print('hi')\n",
  "project/vault/key.txt": "key\n",
  "project/cert.pem": "pem\n",
  "project/a b/it's.pem": "pem\n",
  "project/main.c": "int main(void) { return 0; }\n",
  "project/broken.c": "int main(void) {\n",
  "project/load.py": "with open('.env') as file:\n    print(file.read())\n",
  "project/run-env.sh": "echo reading\ncat .env\n",
  "project/mcp_servers.json": '{"mcpServers": {}}\n',
  "project/some.patch": "--- there.txt\n+++ there.txt\n@@ -1 +1 @@\n-there\n+here\n",
  "project/Makefile": "fail:\n\t@echo failing; false\n",
  "project/package.json":
    '{"name": "demo", "version": "1.0.0", "scripts": {"lint": "node tests/lint.mjs", "test": "node --test tests/denied.test.mjs", "network": "node tests/network.mjs"}}\n',
  "project/pkg/package.json": '{"name": "pkg", "version": "1.0.0", "bin": "x.js"}\n',
  "project/pkg/x.js": "#!/usr/bin/env node\n",
  "project/tests/expected.txt": "cat: .env: Permission denied\n",
  "project/tests/prints.sh":
    "echo 'ok 1 - works'\necho 'cat: .env: Permission denied' >&2\necho 'not ok 2 - fails'\nexit 1\n",
  "project/tests/quoted.sh": "echo 'expected: \"cat: .env: Permission denied\"' >&2\nexit 1\n",
  "project/tests/notexec.sh": "true\n",
  "project/tests/lint.mjs":
    "import * as Dgram from 'node:dgram'\n// A check for updates, of which nothing is said.\nconst socket = Dgram.createSocket('udp4')\nsocket.on('error', () => {})\nsocket.send('x', 53, '1.1.1.1', () => {\n  socket.close()\n  console.error('src/main.ts:1:1 error  no-unused-vars')\n  process.exitCode = 1\n})\n",
  "project/tests/network.mjs": "console.error('2 problems')\nfetch('http://1.1.1.1').catch(() => process.exit(1))\n",
  "project/tests/fail.test.mjs":
    "import { test } from 'node:test'\ntest('fails', () => { throw new Error('EACCES: permission denied') })\n",
  "project/tests/denied.test.mjs":
    "import { test } from 'node:test'\ntest('prints', () => {\n  process.stderr.write('cat: .env: Permission denied\\n')\n  throw new Error('no')\n})\n",
  "project/tests/print_denied.py":
    "import sys, unittest\nclass T(unittest.TestCase):\n  def test(self):\n    sys.stderr.write('cat: .env: Permission denied\\n')\n    self.fail('no')\nunittest.main()\n",
  "project/tests/test_fail.py":
    "import unittest\nclass T(unittest.TestCase):\n  def test(self):\n    self.assertEqual('cat: .env: Permission denied', '')\n",
  "user/.ssh/id_rsa": "key\n",
  "user/.aws/credentials": "key\n",
  "user/.gnupg/x": "",
  "elsewhere/there.txt": "there\n",
  "elsewhere/dir/file": "x\n"
}

/** What scripts of a project do, in the languages they are written in. */
const scripts: Readonly<Record<string, string>> = {
  "project/app.log":
    "10:02:11 [error] 31#31: open() \"/var/www/x\" failed (13: Permission denied)\n10:02:12 EACCES: permission denied, open '/srv/app.conf'\n",
  "project/docs/errors.txt": "EACCES: permission denied, open '.env'\n",
  "project/tools/deploy.sh": "set -e\necho deploying\ncp src/main.py OUT/main.py\n",
  "project/tools/setup.sh": "mkdir -p OUT/logs\ntouch OUT/logs/app.log\n",
  "project/tools/keys.sh": 'for key in USER/.ssh/id_*; do ssh-keygen -lf "$key"; done\n',
  "project/tools/settings.py":
    "class Settings:\n    def load(self):\n        try:\n            return open('.env').read()\n        except OSError as e:\n            raise RuntimeError('cannot load settings') from e\nSettings().load()\n",
  "project/tools/report.py":
    "import sys\ntry:\n    print(open('vault/key.txt').read())\nexcept OSError as e:\n    sys.exit(f'report: {e}')\n",
  "project/tools/spawn.py": "import subprocess\nsubprocess.run(['cat', '.env'], check=True)\n",
  "project/tools/upload.py":
    "import urllib.request\nurllib.request.urlopen('https://upload.example.com', data=b'x', timeout=5)\n",
  "project/tools/auth.py": "import sys\nprint('403 Permission denied for user ada')\nsys.exit(1)\n",
  "project/tools/load.pl":
    'use strict;\nopen(my $fh, "<", "vault/key.txt") or die "load: cannot read vault/key.txt: $!\\n";\nprint <$fh>;\n',
  "project/tools/load.tcl": "set f [open .env]\nputs [read $f]\n",
  "project/tools/Load.java":
    'import java.nio.file.*;\nclass Load {\n  public static void main(String[] args) throws Exception {\n    System.out.println(Files.readString(Path.of(".env")));\n  }\n}\n',
  "project/tools/main.c":
    '#include <stdio.h>\nint main(void) {\n  FILE *f = fopen(".env", "r");\n  if (!f) { perror("main: .env"); return 1; }\n  return 0;\n}\n',
  "project/tools/undefined.c": "int nosuch(void);\nint main(void) { return nosuch(); }\n",
  "project/tools/main.rs":
    'fn main() {\n    let text = std::fs::read_to_string(".env").expect("cannot read .env");\n    println!("{text}");\n}\n',
  "project/tools/broken.rs": 'fn main() { let x: u8 = "a"; }\n',
  "project/tools/broken.sh": "if true; then\n",
  "project/tools/bad.js": "const = 1\n",
  "project/tools/sub.js": "require('child_process').execSync('cat .env')\n",
  "project/tools/http403.mjs":
    "import * as Http from 'node:http'\nconst server = Http.createServer((_, answer) => answer.writeHead(403).end('permission denied')).listen(0, '127.0.0.1', async () => {\n  const answer = await fetch(`http://127.0.0.1:${server.address().port}`)\n  console.error(answer.status, await answer.text())\n  process.exit(1)\n})\n",
  "project/tools/Makefile":
    "-include none.mk\nenv:\n\t. ../.env && echo $$TOKEN\ninstall:\n\tinstall -m 644 ../a.txt OUT/a.txt\nnet:\n\tcurl -fsSL https://example.com/data.json -o data.json\nbad:\n\tfalse\nnoperm:\n\t./deploy.sh\n",
  "project/tests/test_perm.py":
    "import unittest\nfrom unittest import mock\nclass T(unittest.TestCase):\n  def test(self):\n    with mock.patch('builtins.open', side_effect=PermissionError(13, 'Permission denied', '/srv/app.conf')):\n      open('/srv/app.conf')\nunittest.main()\n",
  "project/web/package.json":
    '{"name": "web", "version": "1.0.0", "scripts": {"build": "node build.mjs", "config": "node config.mjs", "release": "cp build.mjs OUT/web.mjs", "fetch": "node fetch.mjs", "test": "node --test check.test.mjs"}}\n',
  "project/web/build.mjs":
    "import * as Fs from 'node:fs'\nconst env = Fs.readFileSync(new URL('../.env', import.meta.url), 'utf8')\nconsole.log(env.length)\n",
  "project/web/config.mjs":
    "import { readFile } from 'node:fs/promises'\ntry {\n  await readFile(new URL('../.env', import.meta.url))\n} catch (error) {\n  console.error(`config: ${error.message}`)\n  process.exitCode = 1\n}\n",
  "project/web/fetch.mjs":
    "try {\n  await fetch('http://example.com/data.json')\n} catch (error) {\n  console.error(`fetch failed: ${error.cause?.code ?? error.message}`)\n  process.exitCode = 1\n}\n",
  "project/web/server.mjs":
    "import * as Net from 'node:net'\nNet.createServer().listen('/tmp/app.sock', () => console.log('listening'))\n",
  "project/web/check.test.mjs":
    "import { test } from 'node:test'\nimport assert from 'node:assert'\ntest('refuses', () => assert.match('EPERM: operation not permitted', /granted/))\n"
}

/** What the commands leave behind. */
const leftBehind = /^(?:new|x[a-z]{2}$|z$|other$|part|\.npm|\.cargo|node_modules|package-lock)/

/** Puts the files there; returns the text of a command, with the names of this place. */
export const settle = ({ outside, project }: Place): ((command: string) => string) => {
  const textOf = (text: string) =>
    text
      .replaceAll("PROJECT", project)
      .replaceAll("OUT/", `${outside}/elsewhere/`)
      .replaceAll(/\bOUT\b/g, `${outside}/elsewhere`)
      .replaceAll(/\bUSER\b/g, `${outside}/user`)
  for (const [name, text] of Object.entries({ ...files, ...scripts })) {
    Fs.mkdirSync(Path.dirname(`${outside}/${name}`), { recursive: true })
    Fs.writeFileSync(`${outside}/${name}`, textOf(text))
  }
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    ChildProcess.spawnSync(program, args, { cwd: project, env: gitEnvironment })
  Fs.mkdirSync(`${outside}/elsewhere/empty`)
  Fs.symlinkSync(".env", `${project}/link`)
  Fs.symlinkSync("../user/.ssh", `${project}/keys`)
  Fs.writeFileSync(`${project}/own`, "mine\n", { mode: 0 })
  run("tar", "cf", "some.tar", "a.txt")
  run("zip", "-q", "some.zip", "a.txt")
  run("sqlite3", `${outside}/elsewhere/there.db`, "create table there(a)")
  run("git", "init", "-q", "-b", "main", ".")
  run("git", "config", "user.name", "Ada")
  run("git", "config", "user.email", "ada@example.org")
  run("git", "add", "a.txt", "src")
  run("git", "commit", "-qm", "first")
  run("git", "init", "-q", "--bare", "-b", "main", `${outside}/elsewhere/bare.git`)
  return textOf
}

/** Removes what the last command left behind. */
export const tidy = ({ project }: Place): void => {
  for (const name of Fs.readdirSync(project).filter((name) => leftBehind.test(name))) {
    Fs.rmSync(`${project}/${name}`, { recursive: true, force: true })
  }
}
