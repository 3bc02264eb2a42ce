/** Rights that a person gives while a sandbox of this machine runs. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Directory from "../support/sandbox/Directory.js"
import { allowing, sandboxedOn } from "../support/sandbox/LocalHouse.js"

export const grants = (title: string, ground: string): void => {
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

    it.live("are given by no turn that is over", () =>
      sandboxed(({ execute, getSandbox }, { project }) =>
        Effect.gen(function* () {
          yield* execute("f=.en")
          const backend = yield* getSandbox(project)
          const kept = yield* backend.exclusive((turn) => Effect.succeed(turn))
          const given = yield* Effect.flip(kept.grant({ access: "read", resource: `${project}/.env` }))
          assert.include(given.message, "this turn is over")
          assert.include((yield* Effect.flip(kept.execute("cat ${f}v"))).message, "this turn is over")
          assert.deepInclude(yield* execute("cat ${f}v"), { stdout: "", blocked: true })
        })
      )
    )

    it.live("allow_session: a secret of a hidden directory is open from then on, and nothing beside it", () =>
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
            const first = yield* execute(`echo before; touch ${data}/once`)
            assert.deepInclude(first, { stdout: "before\n", blocked: true })
            assert.match(first.notices?.join() ?? "", /does not exist/)
            const second = yield* execute(`d=${data}; echo before; mkdir $d/a || chmod 700 $d`)
            assert.deepInclude(second, { stdout: "before\n", blocked: true, blockedResource: `${data}/a` })
            assert.deepStrictEqual(Directory.list(data), [])
            const third = yield* execute(`chmod 700 ${data}`)
            assert.deepInclude(third, { blocked: true, blockedResource: data })
            assert.match(third.notices?.join() ?? "", /run the command again/)
            assert.strictEqual((yield* execute(`mkdir ${data}/a; echo $kept`)).stdout, "1\n")
            assert.deepStrictEqual(Directory.list(data), ["a"])
            const config = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8"))
            assert.deepStrictEqual(config.policy.filesystem.whitelist, [data])
          }),
        allowing("allow_once", "deny", "allow_permanent")
      )
    )

    it.live("what does not exist can't be allowed yet: the answer says so, and the shell goes on", () =>
      sandboxed(
        ({ execute }, { outside }) =>
          Effect.gen(function* () {
            const file = `${outside}/new`
            yield* execute("kept=1")
            for (const answer of ["session", "permanent"]) {
              const { blocked, notices } = yield* execute(`echo x > ${file}`)
              assert.isTrue(blocked, answer)
              assert.match(
                notices?.join() ?? "",
                new RegExp(`^The user has allowed ${file}, but ${file} does not exist`)
              )
            }
            assert.isFalse(Fs.existsSync(file))
            // Made by somebody else, it needs no other answer than the next.
            Fs.writeFileSync(file, "")
            assert.match((yield* execute(`echo x > ${file}`)).notices?.join() ?? "", /run the command again/)
            assert.strictEqual((yield* execute(`echo x > ${file}; echo $kept`)).stdout, "1\n")
            assert.strictEqual(Fs.readFileSync(file, "utf8"), "x\n")
            const config = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8"))
            assert.deepStrictEqual(config.policy.filesystem.whitelist, [file])
          }),
        allowing("allow_session", "allow_permanent", "allow_session")
      )
    )
  })
}
