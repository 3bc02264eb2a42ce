/** What `synapse sandbox explain` says is what commands meet. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

const program = Path.resolve("dist/bin/synapse.cjs")

/** A word of a shell, in which it may be no UTF-8. */
const rows: ReadonlyArray<readonly [word: string, says: RegExp]> = [
  ["d/x", /^denied to read \S*\/d\/x: rule \*\*\/\.env: the same as what the rule names, under another name: /],
  ["hard", /^denied to read \S*\/hard: rule \*\*\/\.env: the same as /],
  ["plain", /^allowed to read /],
  ["/run/lock", /^denied to read \/run\/lock.*: in the sandbox, \/run is its own, empty at first: what it holds /],
  ["--write /run/x", /^denied to write \/run\/x: in the sandbox, \/run is its own, .* goes with the session$/m],
  ["--write /dev/shm/x", /^denied to write \/dev\/shm\/x: in the sandbox, \/dev\/shm is its own/],
  ["--write /tmp/synapse-$UID", /^denied to write \/tmp\/synapse-\d+.*: \S+ is for the private files of sessions/],
  ["~/.synapse/skills/a/SKILL.md", /^allowed to read \S*: of Synapse's own files, commands see this$/m],
  ["--write ~/.synapse/skills/a/SKILL.md", /^denied to write .*: read-only \(Synapse itself\)$/m],
  ["~/.synapse/tool-cache/*", /^allowed to read \S*: of Synapse's own files, commands see this$/m],
  ["--write ~/.synapse/tool-cache/*", /^allowed to write .*: the caches of tools$/m],
  ["~/.ssh/config", /^allowed to read \S*: rule \S*\/\.ssh\/config: sandbox\.json$/m],
  ["~/.ssh/key", /^denied to read .*: rule ~\/\.ssh: on the blacklist \(built in\)$/m],
  ["~/.synapse/run/x", /^denied to read .*is for the private files of sessions, and no sandbox shows it$/m],
  ["closed/x", /^denied to read .*: (?:the rights of the file, or of a directory around it, |.*it can't be searched )/],
  ["--write closed", /^denied to write .*: (?:the rights of the file|.*it can't be searched )/],
  ["--write q/.envrc", /^denied to write .*\nNothing is there: the rule refuses commands that name it, and hides /],
  ["--write new/.env", /^denied to write .*\nNothing is there: /],
  ["--write q/.env", /^denied to write [^\n]*\nTo let commands use it: synapse sandbox [^\n]*\n$/],
  ["--write vault/new", /^denied to write [^\n]*\nTo let commands use it: synapse sandbox [^\n]*\n$/],
  ["--write /nosuchplace/x", /^denied to write .*: rule \/nosuchplace: it counts once \/nosuchplace exists/],
  ["$'p\\xff/.env'", /^denied to read .*: rule \*\*\/\.env: on the blacklist/],
  ["$'h\\xff'", /^denied to read .*: the same as what the rule names/]
]

/** The rows that a user's rights or name decide. */
const ofUsers = /closed|\/tmp\/synapse|hard/

export const explained = (title: string, isSecond = false): void => {
  describe(title, () => {
    it("says what is enforced", () =>
      Temporary.using(async (made) => {
        // The program, which other files of ordinary users are not to wait for.
        const InProcess = await import("../support/cli/InProcess.js")
        const root = Fs.realpathSync(made)
        const [home, project] = [`${root}/home`, `${root}/project`]
        for (const each of [
          `${home}/.ssh`,
          `${home}/.synapse/skills/a`,
          `${project}/q`,
          `${project}/d`,
          `${project}/vault`
        ]) {
          Fs.mkdirSync(each, { recursive: true })
        }
        for (const name of ["d/x", ".env", "plain", "vault/key"]) Fs.writeFileSync(`${project}/${name}`, "x")
        Fs.symlinkSync("../d/x", `${project}/q/.env`)
        Fs.symlinkSync("nowhere", `${project}/q/.envrc`)
        Fs.linkSync(`${project}/.env`, `${project}/hard`)
        for (const name of [".synapse/skills/a/SKILL.md", ".ssh/config", ".ssh/key"])
          Fs.writeFileSync(`${home}/${name}`, "x")
        Fs.mkdirSync(`${project}/closed`, { mode: 0o755 })
        const filesystem = { whitelist: ["/nosuchplace"], blacklist: [`${project}/vault`], readable: ["~/.ssh/config"] }
        Fs.writeFileSync(`${home}/.synapse/sandbox.json`, JSON.stringify({ policy: { filesystem } }))
        const env = { ...process.env, HOME: home, PWD: project, SYNAPSE_HOME: `${home}/.synapse` }
        const shell = (script: string) =>
          ChildProcess.spawnSync("bash", ["-c", script], { cwd: project, encoding: "utf8", env })
        /** Only a program has words that are no UTF-8. */
        const explain = async (word: string) => {
          if (word.includes("\\xff")) {
            const { status, stderr, stdout } = shell(`${process.execPath} ${program} sandbox explain ${word}`)
            return { exitCode: status, stderr, stdout }
          }
          const words = shell(`printf '%s\\n' ${word}`).stdout.trimEnd().split("\n")
          return InProcess.run(["sandbox", "explain", ...words], project, env)
        }
        // A session makes the directory of the tools' caches.
        const used =
          "cat ~/.synapse/skills/a/SKILL.md ~/.ssh/config && cd ~/.synapse/tool-cache/* && echo x >x && cat x"
        assert.strictEqual(shell(`${process.execPath} ${program} exec '${used}'`).stdout, "xxx\n")
        const byte = shell("mkdir $'p\\xff' && touch $'p\\xff/.env' && ln .env $'h\\xff'").status === 0
        Fs.chmodSync(`${project}/closed`, 0)
        try {
          for (const [word, says] of rows) {
            if ((word.includes("\\xff") && !byte) || (isSecond && !ofUsers.test(word))) continue
            const { exitCode, stderr, stdout } = await explain(word)
            assert.match(stdout, says, `${word}: ${stderr}`)
            assert.strictEqual(exitCode, stdout.startsWith("allowed") ? 0 : 1, word)
          }
        } finally {
          Fs.chmodSync(`${project}/closed`, 0o755)
        }
      }))
  })
}
