/** The examples do what they say, as a reader would run them. */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"

const scratchpad = path.resolve("scratchpad")

const run = async (program: string, ...args: ReadonlyArray<string>): Promise<string> =>
  promisify(execFile)(program, [...args], { cwd: path.dirname(scratchpad), timeout: 60_000 }).then(
    ({ stdout }) => stdout,
    (error) => `${error}\n${error.stdout}\n${error.stderr}`
  )

const example = (name: string) => path.join(scratchpad, name)

describe("scratchpad", () => {
  it("holds short examples", () => {
    const names = fs.readdirSync(scratchpad).sort()
    assert.deepStrictEqual(names, [
      "agent.mjs",
      "ai.mjs",
      "cli.sh",
      "layers.mjs",
      "promise.mjs",
      "sessions.mjs",
      "testing.test.mjs"
    ])
    for (const name of names) assert.isAtMost(fs.readFileSync(example(name), "utf8").split("\n").length, 41, name)
  })

  it("cli.sh", async () => {
    const [tools, ...lines] = (await run("sh", example("cli.sh"))).trim().split("\n")
    assert.strictEqual(tools, '"name": "Bash",')
    const results = lines.slice(0, 2).map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      results.map(({ extras, isError, toolCallId }) => [toolCallId, isError, extras.stdout.trim()]),
      [
        ["1", false, ""],
        ["2", false, "11"]
      ]
    )
    assert.strictEqual(lines.at(2), "denied with exit code 126")
  })

  // In one process, since most of what they cost is to load the library.
  it("the programs", async () => {
    const names = ["promise.mjs", "layers.mjs", "sessions.mjs", "agent.mjs", "ai.mjs"]
    const all = names.map((name) => `await import(${JSON.stringify(example(name))}); console.log("end of program")`)
    const said = await run(process.execPath, "--input-type=module", "-e", all.join("\n"))
    const [promise, layers, sessions, agent = "", ...rest] = said.split("end of program\n")
    assert.deepStrictEqual(
      [promise, layers, sessions, ...rest],
      [
        "Oslo: 21 degrees\nRome: 21 degrees\n\n130\n",
        "Oslo: 21 degrees\nRome: 21 degrees\n\nweather: which city?\nUsage: weather <city>\n",
        "5 in sessions\n130\n[ 'example' ]\ntrue\n",
        "ok: HELLO\n\n",
        ""
      ],
      said
    )
    for (const part of ['"HELLO\\n"', '"Ended"', '"It is loud now."']) assert.include(agent.replaceAll("'", '"'), part)
  })
})
