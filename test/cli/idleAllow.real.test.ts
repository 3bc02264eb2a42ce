/** `--allow` of what can't become writable, and options that nothing follows: refused before anything runs. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { isSandboxed } from "../support/agent/Tasks.js"
import { run } from "../support/cli/Real.js"
import * as Temporary from "../support/Temporary.js"

const told = (directory: string, ...words: ReadonlyArray<string>) =>
  run([...words.slice(0, 1), "--cwd", directory, ...words.slice(1)])

describe("--allow", () => {
  it("is refused where a rule takes precedence, or nothing is there", () =>
    Temporary.using(async (directory) => {
      fs.writeFileSync(path.join(directory, "mine.pem"), "")
      for (const command of [["exec", "echo ran"], ["call"]]) {
        const [name = "", ...rest] = command
        for (const [entry, why] of [
          ["mine.pem", "rule mine.pem takes precedence: on the blacklist (a setting)."],
          ["/nosuch/x", "it does not exist. Make it, or allow the directory that it is to lie in."]
        ] as const) {
          const { exitCode, stderr, stdout } = await told(
            directory,
            name,
            "--deny",
            "mine.pem",
            "--allow",
            ".",
            "--allow",
            entry,
            ...rest
          )
          assert.deepStrictEqual(
            [exitCode, stdout, stderr.split("\n", 1)[0]],
            [2, "", `synapse: --allow ${entry} has no effect: ${why}`]
          )
        }
      }
    }))

  it("is refused in the same words whichever way the words are read", () =>
    Temporary.using(async (directory) => {
      // Options behind the command are read by another parser.
      const { exitCode, stderr } = await told(directory, "exec", "echo ran", "--allow", "/nosuch/x")
      assert.strictEqual(exitCode, 2)
      assert.match(stderr, /^synapse: --allow \/nosuch\/x has no effect: it does not exist\./)
    }))

  it("is refused, as all that is for a sandbox, where a file switches that off", () =>
    Temporary.using(async (directory) => {
      const file = path.join(directory, "sandbox.json")
      fs.writeFileSync(file, '{"enabled": false}')
      for (const [option, ...words] of [
        ["--allow", directory],
        ["--deny", "*.pem"],
        ["--env", "MY_TOKEN"],
        ["--unix-sockets", "all"]
      ] as const) {
        const { exitCode, stderr, stdout } = await run(["exec", "--cwd", directory, option, ...words, "echo ran"], "", {
          SYNAPSE_HOME: directory
        })
        assert.deepStrictEqual(
          [exitCode, stdout, stderr.split("\n", 1)[0]],
          [2, "", `synapse: ${option} has no effect: ${file} switches the sandbox off.`]
        )
      }
    }))

  it.skipIf(!isSandboxed)("is taken where it has an effect, or can't be in the way", () =>
    Temporary.using(async (directory) => {
      const { stdout } = await told(directory, "exec", "--allow", directory, "--allow", "later", "echo ran")
      assert.strictEqual(stdout, "ran\n")
    })
  )
})
