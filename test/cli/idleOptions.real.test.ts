/** Options that nothing follows: refused before anything runs. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { run } from "../support/cli/Real.js"
import * as Temporary from "../support/Temporary.js"

describe("an option of the sandbox", () => {
  it("is refused where a file switches the sandbox off", () =>
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
})
