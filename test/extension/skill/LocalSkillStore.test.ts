import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Skill, SkillStore } from "../../../src/extension/skill/SkillStore.js"
import * as Place from "../../support/skill/Place.js"

/** A test with a store over a project and a home. */
const inPlace = (
  name: string,
  use: (place: Place.Place, store: SkillStore["Type"]) => Effect.Effect<unknown, unknown>
) =>
  it.scoped(name, () =>
    Effect.flatMap(Place.make, (place) =>
      Effect.provide(
        Effect.flatMap(SkillStore, (store) => use(place, store)),
        Place.layer(place)
      )
    )
  )

const names = (skills: ReadonlyArray<Skill>) => skills.map(({ name }) => name)
const toolsOf = (skill: Skill) =>
  Object.fromEntries(skill.tools.map(({ name, path }) => [name, path.slice(skill.directory.length + 1)]))

describe("the skills of this machine", () => {
  inPlace("are read as they are published", (place, store) =>
    Effect.gen(function* () {
      Place.install(place)
      const [brand, pdf, webapp, ...more] = yield* store.list
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(brand, {
        name: "brand-guidelines",
        description:
          "Applies the company's official brand colors and typography to any sort of artifact that may benefit from it.\nUse it when: brand colors, style guidelines or visual formatting apply.",
        directory: `${place.home}/skills/brand-guidelines`,
        source: "home",
        tools: []
      })
      assert.deepStrictEqual(pdf === undefined ? {} : toolsOf(pdf), {
        check_fillable_fields: "scripts/check_fillable_fields.py",
        "office:helpers:merge": "scripts/office/helpers/merge.sh",
        "office:unpack": "scripts/office/unpack.py"
      })
      assert.deepStrictEqual(webapp === undefined ? {} : toolsOf(webapp), {
        count: "scripts/count",
        report: "scripts/report.mjs",
        "with_server.py": "scripts/with_server.py",
        "with_server.sh": "scripts/with_server.sh"
      })
      assert.deepStrictEqual(
        [webapp?.description, webapp?.problem],
        ["Use when: testing a web app", `its front matter calls it "Webapp Testing": both names are its own`]
      )
      const { text } = yield* store.load("webapp-testing")
      assert.strictEqual(text, "# Web Application Testing\r\nRun `scripts/with_server.py --help` first.\r\n")
    })
  )

  inPlace("of the project come before those of the home", ({ home, project, skill }, store) =>
    Effect.gen(function* () {
      for (const directory of [`${home}/skills`, `${project}/.claude/skills`, `${project}/.agents/skills`]) {
        skill(`${directory}/all`, directory)
      }
      skill(`${home}/skills/mine`)
      skill(`${project}/.claude/skills/theirs`)
      const skills = yield* store.list
      assert.deepStrictEqual(
        skills.map(({ name, source }) => [name, source]),
        [
          ["all", "project"],
          ["mine", "home"],
          ["theirs", "project"]
        ]
      )
      assert.strictEqual((yield* store.find("all")).description, `${project}/.agents/skills`)
    })
  )

  inPlace("are known without waiting, and are the same array until one changes", ({ home, put, skill }, store) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(store.known(), [])
      const directory = skill(`${home}/skills/one`)
      const first = yield* store.list
      assert.strictEqual(yield* store.list, first)
      assert.strictEqual(store.known(), first)
      put(`${directory}/scripts/deep/run.sh`, "")
      const second = yield* store.list
      assert.deepStrictEqual(second.map(toolsOf), [{ "deep:run": "scripts/deep/run.sh" }])
      put(`${directory}/scripts/deep/more.sh`, "")
      assert.strictEqual((yield* store.list)[0]?.tools.length, 2)
      put(`${directory}/SKILL.md`, "---\ndescription: new\n---\n")
      assert.strictEqual((yield* store.find("one")).description, "new")
      Fs.rmSync(directory, { recursive: true })
      assert.deepStrictEqual(yield* store.list, [])
    })
  )

  inPlace("are known soon after the first time, before any of them was listed", ({ home, skill }, store) =>
    Effect.gen(function* () {
      skill(`${home}/skills/one`, "Does: this")
      assert.deepStrictEqual(store.known(), [])
      const turn = Effect.promise(() => new Promise((resume) => setImmediate(resume)))
      yield* Effect.repeat(turn, { until: () => store.known()[0]?.description === "Does: this" })
      const known = store.known()
      assert.deepStrictEqual(
        known.map(({ description, name }) => [name, description]),
        [["one", "Does: this"]]
      )
      assert.deepStrictEqual(yield* store.list, known)
    })
  )

  inPlace("is found by the name in its front matter, where one skill alone has that", ({ home, put }, store) =>
    Effect.gen(function* () {
      for (const [directory, name] of [
        ["one", "first"],
        ["two", "both"],
        ["three", "both"]
      ])
        put(`${home}/skills/${directory}/SKILL.md`, `---\nname: ${name}\ndescription: d\n---\nDo it.\n`)
      assert.strictEqual((yield* store.find("first")).name, "one")
      assert.strictEqual((yield* store.load("first")).skill.directory, `${home}/skills/one`)
      assert.include((yield* Effect.flip(store.find("both"))).message, "Unknown skill: both")
    })
  )

  inPlace("an unknown one is answered with the nearest names", ({ home, skill }, store) =>
    Effect.gen(function* () {
      for (const name of ["pdf-forms", "pptx", ...Array.from({ length: 20 }, (_, at) => `skill-${at}`)]) {
        skill(`${home}/skills/${name}`)
      }
      const reason = (name: string) =>
        Effect.map(Effect.flip(store.find(name)), ({ message }) => message.split("\nBash(")[0])
      assert.strictEqual(yield* reason("pdf"), "Unknown skill: pdf (in skill:pdf). Did you mean pdf-forms?")
      assert.strictEqual(yield* reason("pptx2"), "Unknown skill: pptx2 (in skill:pptx2). Did you mean pptx?")
      // A misspelt command on skills is no skill.
      assert.include(yield* reason("lst"), "\nDid you mean skill:list?")
      assert.match(
        (yield* reason("zzz")) ?? "",
        /^Unknown skill: zzz \(in skill:zzz\)\.\nThere are these skills: pdf-forms, pptx, skill-0, .*, and 2 more\.$/
      )
    })
  )

  inPlace("a directory without instructions is told, and is in nobody's way", ({ home, project, put, skill }, store) =>
    Effect.gen(function* () {
      const at = `${project}/.claude/skills`
      for (const name of ["empty", "real"]) Fs.mkdirSync(`${at}/${name}`, { recursive: true })
      skill(`${home}/skills/real`)
      skill(`${at}/bundle/pdf`)
      put(`${at}/cased/Skill.MD`, "x")
      put(`${at}/README.md`, "no directory")
      put(`${home}/secret/SKILL.txt`, "x")
      Fs.symlinkSync(`${home}/secret`, `${at}/out`)
      Fs.symlinkSync("/nowhere", `${at}/dangling`)
      const problems = (yield* store.list).map(({ name, problem }) => [name, problem])
      assert.deepStrictEqual(problems, [
        ["bundle", "it can't be used: it has no SKILL.md"],
        ["cased", "it can't be used: it has no SKILL.md"],
        ["empty", "it can't be used: it has no SKILL.md"],
        ["out", "it can't be used: it is a link that leads out of the project"],
        ["real", undefined]
      ])
      const { directory, hides } = yield* store.find("real")
      assert.deepStrictEqual([directory, hides], [`${home}/skills/real`, undefined])
      assert.strictEqual(
        (yield* Effect.flip(store.load("empty"))).message,
        "empty: it can't be used: it has no SKILL.md."
      )
      assert.notMatch((yield* Effect.flip(store.find("emptyy"))).message, /empty[^y]/)
      // It becomes one.
      skill(`${at}/empty`)
      assert.isUndefined((yield* store.list).find(({ name }) => name === "empty")?.problem)
    })
  )

  inPlace("no name leads out of their directory", ({ home, project, skill }, store) =>
    Effect.gen(function* () {
      skill(`${home}/skills/in`)
      skill(`${home}/out`)
      skill(`${project}/out`)
      for (const name of [
        "../out",
        "..",
        ".",
        "",
        "/",
        `${home}/out`,
        "in/../../out",
        "in/",
        "in\0",
        "in\n",
        "./in",
        "*",
        "$(in)"
      ]) {
        const error = yield* Effect.flip(store.find(name))
        assert.strictEqual(error._tag, "CommandNotFound", JSON.stringify(name))
        assert.notMatch(error.message, /[\0-\x08\x0b-\x1f\x7f]/)
        assert.strictEqual((yield* Effect.flip(store.load(name)))._tag, "CommandNotFound")
      }
    })
  )

  inPlace(
    "directories with names that no command can have are shown as they are, and can't be used",
    ({ home, skill }, store) =>
      Effect.gen(function* () {
        for (const name of ["a b", "x\n\x1b[31my", "$(touch no)", "a:b", ".hidden", "-rf"])
          skill(`${home}/skills/${name}`)
        const skills = yield* store.list
        assert.deepStrictEqual(names(skills), ["$(touch no)", "-rf", "a b", "a:b", "x\n\x1b[31my"])
        for (const { problem, tools } of skills) {
          assert.match(problem ?? "", /^it can't be used: its name /)
          assert.deepStrictEqual(tools, [])
        }
      })
  )

  inPlace(
    "links out of a skill are no tools, no instructions, and no way out of the project",
    ({ home, project, put, skill }, store) =>
      Effect.gen(function* () {
        const secret = put(`${home}/secret`, "---\ndescription: secret\n---\nsecret")
        put(`${home}/outside/run.sh`, "echo outside")
        skill(`${home}/elsewhere`)
        const one = skill(`${project}/.agents/skills/one`)
        put(`${one}/scripts/fine.sh`, "")
        put(`${one}/.env`, "---\ndescription: secret\n---\n")
        Fs.symlinkSync("fine.sh", `${one}/scripts/same.sh`)
        Fs.symlinkSync(`${home}/outside/run.sh`, `${one}/scripts/out.sh`)
        Fs.symlinkSync(`${home}/outside`, `${one}/scripts/dir`)
        Fs.symlinkSync("/nowhere", `${one}/scripts/dangling.sh`)
        Fs.symlinkSync(".", `${one}/scripts/loop`)
        put(`${one}/scripts/bad name.sh`, "")
        put(`${one}/scripts/bad\n\x1b[2J.sh`, "")
        Fs.mkdirSync(`${project}/.agents/skills/two`)
        Fs.symlinkSync(secret, `${project}/.agents/skills/two/SKILL.md`)
        Fs.symlinkSync(`${home}/elsewhere`, `${project}/.agents/skills/three`)
        Fs.mkdirSync(`${project}/.claude`)
        Fs.symlinkSync("../.agents/skills", `${project}/.claude/skills`)
        Fs.mkdirSync(`${project}/.agents/skills/four`)
        Fs.symlinkSync("../one/.env", `${project}/.agents/skills/four/SKILL.md`)
        Fs.mkdirSync(`${home}/skills`)
        Fs.symlinkSync(one, `${home}/skills/linked`)

        const skills = yield* store.list
        const problems = Object.fromEntries(skills.map(({ name, problem }) => [name, problem]))
        assert.deepStrictEqual(Object.keys(toolsOf(yield* store.find("one"))), ["fine", "same"])
        const left = problems["one"] ?? ""
        for (const name of [
          "scripts/out.sh is a link that leads out",
          "scripts/dir is a link",
          "scripts/bad name.sh has a name"
        ]) {
          assert.include(left, name)
        }
        assert.match(problems["two"] ?? "", /^it can't be used: its SKILL\.md is a link that leads out/)
        assert.match(problems["three"] ?? "", /^it can't be used: it is a link that leads out of the project$/)
        assert.match(problems["four"] ?? "", /^it can't be used: its SKILL\.md is a link/)
        assert.strictEqual(
          skills.some(({ description }) => description === "secret"),
          false
        )
        for (const name of ["two", "three", "four"]) {
          assert.match((yield* Effect.flip(store.load(name))).message, /it can't be used/)
        }
        // The user's own link.
        assert.strictEqual((yield* store.load("linked")).text, "Do it.\n")
      })
  )

  inPlace(
    "a SKILL.md that is a pipe, a device or a directory is not read, and nobody waits for it",
    ({ home, project, put }, store) =>
      Effect.gen(function* () {
        for (const name of ["pipe", "device", "directory", "large"])
          Fs.mkdirSync(`${project}/.agents/skills/${name}`, { recursive: true })
        ChildProcess.execFileSync("mkfifo", [`${project}/.agents/skills/pipe/SKILL.md`])
        Fs.symlinkSync("/dev/zero", `${project}/.agents/skills/device/SKILL.md`)
        Fs.mkdirSync(`${project}/.agents/skills/directory/SKILL.md`)
        put(`${project}/.agents/skills/large/SKILL.md`, `---\ndescription: x\n---\n${"x".repeat(2 ** 20)}`)
        put(`${home}/skills/large/scripts/x`, "")
        const problems = (yield* store.list).map(({ name, problem }) => [name, problem])
        assert.deepStrictEqual(problems, [
          ["device", "it can't be used: its SKILL.md is not a regular file"],
          ["directory", "it can't be used: its SKILL.md is not a regular file"],
          ["large", "its SKILL.md is larger than 1048576 bytes, and can't be loaded"],
          ["pipe", "it can't be used: its SKILL.md is not a regular file"]
        ])
        assert.match((yield* Effect.flip(store.load("large"))).message, /is larger than 1048576 bytes/)
      })
  )

  inPlace("hundreds are listed, each as it is now", ({ home, put, skill }, store) =>
    Effect.gen(function* () {
      for (let at = 0; at < 100; at++) put(`${skill(`${home}/skills/s${at}`, `Number ${at}`)}/scripts/run.sh`, "")
      const first = yield* store.list
      assert.deepStrictEqual([first.length, first[99]?.description], [100, "Number 99"])
      put(`${home}/skills/s5/SKILL.md`, "---\ndescription: changed\n---\n")
      assert.strictEqual((yield* store.list).find(({ name }) => name === "s5")?.description, "changed")
    })
  )
})

describe("what runs a tool", () => {
  inPlace("is its first line, or else its extension", ({ home, put, skill }, store) =>
    Effect.gen(function* () {
      const directory = skill(`${home}/skills/x`)
      const files: ReadonlyArray<
        readonly [name: string, text: string, names: ReadonlyArray<string>, before?: ReadonlyArray<string>]
      > = [
        ["a.py", "", ["python3", "python"]],
        ["b.mjs", "", ["node"]],
        ["c.rb", "", ["ruby"]],
        // Node 22.18 is the first that runs TypeScript.
        ["d.ts", "", ["tsx", "bun", ...(Number.parseFloat(process.versions.node) >= 22.18 ? ["node"] : [])]],
        ["e.PHP", "", ["php"]],
        ["f.py", "#!/opt/py -u -B\n", ["/opt/py"], ["-u -B"]],
        ["g.sh", "#! /bin/sh\r\necho", ["/bin/sh"]],
        ["h", "#!/usr/bin/env node", ["node"]],
        ["i", "#!/usr/bin/env -S node --no-warnings\n", ["/usr/bin/env"], ["-S node --no-warnings"]],
        ["j", "#!/usr/bin/env python\n", ["python", "python3"]],
        ["k.pl", "#!\n", ["perl"]]
      ]
      for (const [name, text] of files) put(`${directory}/scripts/${name}`, text)
      Fs.copyFileSync("/bin/true", `${directory}/scripts/l`)
      Fs.chmodSync(`${directory}/scripts/l`, 0o755)
      put(`${directory}/scripts/no.md`, "#!/bin/sh", 0o644)
      put(`${directory}/scripts/no.json`, "{}", 0o755)
      put(`${directory}/scripts/no.d.ts`, "")
      put(`${directory}/scripts/yes.txt`, "#!/bin/sh", 0o755)
      const found = yield* store.find("x")
      const programs = Object.fromEntries(found.tools.map((tool) => [tool.name, store.program(found, tool, ["a", ""])]))
      for (const [name, , names, before = []] of files) {
        const path = `${directory}/scripts/${name}`
        assert.deepStrictEqual(programs[name.split(".")[0] ?? ""], {
          names,
          args: [...before, path, "a", ""],
          file: path
        })
      }
      assert.deepStrictEqual(programs["l"], { names: [`${directory}/scripts/l`], args: ["a", ""] })
      assert.deepStrictEqual(names(found.tools as never).slice(-2), ["l", "yes"])
    })
  )
})
