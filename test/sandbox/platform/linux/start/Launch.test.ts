import { assert, describe, it } from "@effect/vitest"
import * as Launch from "../../../../../src/sandbox/platform/linux/start/Launch.js"

const wordsOf = (options: Partial<Launch.LaunchOptions>): ReadonlyArray<string> => {
  const { args, program } = Launch.make({
    level: "mount",
    plan: { path: "/plan" },
    programs: { bash: "bash", bwrap: "bwrap", unshare: "unshare", mount: "mount", nsenter: "nsenter" },
    gate: true,
    watches: [64, 6144],
    shell: { program: "shell", args: [] },
    ...options
  })
  return [program, ...args]
}

const doorway = (options: Partial<Launch.LaunchOptions>) => {
  const words = wordsOf(options)
  return words.slice(0, words.indexOf("bash")).join(" ")
}

const limits = (options: Partial<Launch.LaunchOptions>) => wordsOf(options).slice(-4, -2)

describe("a launch", () => {
  it("makes a second namespace, for what is mounted in the first may be known outside", () => {
    const second = "unshare --mount --propagation shared"
    const asUser = "unshare --user --map-root-user --mount --propagation"
    assert.strictEqual(doorway({}), `unshare --mount --propagation private ${second}`)
    assert.strictEqual(doorway({ level: "user" }), `${asUser} private ${second}`)
    assert.strictEqual(doorway({ level: "single" }), "")
  })

  it("limits inotify only in a user namespace of the sandbox", () => {
    assert.deepStrictEqual(limits({ level: "user" }), ["64 6144", ""])
    assert.deepStrictEqual(limits({}), ["64 6144", "nsenter"])
    const programs = { bash: "bash", bwrap: "bwrap", unshare: "unshare", mount: "mount", nsenter: undefined }
    assert.deepStrictEqual(limits({ programs }), ["", ""])
    assert.deepStrictEqual(limits({ level: "user", watches: undefined }), ["", ""])
  })
})
