/** The bash of the keeper lies in a file that shellcheck reads, and in a module that can be bundled. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, expect, it } from "@effect/vitest"

const directory = new URL("../../src/session/", import.meta.url)

/** Less its comments, which no shell need read. */
const text = Fs.readFileSync(new URL("keeper.bash", directory), "utf8").replaceAll(/^(?:[ \t]*#(?!!).*)?\n/gm, "")

const module = `/**
 * The bash of the keeper, made of the file \`keeper.bash\` beside this one: change that, and then run
 * \`npx vitest run test/session/KeeperText.test.ts -u\`.
 *
 * @since 0.1.0
 */

/**
 * The file \`keeper.bash\`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const keeper = \`${text.replaceAll(/[\\`]|\$\{/g, "\\$&")}\`
`

describe("the bash of the keeper", () => {
  it("is the same in its file and in the module", () =>
    expect(module).toMatchFileSnapshot("../../src/session/KeeperText.ts"))

  it.skipIf(ChildProcess.spawnSync("shellcheck", ["--version"]).error !== undefined)("satisfies shellcheck", () => {
    const { status, stdout } = ChildProcess.spawnSync("shellcheck", ["keeper.bash"], {
      cwd: directory,
      encoding: "utf8"
    })
    assert.deepStrictEqual([stdout, status], ["", 0])
  })
})
