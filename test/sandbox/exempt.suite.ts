/** What a built-in rule hides no more: paths that the user names, directories, and files whose content git holds. */
import { execFileSync, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Permission from "../../src/sandbox/permission/Permission.js"
import { allowing, type Manager, sandboxedOn } from "../support/sandbox/LocalApp.js"

const env = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" }
const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, env, stdio: "pipe" })

const named = (names: { readonly readable?: ReadonlyArray<string>; readonly whitelist?: ReadonlyArray<string> }) => ({
  settings: { ...names }
})

/** Runs the lines, one after the other, and returns what they printed. */
const printed = ({ execute }: Manager, lines: ReadonlyArray<string>) =>
  Effect.forEach(lines, (line) =>
    Effect.match(execute(line), { onFailure: ({ _tag }) => _tag, onSuccess: ({ stdout }) => stdout })
  )

export const exempt = (title: string, ground: string): void => {
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    it.live("a path that the user names can be read, and is not written", () =>
      sandboxed(
        (manager, { project }) => {
          Fs.mkdirSync(`${project}/sub`)
          for (const name of [".env", ".env.local"]) Fs.writeFileSync(`${project}/sub/${name}`, "OTHER=1\n")
          Fs.symlinkSync("sub/.env.local", `${project}/link`)
          const lines = [
            "cat .env",
            "e=.env; echo x 2>/dev/null >>$e; cat $e",
            "cat sub/.env",
            "cat link sub/.env.local",
            "e=sub/.env; cat $e.local"
          ]
          return Effect.gen(function* () {
            assert.deepStrictEqual(yield* printed(manager, lines), [
              "TOKEN=1\n",
              "TOKEN=1\n",
              "Blocked",
              "OTHER=1\nOTHER=1\n",
              "OTHER=1\n"
            ])
            // node calls a file missing that it can't open.
            const called = yield* manager.execute("node --env-file=sub/.env -e 0")
            assert.include(called.denied?.what, "sub/.env is blocked by rule **/.env", called.stderr)
          })
        },
        named({ readable: [".env", "link"] })
      )
    )

    it.live("a file of the machine's /tmp that the user names can be read, and is not written", () => {
      const directory = Fs.mkdtempSync("/tmp/exempt-")
      for (const name of ["x", "meanwhile"]) Fs.writeFileSync(`${directory}/${name}`, "machine\n")
      return sandboxed(
        (manager) =>
          Effect.gen(function* () {
            const got = yield* printed(manager, [
              `cat ${directory}/x`,
              `echo y >${directory}/x; cat ${directory}/x`,
              "echo z >/tmp/z; cat /tmp/z"
            ])
            assert.deepStrictEqual(got, ["machine\n", "machine\n", "z\n"])
            const meanwhile = `${directory}/meanwhile`
            yield* manager.allow(meanwhile, "read")
            const written = yield* manager.execute(`echo y >${meanwhile}`)
            assert.strictEqual(written.denied?.what, `${meanwhile} is allowed to be read only`)
            const removed = yield* manager.execute(`rm ${meanwhile}`)
            assert.match(removed.denied?.what ?? "", /meanwhile is allowed, but as a mount point/)
          }),
        named({ readable: [`${directory}/x`] })
      ).pipe(Effect.ensuring(Effect.sync(() => Fs.rmSync(directory, { recursive: true }))))
    })

    it.live("a path on the whitelist is written as well, also in a hidden directory", () =>
      sandboxed(
        (manager, { outside }) => {
          Fs.writeFileSync(`${outside}/user/.ssh/known_hosts`, "a\n")
          const lines = [
            "echo X=2 >>.env; cat .env",
            `echo b >>${outside}/user/.ssh/known_hosts; cat ${outside}/user/.ssh/known_hosts`,
            `cat ${outside}/user/.ssh/id_rsa`,
            `ls ${outside}/user/.ss*`
          ]
          return Effect.map(printed(manager, lines), (got) =>
            assert.deepStrictEqual(got, ["TOKEN=1\nX=2\n", "a\nb\n", "Blocked", "known_hosts\n"])
          )
        },
        named({ whitelist: [".env", "~/.ssh/known_hosts"] })
      )
    )

    it.live("S64: a path that the user's own blacklist names as well is blocked", () =>
      sandboxed(
        (manager) => Effect.map(printed(manager, ["cat .env"]), (got) => assert.deepStrictEqual(got, ["Blocked"])),
        named({ readable: [".env"], whitelist: [".env"] }),
        [".env"]
      )
    )

    it.live("a place around a secret exempts nothing in it", () =>
      sandboxed(
        (manager, { outside }) =>
          Effect.map(printed(manager, ["cat .env", `cat ${outside}/user/.ssh/id_rsa`]), (got) =>
            assert.deepStrictEqual(got, ["Blocked", "Blocked"])
          ),
        named({ readable: [".", "~"], whitelist: ["."] })
      )
    )

    it.live("a yes for good is kept as a path that may be read", () =>
      sandboxed(
        (manager, { outside }) =>
          Effect.map(printed(manager, ["cat .env"]), (got) => {
            assert.deepStrictEqual(got, ["TOKEN=1\n"])
            const file = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8"))
            assert.deepStrictEqual(file.policy.filesystem, { readable: [`${Fs.realpathSync(outside)}/project/.env`] })
          }),
        allowing("allow_permanent")
      )
    )

    it.live("a directory that a built-in pattern names is used, and secrets in it stay hidden", () =>
      sandboxed((manager, { project }) => {
        Fs.mkdirSync(`${project}/venv/.env/bin`, { recursive: true })
        Fs.writeFileSync(`${project}/venv/.env/bin/tool`, "#!/bin/sh\necho ran\n", { mode: 0o755 })
        Fs.writeFileSync(`${project}/venv/.env/credentials.json`, "secret\n")
        Fs.symlinkSync(".env", `${project}/venv/.env.local`)
        const lines = [
          "cd venv; .env/bin/tool",
          ".env.local/bin/tool",
          "cat .env.local/bin/tool | head -n 1",
          "ls .env",
          "c=credentials; cat .env/$c.json",
          "mkdir new; mv .env new/; cat new/.env/$c.json; new/.env/bin/tool"
        ]
        return Effect.map(printed(manager, lines), (got) =>
          assert.deepStrictEqual(got, ["ran\n", "ran\n", "#!/bin/sh\n", "bin\ncredentials.json\n", "", "ran\n"])
        )
      })
    )

    it.live.skipIf(spawnSync("git", ["--version"]).status !== 0)(
      "a file whose content git holds is visible, and git does its work beside it",
      () =>
        sandboxed((manager, { project }) => {
          const repository = `${project}/repository`
          Fs.mkdirSync(`${repository}/fix`, { recursive: true })
          git(repository, "init", "-q")
          for (const [key, value] of Object.entries({ "user.name": "a", "user.email": "a@b" }))
            git(repository, "config", key, value)
          for (const n of [1, 2]) {
            Fs.writeFileSync(`${repository}/fix/.env`, `N=${n}\n`)
            Fs.writeFileSync(`${repository}/a`, `${n}\n`)
            git(repository, "add", "-f", ".")
            git(repository, "commit", "-qm", String(n))
          }
          Fs.writeFileSync(`${repository}/.env`, "SECRET=1\n")
          const lines = [
            "cd repository; cat fix/.env; git status --short -uno",
            "git reset -q --hard HEAD~1; cat fix/.env a; git status --short -uno",
            "git reset -q --hard ORIG_HEAD; echo N=3 >fix/.env; git stash -q; cat fix/.env; git stash pop -q; cat fix/.env",
            "git commit -qam three; git checkout -q HEAD~1; cat fix/.env; git checkout -q -; git status --short -uno",
            "s=.env; cat $s 2>/dev/null; git hash-object $s 2>/dev/null"
          ]
          return Effect.map(printed(manager, lines), (got) =>
            assert.deepStrictEqual(got, ["N=2\n", "N=1\n1\n", "N=2\nN=3\n", "N=2\n", ""])
          )
        })
    )

    it.live("nobody is asked for what a program meets on its way through directories", () => {
      const asked: Array<string> = []
      const answer = ({ command }: Permission.PermissionRequest) =>
        Effect.sync((): Permission.Answer => {
          asked.push(command)
          return "deny"
        })
      return sandboxed(
        (manager, { project }) =>
          Effect.gen(function* () {
            Fs.writeFileSync(`${project}/other`, "TOKEN\n")
            const met = [
              "grep -rl TOKEN .",
              "find . -type f -exec cat {} +",
              "cp -r . /tmp/copy",
              "tar cf /tmp/x.tar .",
              "find . -type f | xargs head -n 1"
            ]
            for (const command of met) {
              const { stdout, denied } = yield* manager.execute(command)
              assert.include(denied?.what, `${project}/.env is blocked by rule **/.env`, command)
              assert.deepStrictEqual(denied?.advice, [], command)
              if (command.startsWith("grep")) assert.strictEqual(stdout, "./other\n")
            }
            assert.deepStrictEqual(asked, [])
            const direct = ["f=.en; cat ${f}v", "grep TOKEN .e*", "grep -r TOKEN . .env"]
            for (const command of direct) yield* Effect.ignore(manager.execute(command))
            assert.deepStrictEqual(asked, direct)
          }),
        { permission: Permission.layerCallback(answer) }
      )
    })

    it.live.skipIf(spawnSync("git", ["--version"]).status !== 0)(
      "git does not begin what it could not end at a hidden file, which its index has, and is told what does the rest",
      () =>
        sandboxed((manager, { project }) => {
          const repository = `${project}/repository`
          Fs.mkdirSync(`${repository}/fix`, { recursive: true })
          git(repository, "init", "-q")
          for (const n of [1, 2]) {
            Fs.writeFileSync(`${repository}/fix/.env`, `N=${n}\n`)
            Fs.writeFileSync(`${repository}/a`, `${n}\n`)
            Fs.writeFileSync(`${repository}/only-${n}`, "")
            git(repository, "add", "-fA", ".")
            git(repository, "commit", "-qm", String(n))
            Fs.rmSync(`${repository}/only-${n}`)
          }
          Fs.writeFileSync(`${repository}/fix/.env`, "N=secret\n")
          Fs.writeFileSync(`${repository}/a`, "3\n")
          const head = git(repository, "rev-parse", "HEAD").toString()
          const state = () =>
            git(repository, "status", "--short").toString() + git(repository, "rev-parse", "HEAD").toString()
          const before = state()
          const rest = (revision: string) =>
            `git restore --source=${revision} --staged --worktree -- ':/' ':!/fix/.env'`
          return Effect.gen(function* () {
            for (const [command, told] of [
              ["git reset --hard HEAD", `${rest("HEAD")} does the rest.`],
              [
                "cd repository && git fetch -q .; git reset -q --hard HEAD~1",
                `${rest("'HEAD~1'")} && git reset -q 'HEAD~1' does the rest.`
              ],
              ["sh -c 'cd repository; git reset --hard'", undefined],
              [
                "(cd repository/fix; exec git -c a.b=c reset --hard $(git rev-parse HEAD))",
                "git would stop there in the middle. Do"
              ],
              ["git -C repository read-tree -u --reset HEAD~1", "git would stop there in the middle. Do"],
              ["cd repository; mkdir d; git mv a fix/.env d/", "git would stop there in the middle. Do"]
            ] as const) {
              const exit = yield* Effect.flip(
                manager.execute(command.startsWith("git reset") ? `cd repository; ${command}` : command)
              )
              assert.strictEqual(exit._tag, "Blocked", command)
              assert.include(exit.message, told ?? "", command)
              assert.include(exit.message, "fix/.env", command)
              assert.strictEqual(state(), before, command)
            }
            // All others do not begin, or leave the file alone.
            const lines = [
              "cd repository; git checkout HEAD~1 2>&1 | head -n 1",
              "git stash 2>/dev/null; git commit -qam x 2>/dev/null; git rebase HEAD~1 2>/dev/null; git log --oneline | wc -l",
              `${rest("HEAD~1")} && git reset -q HEAD~1; cat a; ls; git status --short`,
              "echo 5 >a; git checkout -q . 2>/dev/null; cat a; git restore . 2>/dev/null; git stash push -q -- ':!/fix/.env'"
            ]
            assert.deepStrictEqual(yield* printed(manager, lines), [
              "error: Your local changes to the following files would be overwritten by checkout:\n",
              "2\n",
              "1\na\nfix\nonly-1\n M fix/.env\n",
              "1\n"
            ])
            assert.strictEqual(Fs.readFileSync(`${repository}/fix/.env`, "utf8"), "N=secret\n")
            git(repository, "reset", "-q", head.trim())
            // What is left to itself by git stops nothing.
            yield* manager.execute("git update-index --skip-worktree fix/.env")
            const left = yield* printed(manager, [
              "git reset -q --hard; git status --short -uno; git log --oneline | wc -l"
            ])
            assert.deepStrictEqual(left, ["2\n"])
            assert.strictEqual(Fs.readFileSync(`${repository}/fix/.env`, "utf8"), "N=secret\n")
          })
        })
    )

    it.live.skipIf(spawnSync("git", ["--version"]).status !== 0)(
      "a file that is only tracked stays hidden, whatever its index entry says",
      () =>
        sandboxed((manager, { project }) => {
          git(project, "init", "-q")
          git(project, "add", "-f", ".env")
          Fs.writeFileSync(`${project}/.env`, "TOKEN=2\n")
          const lines = [
            "e=.env; cat $e 2>/dev/null",
            // A forged entry needs the hash of the content.
            "git update-index --add --cacheinfo 100644,$(echo guess | git hash-object -w --stdin),.env; cat $e 2>/dev/null",
            "git update-index --assume-unchanged .env; cat $e 2>/dev/null"
          ]
          return Effect.map(printed(manager, lines), (got) => assert.deepStrictEqual(got.join(""), ""))
        })
    )
  })
}
