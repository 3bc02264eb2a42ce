import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import { hostsIn, isWrite, mentionsIn } from "../../../src/sandbox/denial/internal/Message.js"
import * as Preflight from "../../../src/sandbox/denial/Preflight.js"
import * as RealPath from "../../../src/sandbox/policy/RealPath.js"
import type { SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import { masksOf } from "../../support/denial/Bubblewrap.js"
import { withWorld } from "../../support/denial/World.js"

const preflightOf =
  (policy: SandboxPolicy) => (command: string, start: { readonly cwd: string; readonly home?: string }) =>
    Preflight.make(policy)(CommandLine.parse(command), start)

describe("preflight of a huge command", () => {
  it("says nothing of what it did not read", () =>
    withWorld(({ home, policy, project }) => {
      const preflight = preflightOf(policy)
      const start = { cwd: project, home }
      assert.strictEqual(preflight(`cat ${"a.txt ".repeat(200)}~/.ssh/id_rsa`, start)[0]?.rule, "~/.ssh")
      assert.isUndefined(preflight(`: ${"<a.txt ".repeat(300_000)}<~/.ssh/id_rsa`, start)[0])
      assert.isUndefined(preflight(`: '${"x".repeat(300_000)}'; cat ~/.ssh/id_rsa`, start)[0])
      // Before that, it knows what it knows.
      assert.strictEqual(preflight(`cat ~/.ssh/id_rsa; : '${"x ".repeat(60_000)}'`, start)[0]?.rule, "~/.ssh")
    }))

  it("knows that a path may be too long for any file, and nests no deeper than it can", () =>
    withWorld((world) => {
      const { policy, project } = world
      const preflight = preflightOf(policy)
      assert.isUndefined(preflight(`cat ${"a/".repeat(60_000)}.env`, { cwd: project })[0])
      const nested = Array.from({ length: 12 }).reduce<string>(
        (inner) => `bash -c ${`'${inner.replaceAll("'", "'\\''")}'`}`,
        "cat .env"
      )
      assert.doesNotThrow(() => preflight(nested, { cwd: project }))
    }))
})

describe("attribution of huge messages", () => {
  it("names one among many lines", () =>
    withWorld((world) => {
      const { policy, project } = world
      const stderr = `${"cat: nothing: Permission denied\n".repeat(9)}cat: .env: Permission denied\n`
      const outcome = { command: CommandLine.parse("tool"), directories: [project], masks: masksOf(world), stderr }
      assert.deepStrictEqual(
        Attribution.make(policy)(outcome).map(({ rule }) => rule),
        ["**/.env"]
      )
    }))

  it("reads of a long line what is near the refusal", () =>
    withWorld((world) => {
      const { policy, project } = world
      const attribute = Attribution.make(policy)
      const rulesOf = (stderr: string, command = "tool") =>
        attribute({ command: CommandLine.parse(command), directories: [project], masks: masksOf(world), stderr }).map(
          ({ rule }) => rule
        )
      for (const long of ["a", " ", "a.", "'", '"', "/", "(", ": ", "a://", "x://x", "Error ", "\\", "‘"]) {
        const text = long.repeat(Math.ceil(1_000_000 / long.length))
        assert.deepStrictEqual(rulesOf(`${text}: cat: .env: Permission denied\n`), ["**/.env"], long)
        rulesOf(`${text}: Permission denied${text}\n`, `tool ${text}`)
        mentionsIn(text, text)
        isWrite("access", text)
        hostsIn(`${text} network is unreachable ${text}`)
      }
      assert.deepStrictEqual(hostsIn(`${"x".repeat(100_000)} Could not resolve host: example.org`), ["example.org"])
    }))

  it("finds a path among any number of words of the command", () =>
    withWorld((world) => {
      const { policy, project } = world
      const attribute = Attribution.make(policy)
      const rulesOf = (command: string) =>
        attribute({
          command: CommandLine.parse(command),
          directories: [project],
          masks: masksOf(world),
          stderr: "tool: Permission denied\n"
        }).map(({ rule }) => rule)
      assert.deepStrictEqual(rulesOf(`tool ${"x ".repeat(100)}.env`), ["**/.env"])
      assert.deepStrictEqual(rulesOf(`tool "${"x".repeat(200_000)}" 'open(.env)'`), ["**/.env"])
      assert.deepStrictEqual(rulesOf(`tool ${"x.y ".repeat(1_000_000)}.env`), [])
    }))
})

describe("a path of many links", () => {
  it("is followed as far as is asked for", () =>
    withWorld(({ project }) => {
      Fs.mkdirSync(`${project}/d`)
      Fs.writeFileSync(`${project}/d/end`, "")
      Fs.symlinkSync(`${"d/../".repeat(500)}d`, `${project}/l0`)
      for (let at = 1; at < 30; at++) Fs.symlinkSync(`${"d/../".repeat(500)}l${at - 1}`, `${project}/l${at}`)
      const real = Fs.realpathSync.native(project)
      assert.strictEqual(RealPath.follow(`${real}/l29/end`).real, `${real}/d/end`)
      assert.strictEqual(RealPath.follow(`${real}/l29/end`).links.length, 30)
      const { links } = RealPath.follow(`${real}/l29/end`, 1000)
      assert.isBelow(links.length, 3)
    }))
})
