import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Version from "../src/domain/Version.js"
import { floors, violations } from "./support/Architecture.js"

const root = path.resolve(import.meta.dirname, "..")
const src = path.join(root, "src")

const sources: Readonly<Record<string, string>> = Object.fromEntries(
  fs
    .readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file.split(path.sep).join("/"), fs.readFileSync(path.join(src, file), "utf8")])
)

const manifest = fs.readFileSync(path.join(root, "package.json"), "utf8")
const isPublic = (file: string): boolean => manifest.includes(`"./dist/${file.replace(/\.ts$/, ".js")}"`)

describe("the architecture", () => {
  it("keeps its rules", () => {
    assert.isAbove(Object.keys(sources).length, 5)
    assert.isTrue(isPublic("Synapse.ts"))
    assert.deepStrictEqual(violations(sources, isPublic), [])
  })

  it("has the version of package.json", () => {
    assert.strictEqual(Version.current, JSON.parse(manifest).version)
  })
})

/** What the checker says of one public file. */
const said = (file: string, text: string): ReadonlyArray<string> => violations({ [file]: text }, () => true)

describe("the checker of floors", () => {
  /** Every room that may hold files, with its place in each folder that it lies in. */
  const roomsIn = (folder: string): ReadonlyArray<string> =>
    (floors[folder] ?? []).flat().flatMap((name) => {
      const room = [folder, name].filter((part) => part !== "" && part !== ".").join("/")
      if (name === ".") return folder === "" ? [] : [room]
      return floors[room] === undefined ? [room] : roomsIn(room)
    })

  const verdict = (from: string, to: string) => said(`${from}/A.ts`, `import * as B from "${up(from)}${to}/B.js"`)
  const up = (room: string) => "../".repeat(room.split("/").length)

  it("allows one direction between any two rooms that are not neighbours, and none between neighbours", () => {
    const rooms = roomsIn("")
    assert.includeMembers([...rooms], ["domain", "sandbox", "sandbox/policy", "sandbox/platform/linux/plan"])
    for (const [at, a] of rooms.entries()) {
      for (const b of rooms.slice(at)) {
        const verdicts = [verdict(a, b), verdict(b, a)]
        const allowed = verdicts.filter((found) => found.length === 0).length
        const areNeighbours = verdicts.flat().some((found) => found.includes("sideways"))
        assert.strictEqual(allowed, a === b ? 2 : areNeighbours ? 0 : 1, `${a} and ${b}`)
      }
    }
  })

  it("knows the ways down from the ways up, inside a room too", () => {
    const down: ReadonlyArray<readonly [string, string]> = [
      ["cli", "domain"],
      ["sandbox", "bridge"],
      ["sandbox", "session"],
      ["bridge", "session"],
      ["session", "bash"],
      ["command", "files"],
      ["sandbox", "sandbox/policy"],
      ["sandbox/denial", "sandbox/platform"],
      ["sandbox/platform/linux/live", "sandbox/platform/linux/plan"],
      ["sandbox/platform/linux", "sandbox/platform"],
      ["toolset", "sandbox/policy"],
      ["sandbox/platform/linux/start", "session"]
    ]
    for (const [from, to] of down) {
      assert.deepStrictEqual(verdict(from, to), [], `${from} to ${to}`)
      assert.deepStrictEqual(verdict(to, from), [`${to}/A.ts:1: imports upwards, ${from}/B.ts`])
    }
    const neighbours: ReadonlyArray<readonly [string, string]> = [
      ["commands/read", "commands/write"],
      ["sandbox/platform/linux/live", "sandbox/platform/macos"],
      ["terminal", "agent"]
    ]
    for (const [from, to] of neighbours) {
      assert.deepStrictEqual(verdict(from, to), [`${from}/A.ts:1: imports sideways, ${to}/B.ts`])
      assert.deepStrictEqual(verdict(to, from), [`${to}/A.ts:1: imports sideways, ${from}/B.ts`])
    }
  })

  it("sees every form of an import", () => {
    const up = (line: number) => `domain/A.ts:${line}: imports upwards, router/B.ts`
    const forms = [
      `import "../router/B.js"`,
      `import B from "../router/B.js"`,
      `import { b } from '../router/B.js'`,
      `import type { B } from "../router/B.js"`,
      `import { type C } from "../router/B.js"`,
      `export * from "../router/B.js"`,
      `export * as B2 from "../router/B.js"`,
      `export { d } from "../router/B.js"`,
      `export type { E } from "../router/B.js"`,
      `const lazy = () => import("../router/B.js")`,
      "const template = () => import(`../router/B.js`)",
      `type F = import("../router/B.js").F`,
      `type G = typeof import("../router/B.js")`,
      `const old = require("../router/B.js")`,
      `import legacy = require("../router/B.js")`,
      `import * as B3 from "./../domain/../router/B.js"`
    ]
    assert.deepStrictEqual(
      said("domain/A.ts", forms.join("\n")),
      forms.map((_, at) => up(at + 1))
    )
  })

  it("is not taken in by comments and strings", () => {
    const text = [
      `// import * as B from "../router/B.js"`,
      `/* import("../router/B.js") */`,
      `/** @example import { b } from "../router/B.js" */`,
      `const text = 'import "../router/B.js"'`,
      'const other = `import("../router/B.js")`',
      `const pattern = /import "..\\/router\\/B.js"/`
    ]
    assert.deepStrictEqual(said("domain/A.ts", text.join("\n")), [])
  })

  it("lets root files import any room, and nobody import them", () => {
    assert.deepStrictEqual(
      said("Synapse.ts", `import * as A from "./cli/A.js"\nimport * as B from "./domain/B.js"`),
      []
    )
    assert.deepStrictEqual(said("cli/A.ts", `import * as S from "../Synapse.js"`), [
      "cli/A.ts:1: imports the root file Synapse.ts"
    ])
    assert.deepStrictEqual(said("Synapse.ts", `import "./bin.js"`), [
      "Synapse.ts:1: imports bin.ts, which runs when it is imported"
    ])
  })

  it("refuses what goes around it", () => {
    assert.deepStrictEqual(
      [
        ...said("cli/A.ts", `import * as T from "../../test/T.js"`),
        ...said("cli/A.ts", `import * as T from "synapse-shell/router/B"`),
        ...said("cli/A.ts", `const lazy = (name: string) => import(name)`),
        ...said("cellar/A.ts", ""),
        ...said("sandbox/cellar/A.ts", ""),
        ...said("session/calls/A.ts", ""),
        ...said("commands/A.ts", ""),
        ...said("cli/A.ts", `import * as C from "../cellar/C.js"`)
      ],
      [
        "cli/A.ts:1: imports ../test/T.ts, which lies outside of src",
        "cli/A.ts:1: imports its own package by name",
        "cli/A.ts:1: imports something that only shows when it runs",
        "cellar/A.ts:1: lies in cellar/, which has no floor",
        "sandbox/cellar/A.ts:1: lies in sandbox/cellar/, which has no floor",
        "session/calls/A.ts:1: lies in session/calls/, which has no floor",
        "commands/A.ts:1: lies in commands/, which has no floor",
        "cli/A.ts:1: imports cellar/C.ts, whose room has no floor"
      ]
    )
  })
})

describe("the checker of doors", () => {
  it("lets only a room and the rooms in it import what is internal to it", () => {
    const internal = (from: string, to: string) => said(from, `import * as B from "${to}"`)
    assert.deepStrictEqual(internal("session/A.ts", "./internal/B.js"), [])
    assert.deepStrictEqual(internal("session/internal/A.ts", "../B.js"), [])
    assert.deepStrictEqual(internal("sandbox/A.ts", "./platform/internal/B.js"), [
      "sandbox/A.ts:1: imports sandbox/platform/internal/B.ts, which is internal"
    ])
    assert.deepStrictEqual(internal("sandbox/A.ts", "../session/internal/B.js"), [
      "sandbox/A.ts:1: imports session/internal/B.ts, which is internal"
    ])
    assert.deepStrictEqual(internal("Synapse.ts", "./session/internal/B.js"), [
      "Synapse.ts:1: imports session/internal/B.ts, which is internal"
    ])
  })
})

describe("the checker of style", () => {
  it("asks for namespaces of Effect's modules", () => {
    const text = [
      `import { Effect } from "effect"`,
      `import type { Layer } from "effect"`,
      `import * as Node from "@effect/platform-node"`,
      `import { succeed } from "effect/Effect"`,
      `import * as Stream from "effect/Stream"`,
      `import type { RunMain } from "@effect/platform/Runtime"`,
      `import { pipe } from "effect/Function"`,
      `import { spawn } from "node:child_process"`
    ]
    assert.deepStrictEqual(said("domain/A.ts", text.join("\n")), [
      "domain/A.ts:1: imports the barrel effect",
      "domain/A.ts:2: imports the barrel effect",
      "domain/A.ts:3: imports the barrel @effect/platform-node",
      "domain/A.ts:4: imports succeed from effect/Effect: import the namespace"
    ])
  })

  it("lets only root files run an Effect", () => {
    const text = [
      `import * as Fx from "effect/Effect"`,
      `import * as NodeRuntime from "@effect/platform-node/NodeRuntime"`,
      "const a = () => Fx.runPromise(Fx.void)",
      "const b = Fx.runFork",
      "const c = () => NodeRuntime.runMain(Fx.void)",
      "const d = other.runPromise()"
    ].join("\n")
    assert.deepStrictEqual(
      said("cli/A.ts", text),
      [3, 4, 5].map((line) => `cli/A.ts:${line}: runs an Effect, which only root files may`)
    )
    assert.deepStrictEqual(said("PromiseSynapse.ts", text), [])
  })

  it("lets only settings and the program read the environment", () => {
    const text = [
      "const a = process.env.HOME",
      `const b = () => globalThis.process["env"]`,
      "const { env } = process",
      `import { env as e } from "node:process"`,
      "const c = other.env"
    ].join("\n")
    assert.deepStrictEqual(
      said("router/A.ts", text),
      [1, 2, 3, 4].map((line) => `router/A.ts:${line}: reads the environment, which only settings may`)
    )
    for (const file of ["session/SessionSettings.ts", "session/ShellEnvironment.ts", "bin.ts"])
      assert.deepStrictEqual(said(file, text), [])
  })

  it("refuses names that say nothing, and state in modules", () => {
    for (const file of ["domain/utils.ts", "domain/Helpers.ts", "domain/types.ts", "domain/common/A.ts"]) {
      assert.include(said(file, ""), `${file}:1: has a name that says nothing`)
    }
    assert.deepStrictEqual(said("domain/TypesOfThings.ts", ""), [])
    const text = "let a = 1\nconst b = new Map()\nconst c = new Set([1])\nconst d = () => { let e = 1; return e }"
    assert.deepStrictEqual(
      said("domain/A.ts", text),
      [1, 2].map((line) => `domain/A.ts:${line}: holds state in a module`)
    )
  })

  it("keeps index.ts a sorted list of namespaces", () => {
    assert.deepStrictEqual(said("index.ts", `export * as A from "./domain/A.js"\nexport * as B from "./cli/B.js"`), [])
    assert.deepStrictEqual(said("index.ts", `export * as B from "./cli/B.js"\nexport * as A from "./domain/A.js"`), [
      "index.ts: is not sorted"
    ])
    assert.deepStrictEqual(said("index.ts", `export * from "./cli/B.js"`), [
      'index.ts: holds something else than `export * as X from "./…/X.js"`'
    ])
  })
})

describe("the checker of docstrings", () => {
  /** What the checker says of exports, each on a line with its docstring. */
  const saidOf = (docstring: string, ...statements: ReadonlyArray<string>) =>
    said("domain/A.ts", statements.map((statement) => `${docstring} ${statement}`).join("\n"))
  const missing = (name: string, line: number) => [
    `domain/A.ts:${line}: ${name} has no docstring that says what it is`,
    `domain/A.ts:${line}: the docstring of ${name} has no @since`
  ]

  it("asks for a docstring with text and @since on every exported declaration", () => {
    const statements = ["const a = 1", "interface B {}", "type C = 1", "class D {}", "function e() {}", "enum F {}"]
    const exports = statements.map((statement) => `export ${statement}`)
    const names = ["a", "B", "C", "D", "e", "F"]
    for (const none of ["", "// A thing. @since 0.1.0\n", "/* A thing. @since 0.1.0 */"]) {
      const lines = none.includes("\n") ? 2 : 1
      assert.deepStrictEqual(
        saidOf(none, ...exports),
        names.flatMap((name, at) => missing(name, (at + 1) * lines))
      )
    }
    assert.deepStrictEqual(saidOf("/** A thing.\n@since 0.1.0 */", ...exports), [])
    assert.deepStrictEqual(saidOf("/** @since 0.1.0 */", "export const a = 1"), missing("a", 1).slice(0, 1))
    assert.deepStrictEqual(saidOf("/** A thing. @internal */", "export const a = 1"), missing("a", 1).slice(1))
    assert.deepStrictEqual(saidOf("", "const a = 1", "export { a }", `export * from "./B.js"`), [])
    assert.deepStrictEqual(said("index.ts", `export * as A from "./domain/A.js"`), [])
  })

  it("takes the docstring next to the declaration, and not the module's", () => {
    const header = "/** The module.\n@since 0.1.0 */"
    assert.deepStrictEqual(
      said("domain/A.ts", `${header}\nimport * as B from "./B.js"\nexport const a = 1`),
      missing("a", 4)
    )
    assert.deepStrictEqual(saidOf(header, "/** @since 0.1.0 */ export const a = 1"), missing("a", 2).slice(0, 1))
  })

  it("refuses tags on what is not public", () => {
    assert.deepStrictEqual(
      violations({ "domain/A.ts": "/** A thing.\n@since 0.1.0 */\nexport const a = 1" }, () => false),
      ["domain/A.ts:3: the docstring of a has @since, which is for public modules"]
    )
    assert.deepStrictEqual(
      violations({ "domain/A.ts": "export const a = 1" }, () => false),
      []
    )
  })

  it("refuses docstrings that begin like a question", () => {
    for (const word of ["What", "Whether", "Where", "How", "Why", "Who", "Whom", "When"]) {
      assert.deepStrictEqual(saidOf(`/**\n * ${word} it is.\n * @since 0.1.0\n */`, "export const a = 1"), [
        `domain/A.ts:4: the docstring of a begins with ${word}: begin with a verb, or the thing`
      ])
    }
    for (const text of ["Whatever it is.", "Tells what it is.", "`what` it is."]) {
      assert.deepStrictEqual(saidOf(`/** ${text}\n@since 0.1.0 */`, "export const a = 1"), [])
    }
    assert.deepStrictEqual(saidOf("/** What it is. */", "const a = 1"), [])
  })
})
