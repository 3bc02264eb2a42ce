/** The bash of the bridge lies in files that shellcheck reads, and in a module that can be bundled. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, expect, it } from "@effect/vitest"

const directory = new URL("../../src/bridge/", import.meta.url)

const names = Fs.readdirSync(directory)
  .filter((name) => /\.(?:bash|pl)$/.test(name))
  .sort()

/** Less its comments, which no shell need read. */
const textOf = (name: string) =>
  Fs.readFileSync(new URL(name, directory), "utf8").replaceAll(/^(?:[ \t]*#(?!!).*)?\n/gm, "")

const constant = (name: string) => `
/**
 * The file \`${name}\`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const ${name.replace(/\.\w+$/, "")} = \`${textOf(name).replaceAll(/[\\`]|\$\{/g, "\\$&")}\`
`

const module = `/**
 * The bash of the bridge, made of the \`.bash\` and \`.pl\` files beside this one: change those, and then run
 * \`npx vitest run test/bridge/BashText.test.ts -u\`.
 *
 * @since 0.1.0
 */
${names.map(constant).join("")}`

describe("the bash of the bridge", () => {
  it("is the same in its files and in the module", () =>
    expect(module).toMatchFileSnapshot("../../src/bridge/BashText.ts"))

  it.skipIf(ChildProcess.spawnSync("shellcheck", ["--version"]).error !== undefined)("satisfies shellcheck", () => {
    const { status, stdout } = ChildProcess.spawnSync(
      "shellcheck",
      names.filter((name) => name.endsWith(".bash")),
      { cwd: directory, encoding: "utf8" }
    )
    assert.deepStrictEqual([stdout, status], ["", 0])
  })
})
