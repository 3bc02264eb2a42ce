import { assert, describe, it } from "@effect/vitest"
import * as BashArguments from "../../src/toolset/BashArguments.js"

describe("prepare", () => {
  it("brings what has one meaning only into the form of the parameters", () => {
    const cases: ReadonlyArray<readonly [unknown, unknown]> = [
      [{ command: "ls" }, { command: "ls" }],
      [{ cmd: "ls" }, { command: "ls" }],
      [{ cmd: "ls", command: null }, { command: "ls" }],
      [
        { command: "ls", timeout: "5000", restart: "TRUE" },
        { command: "ls", timeout: 5000, restart: true }
      ],
      [{ command: "ls", timeout: null, anything: null }, { command: "ls" }],
      [{ command: "ls", run_in_background: false }, { command: "ls" }],
      [{ command: "npm run dev", run_in_background: true }, { command: "npm run dev &" }],
      [{ command: "a; b # c", run_in_background: "true" }, { command: "{\na; b # c\n} &" }],
      [{ command: "npm run dev", yield: 0 }, { command: "npm run dev &" }],
      [
        { command: "npm run dev", yield: "5000" },
        { command: "npm run dev", yield: 5000 }
      ],
      [{ restart: true }, { command: ":", restart: true }],
      ['{"command":"ls"}', { command: "ls" }]
    ]
    for (const [given, prepared] of cases) assert.deepStrictEqual(BashArguments.prepare(given), prepared)
  })

  it("leaves what would change the meaning", () => {
    for (const given of [
      null,
      "ls",
      ["ls"],
      '{"command":"\\ud800"}',
      {},
      { command: "ls", cmd: "pwd" },
      { command: "ls", timeout: "5s" },
      { command: "ls", timeout: "-1" },
      { command: "ls", restart: 1 },
      { command: "ls", run_in_background: "soon" },
      { command: "ls", cwd: "/" },
      { restart: false }
    ]) {
      assert.deepStrictEqual(BashArguments.prepare(given), given)
    }
  })
})

describe("example", () => {
  it("is a right call, made of what was given", () => {
    const cases: ReadonlyArray<readonly [unknown, object | undefined]> = [
      [undefined, undefined],
      [{}, undefined],
      [{ script: "ls" }, { command: "ls" }],
      [
        { input: "ls", restart: true },
        { command: "ls", restart: true }
      ],
      [{ Command: "ls" }, { command: "ls" }],
      [{ query: "ls" }, undefined],
      [{ command: "a", input: "b" }, { command: "a" }],
      [
        { cmd: "a", timeout: 5, description: "x", other: 1 },
        { command: "a", timeout: 5, description: "x" }
      ],
      [{ command: "a", timeout: 0.5 }, { command: "a" }],
      [
        { command: "a", timeout: "soon", restart: true },
        { command: "a", restart: true }
      ],
      [{ command: ["/bin/sh", "-c", "a | b"] }, { command: "a | b" }],
      [{ command: ["a", "b'c", ""] }, { command: "a 'b'\\''c' ''" }],
      [{ command: "a | b >c", workdir: "x y" }, { command: "(cd 'x y' && a | b >c)" }],
      [{ command: "a; b", cwd: "-x" }, { command: "(cd -- -x && {\na; b\n})" }],
      [{ command: "./a.sh -x", run_in_background: true }, { command: "./a.sh -x &" }],
      [{ command: "a | b", run_in_background: "true" }, { command: "{\na | b\n} &" }],
      [{ command: "a # b", run_in_background: true }, { command: "{\na # b\n} &" }],
      [{ command: "a >b &", run_in_background: true }, { command: "a >b &" }],
      [
        { command: "x".repeat(3000), timeout: 5 },
        { command: "<command>", timeout: 5 }
      ],
      ["ls src", { command: "ls src" }],
      ['{"command":"a\nb"}', { command: "a\nb" }],
      ['{"command":', undefined]
    ]
    for (const [given, right] of cases) assert.strictEqual(BashArguments.example(given), JSON.stringify(right))
  })
})
