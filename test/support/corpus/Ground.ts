/** The directory in which the corpus's calls run: a small project under git, the same on every machine. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const files: Readonly<Record<string, string>> = {
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "one\ndeux\nthree\n",
  "big.txt": Array.from({ length: 400 }, (_, at) => `line ${at + 1}\n`).join(""),
  "check.sh":
    "#!/bin/bash\nfor i in 1 2 3 4 5; do echo \"FAILED test_$i\"; done\necho '5 failed, 2 passed' >&2\nexit 1\n",
  "serve.sh": "#!/bin/bash\necho listening\nsleep 300\n",
  "crlf.txt": "one\r\ntwo\r\nthree\r\n",
  "data.json": '{"name": "demo", "count": 3}\n',
  "empty.txt": "",
  "long.txt": `${"x".repeat(3000)}\nshort\n`,
  "many.txt": "x\nx\ny\nx\n",
  Makefile: "all:\n\t@echo made\n",
  "script.py": "print('hi')\n",
  "src/config.ts": "export const port = 80\nexport const host = 'localhost'\n",
  "src/main.ts": 'import { port } from "./config.js"\n\nconsole.log(port)\n'
}

/** Programs that not every machine has, or that say another thing on each. */
const programs: Readonly<Record<string, string>> = {
  make: "echo made $1\n",
  npm: "echo '> test'; echo '1 failing' >&2; exit 1\n",
  pytest: "for i in 1 2 3 4 5; do echo \"FAILED test_$i\"; done; echo '5 failed, 2 passed'; exit 1\n"
}

const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** The root's directories: `work` is the project, `user` the home directory of the user, `tmp` the system's temporary one. */
export interface Ground {
  readonly root: string
  readonly work: string
  readonly user: string
  readonly tmp: string
}

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  ChildProcess.execFileSync(
    "git",
    ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main", ...args],
    { cwd, stdio: "pipe", env: { ...process.env, ...environment } }
  )

/** What git is not to take from the machine. */
export const environment = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_DATE: "2020-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2020-01-01T00:00:00Z",
  LC_ALL: "C.UTF-8"
}

/** The directories of programs: the first lies in the project, since a sandbox shows nothing else of where the tests lie. */
export const pathOf = (work: string): string => `${work}/.bin:/usr/local/bin:/usr/bin:/bin`

const groundOf = (root: string): Ground => ({
  root,
  work: `${root}/work`,
  user: `${root}/user`,
  tmp: `${root}/tmp`
})

let made: string | undefined

/** Makes the directories and files below an empty one. */
export const prepare = (root: string): Ground => {
  // Git takes ten times as long as a copy of what it makes. Gone with the whole run.
  made ??= make(Fs.mkdtempSync(Path.join(Path.dirname(Os.tmpdir()), "synapse-ground-")))
  Fs.cpSync(made, root, { recursive: true })
  return groundOf(root)
}

const make = (root: string): string => {
  const ground = groundOf(root)
  for (const directory of [`${ground.work}/.bin`, ground.tmp, `${ground.user}/.ssh`, `${ground.work}/src`]) {
    Fs.mkdirSync(directory, { recursive: true })
  }
  for (const [name, content] of Object.entries(files)) Fs.writeFileSync(Path.join(ground.work, name), content)
  Fs.writeFileSync(
    `${ground.work}/blob.bin`,
    Uint8Array.from({ length: 500 }, (_, at) => (at * 7) % 256)
  )
  Fs.writeFileSync(`${ground.work}/image.png`, Buffer.from(image, "base64"))
  for (const [name, script] of Object.entries(programs)) {
    Fs.writeFileSync(`${ground.work}/.bin/${name}`, `#!/bin/bash\n${script}`, { mode: 0o755 })
  }
  for (const name of ["check.sh", "serve.sh"]) Fs.chmodSync(`${ground.work}/${name}`, 0o755)
  Fs.writeFileSync(`${ground.user}/.ssh/id_rsa`, "key\n")
  git(ground.work, "init", "-q", "--template=")
  Fs.mkdirSync(`${ground.work}/.git/info`)
  Fs.writeFileSync(`${ground.work}/.git/info/exclude`, ".bin\n")
  git(ground.work, "add", ".")
  git(ground.work, "commit", "-q", "-m", "Begin")
  git(ground.work, "repack", "-adq")
  Fs.writeFileSync(`${ground.work}/.env`, "PASSWORD=1\n")
  Fs.appendFileSync(`${ground.work}/a.txt`, "four\n")
  return root
}
