/** What commands read in the place of a hidden file: an empty file, or settings without their secrets. */
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Manager, type Place, sandboxedOn } from "../support/sandbox/LocalApp.js"
import { notices } from "../support/Told.js"

/** Runs the lines, one after the other, and returns what they printed. */
const printed = ({ execute }: Manager, ...lines: ReadonlyArray<string>) =>
  Effect.forEach(lines, (line) =>
    Effect.match(execute(line), { onFailure: ({ _tag }) => _tag, onSuccess: ({ stdout }) => stdout })
  )

const configure = ({ outside }: Place, filesystem: object) =>
  Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy: { filesystem } }))

/** Replaces a file as editors do, so that what was mounted on it is gone. */
const replace = (path: string, text: string) => {
  Fs.writeFileSync(`${path}.new`, text)
  Fs.renameSync(`${path}.new`, path)
}

const npmrc = "registry=https://ada:hunter@r.example/\n//r.example/:_authToken=hunter\n"

export const standIn = (title: string, ground: string): void => {
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    it.live("a rule can show files as empty ones, which is told once, and nobody writes them", () =>
      sandboxed((manager, place) => {
        const { project } = place
        configure(place, { blacklist: [{ path: "**/.env", hidden: "empty" }, "vault"] })
        Fs.mkdirSync(`${project}/vault`)
        Fs.writeFileSync(`${project}/vault/key`, "hunter\n")
        return Effect.gen(function* () {
          const first = yield* manager.execute("cat .env; wc -c <.env")
          assert.deepStrictEqual([first.stdout, first.exitCode], ["0\n", 0])
          assert.deepStrictEqual(notices(first), [`The sandbox shows ${project}/.env as an empty file (rule **/.env).`])
          assert.isUndefined(notices(yield* manager.execute("cat .env")))
          const refused = ["cat vault/key", "echo x >.env", "e=.env; echo x 2>/dev/null >$e; cat $e", "rm -f .env"]
          assert.deepStrictEqual(yield* printed(manager, ...refused), ["Blocked", "Blocked", "", "Blocked"])
          replace(`${project}/.env`, "TOKEN=hunter\n")
          assert.deepStrictEqual(yield* printed(manager, "sleep 0.3; cat .env"), [""])
          assert.strictEqual(Fs.readFileSync(`${project}/.env`, "utf8"), "TOKEN=hunter\n")
        })
      })
    )

    it.live("all hidden files can be shown so, but none that git tracks, and no directory", () =>
      sandboxed((manager, place) => {
        const { outside, project } = place
        configure(place, { hidden: "empty", blacklist: ["vault"] })
        Fs.mkdirSync(`${project}/vault`)
        Fs.writeFileSync(`${project}/vault/key`, "hunter\n")
        Fs.mkdirSync(`${project}/sub`)
        Fs.writeFileSync(`${project}/sub/.env`, "A=1\n")
        const git = (...args: ReadonlyArray<string>) =>
          execFileSync("git", args, { cwd: project, env: { PATH: process.env["PATH"], HOME: outside }, stdio: "pipe" })
        git("init", "-q")
        git("add", "sub/.env")
        Fs.writeFileSync(`${project}/sub/.env`, "A=hunter\n")
        const lines = ["cat .env; echo $?", "cat sub/.env", "cat vault/key", `cat ${outside}/user/.ssh/id_rsa`]
        return Effect.map(printed(manager, ...lines), (got) =>
          assert.deepStrictEqual(got, ["0\n", "Blocked", "Blocked", "Blocked"])
        )
      })
    )

    it.live("settings are shown without their secrets, also when they are replaced", () =>
      sandboxed((manager, { outside, project }) => {
        const user = `${outside}/user`
        Fs.writeFileSync(`${user}/.npmrc`, npmrc)
        Fs.writeFileSync(`${project}/.npmrc`, npmrc)
        return Effect.gen(function* () {
          const shown = "registry=https://r.example/\n"
          const [first, own] = yield* printed(manager, `grep -v '^#' ${user}/.npmrc`, "grep -v '^#' .npmrc")
          assert.deepStrictEqual([first, own], [shown, shown])
          assert.deepStrictEqual(yield* printed(manager, `echo x >>${user}/.npmrc`, "echo x >>.npmrc"), [
            "Blocked",
            "Blocked"
          ])
          replace(`${user}/.npmrc`, npmrc.replaceAll("r.example", "s.example"))
          replace(`${project}/.npmrc`, `${npmrc}ca = '''\nhunter\n'''\n`)
          const again = yield* printed(manager, `sleep 0.3; grep -v '^#' ${user}/.npmrc`, "cat .npmr*")
          assert.deepStrictEqual(again, ["registry=https://s.example/\n", ""])
        })
      })
    )

    it.live("settings that the user's own rule names stay hidden, as those that git tracks", () =>
      sandboxed(
        (manager, { outside, project }) => {
          Fs.writeFileSync(`${outside}/user/.npmrc`, npmrc)
          Fs.mkdirSync(`${project}/sub`)
          Fs.writeFileSync(`${project}/sub/.yarnrc.yml`, "a: b\n")
          const git = (...args: ReadonlyArray<string>) =>
            execFileSync("git", args, {
              cwd: project,
              env: { PATH: process.env["PATH"], HOME: outside },
              stdio: "pipe"
            })
          git("init", "-q")
          git("add", "sub/.yarnrc.yml")
          Fs.writeFileSync(`${project}/sub/.yarnrc.yml`, "npmAuthToken: hunter\na: b\n")
          return Effect.map(printed(manager, `cat ${outside}/user/.npmrc`, "cat sub/.yarnrc.yml"), (got) =>
            assert.deepStrictEqual(got, ["Blocked", "Blocked"])
          )
        },
        {},
        ["**/.npmrc"]
      )
    )
  })
}
