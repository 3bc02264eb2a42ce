/** The corpus of commands in `test/fixtures/denial/commands.json`, and the house that they run in. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Ground from "../escape/Ground.js"
import type { Place } from "../sandbox/LocalHouse.js"

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

export const load = (): { readonly denied: ReadonlyArray<Command>; readonly benign: ReadonlyArray<Command> } =>
  JSON.parse(Fs.readFileSync(Path.resolve("test/fixtures/denial/commands.json"), "utf8"))

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

/** What the commands leave behind. */
const leftBehind = /^(?:new|x[a-z]{2}$|z$|other$|part|\.npm|\.cargo|node_modules|package-lock)/

/** Puts the files there; returns the text of a command, with the names of this place. */
export const settle = ({ outside, project }: Place): ((command: string) => string) => {
  for (const [name, text] of Object.entries(files)) {
    Fs.mkdirSync(Path.dirname(`${outside}/${name}`), { recursive: true })
    Fs.writeFileSync(`${outside}/${name}`, text)
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
  return (command) =>
    command
      .replaceAll("PROJECT", project)
      .replaceAll("OUT/", `${outside}/elsewhere/`)
      .replaceAll(/\bOUT\b/g, `${outside}/elsewhere`)
      .replaceAll(/\bUSER\b/g, `${outside}/user`)
}

/** Removes what the last command left behind. */
export const tidy = ({ project }: Place): void => {
  for (const name of Fs.readdirSync(project).filter((name) => leftBehind.test(name))) {
    Fs.rmSync(`${project}/${name}`, { recursive: true, force: true })
  }
}
