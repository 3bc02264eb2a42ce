/** Rights that a person gives while a sandbox of this machine runs. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Directory from "../support/sandbox/Directory.js"
import { allowing, sandboxedOn } from "../support/sandbox/LocalApp.js"
import { notices } from "../support/Told.js"

export const grants = (title: string, ground: string, isSecond = false): void => {
  const once = it.live.skipIf(isSecond)
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    it.live("allow_once: opens a file for its command only, and the shell goes on", () =>
      sandboxed(
        ({ execute }) =>
          Effect.gen(function* () {
            assert.strictEqual((yield* execute("cat .env")).stdout, "TOKEN=1\n")
            assert.strictEqual((yield* Effect.flip(execute("cat .env")))._tag, "Blocked")
            yield* execute("kept=1; f=.en")
            assert.deepInclude(yield* execute("cat ${f}v"), { stdout: "", blocked: true, blockedRule: "**/.env" })
            assert.strictEqual((yield* execute("echo $kept; cat .env")).stdout, "1\nTOKEN=1\n")
            const again = yield* execute("cat ${f}v")
            assert.deepInclude(again, { stdout: "", blocked: true })
          }),
        allowing("allow_once", "deny", "deny", "allow_once")
      )
    )

    once("allow_once: is for the command alone, and what runs in the background is stopped until it has ended", () =>
      sandboxed(
        ({ execute }, { outside, project }) =>
          Effect.gen(function* () {
            const loop = `while :; do echo >>ticks; cat "$e" >>seen; echo x >>"$o"; done`
            Fs.writeFileSync(`${outside}/new`, "", { mode: 0o666 })
            yield* execute(`o=${outside}/new e=.en; e+=v; for _ in 1 2 3; do (${loop}) 2>/dev/null & done; sleep .2`)
            const granted = yield* execute("cat .env; sleep .3")
            assert.strictEqual(granted.stdout, "TOKEN=1\n")
            assert.include((notices(granted) ?? []).join(), "Background processes were stopped meanwhile")
            const before = Fs.statSync(`${project}/ticks`).size
            const write = `echo y >>${outside}/new && sleep .3`
            assert.include(notices(yield* execute(write))?.join(), "once, for this command: run it again")
            assert.strictEqual((yield* execute(write)).exitCode, 0)
            yield* execute("sleep .3; kill %1 %2 %3 2>/dev/null || kill $!")
            assert.strictEqual(Fs.readFileSync(`${outside}/new`, "utf8"), "y\n")
            assert.isAbove(Fs.statSync(`${project}/ticks`).size, before)
            assert.notInclude(Fs.readFileSync(`${project}/seen`, "utf8"), "TOKEN")
          }),
        allowing("allow_once", "allow_once")
      )
    )

    once("allow_once: what was let go on meanwhile is stopped again", () =>
      sandboxed(
        ({ execute }) =>
          Effect.gen(function* () {
            yield* execute("sleep 60 & disown")
            const { stdout } = yield* execute(
              "kill -CONT $!; cat .env; sleep .3; grep -c '^State:.*stopped' /proc/$!/status"
            )
            assert.strictEqual(stdout, "TOKEN=1\n1\n")
            assert.strictEqual((yield* execute("grep -c '^State:.*stopped' /proc/$!/status; kill $!")).stdout, "0\n")
          }),
        allowing("allow_once")
      )
    )

    once("allow_once: lets what runs in the background go on also where the command is cancelled", () =>
      sandboxed(
        ({ execute }, { project }) =>
          Effect.gen(function* () {
            yield* execute("(while :; do echo >>ticks; sleep .01; done) & sleep .1")
            yield* Effect.timeout(execute("cat .env; sleep 60"), "500 millis").pipe(Effect.ignore)
            const before = Fs.statSync(`${project}/ticks`).size
            yield* execute("sleep .3")
            assert.isAbove(Fs.statSync(`${project}/ticks`).size, before)
          }),
        allowing("allow_once")
      )
    )

    once("allow_session: a secret of a hidden directory is open from then on, and nothing beside it", () =>
      sandboxed(
        ({ execute }, { outside }) =>
          Effect.gen(function* () {
            const ssh = `${outside}/user/.ssh`
            Fs.writeFileSync(`${ssh}/other`, "other\n")
            for (let time = 0; time < 3; time++) {
              const { stdout } = yield* execute(`cat ${ssh}/id_rsa; echo $((++times))`)
              assert.strictEqual(stdout, `key\n${time + 1}\n`)
              // Long enough for the masks to be looked at before the next command.
              yield* Effect.sleep("1500 millis")
            }
            assert.strictEqual((yield* Effect.flip(execute(`cat ${ssh}/other`)))._tag, "Blocked")
            assert.deepInclude(yield* execute(`d=${outside}/user; cat $d/.ssh/other`), { stdout: "", exitCode: 1 })
          }),
        allowing("allow_session")
      )
    )

    it.live("keeps the result of a write that was denied; allowed, the next one is not, and the shell goes on", () =>
      sandboxed(
        ({ execute }, { outside }) =>
          Effect.gen(function* () {
            const data = `${outside}/data`
            Fs.mkdirSync(data)
            yield* execute("kept=1")
            const once = `echo before; touch ${data}/once`
            const first = yield* execute(once)
            assert.deepInclude(first, { stdout: "before\n", blocked: true, blockedResource: `${data}/once` })
            assert.match(
              notices(first)?.join() ?? "",
              new RegExp(`Allowed: ${data} once, for this command: run it again`)
            )
            assert.deepInclude(yield* execute(once), { stdout: "before\n", blocked: false, exitCode: 0 })
            assert.deepStrictEqual(Directory.list(data), ["once"])
            const second = yield* execute(`d=${data}; echo before; mkdir $d/a || chmod 700 $d`)
            assert.deepInclude(second, { stdout: "before\n", blocked: true, blockedResource: `${data}/a` })
            assert.deepStrictEqual(Directory.list(data), ["once"])
            const third = yield* execute(`chmod 700 ${data}`)
            assert.deepInclude(third, { blocked: true, blockedResource: data })
            assert.match(notices(third)?.join() ?? "", /run the command again/)
            assert.strictEqual((yield* execute(`mkdir ${data}/a; echo $kept`)).stdout, "1\n")
            assert.deepStrictEqual(Directory.list(data), ["a", "once"])
            const config = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8"))
            assert.deepStrictEqual(config.policy.filesystem.whitelist, [data])
          }),
        allowing("allow_once", "deny", "allow_permanent")
      )
    )

    it.live("to make a file is to write its directory: allowed, the command works at once, and the shell goes on", () =>
      sandboxed(
        ({ execute }, { outside }) =>
          Effect.gen(function* () {
            const data = `${outside}/data`
            Fs.mkdirSync(data)
            yield* execute("kept=1")
            const given = yield* execute(`echo x > ${data}/new`)
            assert.deepStrictEqual(
              [given.blocked, notices(given)],
              [true, [`Allowed: ${data} now: run the command again.`]]
            )
            assert.strictEqual((yield* execute(`echo x > ${data}/new; echo $kept`)).stdout, "1\n")
            assert.strictEqual(Fs.readFileSync(`${data}/new`, "utf8"), "x\n")
            assert.isFalse(Fs.existsSync(`${outside}/home/sandbox.json`))
          }),
        allowing("allow_session")
      )
    )

    once("a new file of a directory that is too wide is made and allowed alone, when its command runs again", () =>
      sandboxed(
        ({ execute }, { outside }) =>
          Effect.gen(function* () {
            const line = `kept=1; echo x > ${outside}/new`
            assert.deepStrictEqual(notices(yield* execute(line)), [
              `Allowed: ${outside}/new once, for this command: run it again.`
            ])
            assert.notInclude(Directory.list(outside), "new")
            assert.strictEqual((yield* execute(line)).exitCode, 0)
            assert.strictEqual(Fs.readFileSync(`${outside}/new`, "utf8"), "x\n")
            assert.isTrue((yield* execute(`echo $kept >> ${outside}/new`)).blocked)
            // What makes no file is not asked for: made as one, it could not be what was meant.
            for (const other of [`mkdir ${outside}/d`, `echo > f; mv f ${outside}/d`, `ln -s x ${outside}/d`]) {
              assert.isUndefined(notices(yield* execute(other)))
            }
            // The right is kept for the session, and in its next sandbox.
            const log = `touch ${outside}/log`
            assert.deepStrictEqual(notices(yield* execute(log)), [
              `Allowed: ${outside}/log now: run the command again.`
            ])
            assert.strictEqual((yield* execute(`echo $kept > ${outside}/log`)).exitCode, 0)
            assert.strictEqual(Fs.readFileSync(`${outside}/log`, "utf8"), "1\n")
            assert.notInclude(Directory.list(outside), "d")
          }),
        allowing("allow_once", "deny", "allow_session")
      )
    )

    it.live("what a person allows unasked is writable at once, and nothing beside it; the shell goes on", () =>
      sandboxed(({ allow, execute, restart }, { outside }) =>
        Effect.gen(function* () {
          for (const name of ["data", "beside"]) Fs.mkdirSync(`${outside}/${name}`)
          yield* execute(`kept=1; o=${outside}`)
          yield* allow(`${outside}/data`)
          assert.strictEqual((yield* execute("echo x > $o/data/new; echo $kept")).stdout, "1\n")
          assert.strictEqual(Fs.readFileSync(`${outside}/data/new`, "utf8"), "x\n")
          yield* execute("echo x > $o/beside/new")
          assert.deepStrictEqual(Fs.readdirSync(`${outside}/beside`), [])
          // Until the session ends, whatever becomes of its shell.
          yield* restart
          assert.strictEqual((yield* execute(`cat ${outside}/data/new; echo y > ${outside}/data/new`)).exitCode, 0)
          assert.strictEqual(Fs.readFileSync(`${outside}/data/new`, "utf8"), "y\n")
          assert.isFalse(Fs.existsSync(`${outside}/home/sandbox.json`))
        })
      )
    )

    once("what a person allows is writable but for the files that a trusted server runs outside", () =>
      sandboxed(({ allow, execute }, { outside }) =>
        Effect.gen(function* () {
          const [data, trusted] = [`${outside}/data`, `${outside}/data/server.js`]
          for (const name of [data, `${outside}/home/mcp`]) Fs.mkdirSync(name)
          Fs.writeFileSync(trusted, "")
          Fs.writeFileSync(`${outside}/home/mcp/trust.json`, JSON.stringify({ trusted: { [trusted]: "" } }))
          yield* execute("true")
          yield* allow(data)
          yield* execute(`d=${data}; echo x > $d/new; echo x >> $d/server.js; mv $d/server.js $d/other`)
          assert.deepStrictEqual([Directory.list(data), Fs.readFileSync(trusted, "utf8")], [["new", "server.js"], ""])
        })
      )
    )

    it.live("what sandbox.json allows meanwhile is there with the next command; the shell goes on", () =>
      sandboxed(({ execute, restart }, { outside, project }) =>
        Effect.gen(function* () {
          Fs.mkdirSync(`${outside}/data`)
          const write = (filesystem: object) =>
            Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy: { filesystem } }))
          yield* execute(`kept=1; f=.en; o=${outside}`)
          assert.isTrue((yield* execute("cat ${f}v")).blocked)
          write({ whitelist: [`${outside}/data`], readable: [`${project}/.env`] })
          const { stdout } = yield* execute("cat .env; echo x > $o/data/new; cat $o/data/new; echo $kept")
          assert.strictEqual(stdout, "TOKEN=1\nx\n1\n")
          assert.strictEqual((yield* Effect.flip(execute("echo y > .env")))._tag, "Blocked")
          yield* restart
          assert.strictEqual((yield* execute("o=${PWD%/*}; echo x > $o/data/new; cat .env")).stdout, "TOKEN=1\n")
          // What was allowed before it was there is looked for again.
          write({ whitelist: [`${outside}/data`, `${outside}/later`], readable: [`${project}/.env`] })
          yield* execute("true")
          Fs.mkdirSync(`${outside}/later`)
          assert.strictEqual((yield* execute("echo x > $o/later/new")).exitCode, 0)
          write({ blacklist: [`${project}/other`] })
          yield* restart
          Fs.writeFileSync(`${project}/other`, "")
          assert.strictEqual((yield* Effect.flip(execute("cat other")))._tag, "Blocked")
          assert.isTrue((yield* execute("f=.en; cat ${f}v; echo y > $o/data/new")).blocked)
          assert.strictEqual(Fs.readFileSync(`${outside}/data/new`, "utf8"), "x\n")
        })
      )
    )

    it.live("what takes a new shell is said to take one: in the denial, and once it is allowed", () =>
      sandboxed(({ execute, restart }, { outside, project }) =>
        Effect.gen(function* () {
          const anew = "Ask the user to run this, then call with restart: true:"
          const [plain, repository] = [`${outside}/plain`, `${outside}/repository`]
          for (const path of [plain, `${repository}/.git`]) Fs.mkdirSync(path, { recursive: true })
          const write = (filesystem: object) =>
            Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy: { filesystem } }))
          yield* execute("true")
          assert.notInclude((yield* execute(`touch ${plain}/f`)).blockedReason, "restart")
          assert.include((yield* execute(`touch ${repository}/f`)).blockedReason, anew)
          write({ whitelist: [plain, repository, `${project}/.env`] })
          const both = `touch ${plain}/f && touch ${repository}/f`
          const { blocked, blockedReason, diagnostics } = yield* execute(both)
          const awaiting = [repository, `${project}/.env`].map((name) => ({ _tag: "Awaiting" as const, name }))
          assert.deepStrictEqual({ blocked, diagnostics }, { blocked: true, diagnostics: awaiting })
          assert.strictEqual(blockedReason, `sandbox: ${repository}/f is read-only.`)
          assert.isUndefined((yield* execute("true")).diagnostics)
          assert.deepStrictEqual((yield* execute(both)).diagnostics, awaiting.slice(0, 1))
          yield* restart
          assert.strictEqual((yield* execute(`touch ${repository}/f && echo >> .env`)).exitCode, 0)
        })
      )
    )

    it.live("a directory that a person allows has no start-up files and hooks that commands write", () =>
      sandboxed(({ allow, execute }, { outside }) =>
        Effect.gen(function* () {
          const [repository, editor, plain] = ["repository", "editor", "plain"].map((name) => `${outside}/${name}`)
          const made = [`${repository}/.git/hooks`, `${repository}/.git/objects`, `${editor}/.vscode`, `${plain}`]
          for (const path of made) Fs.mkdirSync(path, { recursive: true })
          Fs.writeFileSync(`${repository}/.git/HEAD`, "ref: refs/heads/main\n")
          Fs.writeFileSync(`${repository}/.git/hooks/post-commit`, "", { mode: 0o755 })
          yield* execute("kept=1")
          yield* allow(`${plain}`)
          assert.strictEqual((yield* execute("echo $kept")).stdout, "1\n")
          assert.match((yield* execute(`rmdir ${plain}`)).denied?.what ?? "", /plain is allowed, but as a mount point/)
          const hook = (at: string) =>
            `git init -q ${at}; mkdir -p ${at}/.git/hooks; echo run > ${at}/.git/hooks/pre-commit`
          const hooks = yield* execute(hook(`${plain}/new`))
          assert.include(notices(hooks)?.join(), "were renamed to *.disabled")
          assert.notInclude(Fs.readdirSync(`${plain}/new/.git/hooks`), "pre-commit")
          const fsmonitor = "[core]\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch run\\n"
          const itself = `cd ${plain}; mkdir objects refs; echo ref: refs/heads/main > HEAD; printf '${fsmonitor}' > config; cd -`
          const taken = yield* execute(`${itself}; git --version`)
          assert.include(notices(taken)?.join(), "Taken back from")
          assert.notInclude(Fs.readFileSync(`${plain}/config`, "utf8"), "fsmonitor")
          yield* allow(`${repository}`)
          yield* allow(`${editor}`)
          yield* execute(`${hook(`${repository}`)}; echo run > ${editor}/.vscode/tasks.json; echo x > ${editor}/file`)
          assert.deepStrictEqual(Fs.readdirSync(`${editor}`).toSorted(), [".vscode", "file"])
          assert.deepStrictEqual(Fs.readdirSync(`${editor}/.vscode`), [])
          assert.notInclude(Fs.readdirSync(`${repository}/.git/hooks`), "pre-commit")
          assert.include(Fs.readdirSync(`${repository}/.git/hooks`), "post-commit")
        })
      )
    )

    once("allow_once: a repository that the command makes meanwhile is searched before the right ends", () =>
      sandboxed(
        ({ execute }, { outside }) =>
          Effect.gen(function* () {
            const plain = `${outside}/plain`
            Fs.mkdirSync(plain)
            // No word of it names git, so that only a search finds what it makes.
            const make = `mkdir ${plain}/n && d=${plain}/n/.gi && d+=t && mkdir -p $d/hooks $d/objects && echo ref: refs/heads/main > $d/HEAD && echo run > $d/hooks/post-commit`
            yield* execute(make)
            yield* execute(make)
            assert.deepStrictEqual(Directory.list(plain).slice(0, 1), ["n"])
            assert.deepStrictEqual(Fs.readdirSync(`${plain}/n/.git/hooks`), ["post-commit.disabled"])
          }),
        allowing("allow_once", "allow_once")
      )
    )

    it.live("a right to read does not allow writing", () =>
      sandboxed(
        ({ execute }, { project }) =>
          Effect.gen(function* () {
            assert.strictEqual((yield* execute("cat .env")).stdout, "TOKEN=1\n")
            assert.strictEqual((yield* Effect.flip(execute("echo x > .env")))._tag, "Blocked")
            const kept = () => assert.strictEqual(Fs.readFileSync(`${project}/.env`, "utf8"), "TOKEN=1\n")
            kept()
            // The words do not tell what these write to, so that only the kernel can refuse it.
            const attacks = [
              "echo x > ${f}v",
              "mv -f other ${f}v",
              "rm -f ${f}v",
              "ln -f other ${f}v",
              "truncate -s0 ${f}v"
            ]
            const all = `f=.en; : > other; for i in 1; do ${attacks.join("; ")}; done; cat \${f}v`
            assert.strictEqual((yield* execute(all)).stdout, "TOKEN=1\n")
            kept()
          }),
        allowing("allow_session", "deny", "deny")
      )
    )
  })
}
