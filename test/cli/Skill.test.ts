import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as SkillActions from "../../src/cli/SkillActions.js"
import { SkillStore } from "../../src/extension/skill/SkillStore.js"
import { run } from "../support/cli/Program.js"
import * as Directory from "../support/sandbox/Directory.js"
import * as Place from "../support/skill/Place.js"

const sources = Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-sources-"))
afterAll(() => Fs.rmSync(sources, { recursive: true, force: true }))

/** Returns a directory of a test's own that is not among Synapse's files, from which no skill is added. */
const beside = (home: string) => `${sources}/${home.replaceAll("/", "_")}`

/** `synapse skill …` with a home of its own; exit code, stdout and stderr. */
const skill = (home: string, ...args: ReadonlyArray<string>) =>
  run(["skill", ...args]).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["SYNAPSE_HOME", home]]))),
    Effect.map(({ exitCode, stderr, stdout }) => [exitCode, stdout, stderr] as const)
  )

const inPlace = (name: string, use: (place: Place.Place) => Effect.Effect<unknown>) =>
  it.scoped(name, () => Effect.flatMap(Place.make, use))

describe("synapse skill", () => {
  inPlace("adds a skill, lists it, and takes it away", ({ home }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* skill(home, "list"), [
        0,
        "There are no skills. Add one: synapse skill add <dir>\n",
        ""
      ])
      const [code, added, error] = yield* skill(home, "add", `${Place.published}/pdf/`)
      assert.deepStrictEqual([code, error], [0, ""])
      assert.strictEqual(added, "Added pdf (10 files)\n")
      assert.deepStrictEqual(Directory.list(`${home}/skills`), ["pdf"])
      assert.deepStrictEqual(
        ChildProcess.spawnSync("diff", ["-r", `${Place.published}/pdf`, `${home}/skills/pdf`]).status,
        0
      )
      assert.match((yield* skill(home, "list"))[1], /^pdf \(3 tools\): Comprehensive .*…\n$/)
      const { skills } = JSON.parse((yield* skill(home, "list", "--json"))[1])
      assert.deepStrictEqual(
        skills.map(({ description: _, tools, ...rest }: { description: string; tools: Array<object> }) => [
          rest,
          tools.length
        ]),
        [
          [
            {
              name: "pdf",
              directory: `${home}/skills/pdf`,
              source: "home"
            },
            3
          ]
        ]
      )
      assert.deepStrictEqual(yield* skill(home, "remove", "pdf"), [0, `Removed ${home}/skills/pdf\n`, ""])
    })
  )

  inPlace("lists what is wrong with a skill, and those that are not used for one that comes first", (place) =>
    Effect.gen(function* () {
      const { home, project, put } = place
      put(`${home}/skills/one/SKILL.md`, "---\nname: other\ndescription: First\n---\n")
      put(`${home}/skills/two/SKILL.md`, "---\nname: two\n---\n")
      assert.deepStrictEqual(yield* skill(home, "list"), [
        0,
        'one: First\ntwo: (it has no description)\n\none: its front matter calls it "other": both names are its own\n',
        ""
      ])
      put(`${project}/.agents/skills/three/SKILL.md`, "---\ndescription: Agents\n---\n")
      for (const directory of [`${project}/.claude`, home]) put(`${directory}/skills/three/SKILL.md`, "---\n---\n")
      const hides = [`${project}/.claude/skills/three`, `${home}/skills/three`]
      yield* Effect.gen(function* () {
        const store = yield* SkillStore
        const [, three] = yield* store.list
        if (three === undefined) return assert.fail("it was not found")
        assert.deepStrictEqual(three.hides, hides)
        assert.strictEqual((yield* store.list)[1], three)
        assert.deepStrictEqual((yield* Effect.orDie(store.find("three"))).hides, hides)
        const used = `${project}/.agents/skills/three`
        assert.deepStrictEqual(
          SkillActions.remarks(three),
          hides.map((one) => `${one} is not used: ${used} comes first`)
        )
      }).pipe(Effect.provide(Place.layer(place)))
    })
  )

  inPlace("replaces a skill only where it is told to", (place) =>
    Effect.gen(function* () {
      const { home, put, skill: make } = place
      const from = make(`${beside(home)}/from/one`, "first")
      yield* skill(home, "add", from)
      put(`${from}/SKILL.md`, "---\ndescription: second\n---\n")
      assert.deepStrictEqual(yield* skill(home, "add", from), [
        1,
        "",
        "synapse: There is a skill one already: --force replaces it.\n"
      ])
      assert.include(Fs.readFileSync(`${home}/skills/one/SKILL.md`, "utf8"), "first")
      assert.strictEqual((yield* skill(home, "add", "--force", from))[0], 0)
      assert.include(Fs.readFileSync(`${home}/skills/one/SKILL.md`, "utf8"), "second")
      assert.deepStrictEqual(Directory.list(`${home}/skills`), ["one"])
    })
  )

  inPlace("adds nothing that is no skill, and leaves nothing behind", (place) =>
    Effect.gen(function* () {
      const { home, put, skill: make } = place
      Fs.mkdirSync(`${beside(home)}/from/pipe`, { recursive: true })
      ChildProcess.execFileSync("mkfifo", [`${beside(home)}/from/pipe/SKILL.md`])
      put(`${beside(home)}/from/bare/SKILL.md`, "# No front matter\n")
      put(`${beside(home)}/from/none/README.md`, "")
      make(`${beside(home)}/from/a b`)
      make(`${beside(home)}/from/around`)
      for (const [name, reason] of [
        ["pipe", /is no skill: its SKILL\.md is not a regular file\.$/],
        ["bare", /is no skill: it has no front matter, so that it has no description\.$/],
        ["none", /is no skill: its SKILL\.md is missing\.$/],
        ["nosuch", /^synapse: There is no directory /],
        ["a b", /^synapse: No skill can have the name of this directory: a b\.$/]
      ] as const) {
        const [code, stdout, stderr] = yield* skill(home, "add", `${beside(home)}/from/${name}`)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.match(stderr.trimEnd(), reason)
      }
      assert.isFalse(Fs.existsSync(`${home}/skills`))
      // The directory that holds the home itself.
      const [, , stderr] = yield* skill(`${beside(home)}/from/around/home`, "add", `${beside(home)}/from/around`)
      assert.match(stderr, /holds the directory of your own skills\.\n$/)
    })
  )

  inPlace("copies no link that leads out of the skill, and no pipe", (place) =>
    Effect.gen(function* () {
      const { home, put, skill: make } = place
      const from = make(`${beside(home)}/from/one`)
      put(`${home}/secret`, "secret")
      put(`${from}/scripts/run.sh`, "echo\n", 0o755)
      Fs.symlinkSync(`${home}/secret`, `${from}/out`)
      Fs.symlinkSync("..", `${from}/up`)
      Fs.symlinkSync("scripts/run.sh", `${from}/in.sh`)
      Fs.symlinkSync("/nowhere", `${from}/dangling`)
      ChildProcess.execFileSync("mkfifo", [`${from}/pipe`])
      const [code, stdout] = yield* skill(home, "add", from)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(
        stdout.split("\n").filter((line) => line.startsWith("Left out ")),
        ["dangling leads out of it", "out leads out of it", "pipe is not a regular file", "up leads out of it"].map(
          (what) => `Left out of one: ${what}`
        )
      )
      assert.deepStrictEqual(Directory.list(`${home}/skills/one`), ["SKILL.md", "in.sh", "scripts"])
      assert.isTrue(Fs.lstatSync(`${home}/skills/one/in.sh`).isFile())
      assert.strictEqual(Fs.statSync(`${home}/skills/one/scripts/run.sh`).mode & 0o777, 0o755)
      // A link to the skill itself, again and again.
      Fs.symlinkSync(".", `${from}/loop`)
      assert.match((yield* skill(home, "add", "--force", from))[2], /without an end/)
      assert.deepStrictEqual(Directory.list(`${home}/skills`), ["one"])
      assert.deepStrictEqual(Directory.list(`${home}/skills/one`), ["SKILL.md", "in.sh", "scripts"])
    })
  )

  inPlace("removes nothing but a skill of the user's own, and of a link only the link", ({ home, skill: make }) =>
    Effect.gen(function* () {
      make(`${home}/skills/one`)
      const elsewhere = make(`${home}/elsewhere`)
      Fs.symlinkSync(elsewhere, `${home}/skills/linked`)
      for (const name of [
        "..",
        ".",
        "",
        "../elsewhere",
        `${home}/elsewhere`,
        "one/../../elsewhere",
        "nosuch",
        "one\n",
        "*"
      ]) {
        const [code, , stderr] = yield* skill(home, "remove", "--", name)
        assert.notStrictEqual(code, 0, name)
        assert.notInclude(stderr, "Removed")
      }
      assert.strictEqual((yield* skill(home, "remove", "linked"))[0], 0)
      assert.deepStrictEqual(Directory.list(home), ["elsewhere", "skills"])
      assert.deepStrictEqual(Directory.list(`${home}/skills`), ["one"])
      assert.deepStrictEqual(Directory.list(elsewhere), ["SKILL.md"])
    })
  )

  inPlace("takes the directory of a SKILL.md", ({ home, skill: make }) =>
    Effect.gen(function* () {
      const from = make(`${beside(home)}/from/one`)
      const [code, stdout, said] = yield* skill(home, "add", `${from}/SKILL.md`)
      assert.strictEqual(said, "")
      assert.deepStrictEqual([code, stdout.split("\n")[0]], [0, "Added one (1 file)"])
    })
  )

  inPlace("says how it is used", ({ home }) =>
    Effect.gen(function* () {
      assert.include((yield* skill(home, "list", "x"))[2], "\nUsage:\n  synapse skill list [options]\nHelp: ")
      for (const args of [[], ["nosuch"], ["add"]]) {
        const [code, , stderr] = yield* skill(home, ...args)
        assert.strictEqual(code, 2, stderr)
        assert.include(stderr, "\n  synapse skill add [options] <dir>\n")
      }
    })
  )
})
