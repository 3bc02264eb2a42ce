/**
 * Real programs in a real bubblewrap. `RECORD_DENIALS=1` keeps their messages as fixtures for the tests without one.
 */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import type { Denial } from "../../../src/sandbox/denial/Denial.js"
import * as Bubblewrap from "../../support/denial/Bubblewrap.js"
import { denied, harmless, harmlessToUsers, type Row, silent } from "../../support/denial/Corpus.js"
import { fixture, inOrder } from "../../support/denial/Fixture.js"
import { type World, withWorld } from "../../support/denial/World.js"

interface Outcome {
  readonly command: string
  readonly ran: Bubblewrap.Ran
  readonly denials: ReadonlyArray<Denial>
  readonly root: string
}

const outcomeIn = async (world: World, command: string): Promise<Outcome> => {
  const ran = await Bubblewrap.run(world, command)
  const denials = Attribution.make(world.policy)({
    command: CommandLine.parse(command.replaceAll("ROOT", world.root)),
    directories: [ran.directory, world.project],
    stderr: ran.stderr,
    masks: Bubblewrap.masksOf(world)
  })
  return { command, ran, denials, root: world.root }
}

const outcomes = (commands: ReadonlyArray<string>) =>
  inOrder(commands, (command) => withWorld((world) => outcomeIn(world, command)))

/** A program that is not installed says nothing of denials. */
const isInstalled = ({ ran }: Outcome): boolean => !/: command not found$/m.test(ran.stderr)

const named = ({ denials, root }: Outcome) =>
  denials.map(({ resource, rule }) => [rule.replace(root, "ROOT"), resource.slice(root.length)])

const options = { timeout: 120_000 }

describe.skipIf(!Bubblewrap.isThere)("denials of real programs", () => {
  it("are named with their rule and their resource", options, async () => {
    const rows = new Map<string, Row>(denied.map((row) => [row[0], row]))
    const all = (await outcomes([...rows.keys()])).filter(isInstalled)
    assert.deepStrictEqual(
      all.map((outcome) => [outcome.command, named(outcome), outcome.ran.stderr]),
      all.map(({ command, ran }) => [command, [rows.get(command)?.slice(1)], ran.stderr])
    )
    if (process.env["RECORD_DENIALS"] !== undefined) {
      const recorded = all.map(({ command, ran, root }) => {
        const [, rule, resource] = rows.get(command) as Row
        const directory = ran.directory.replace(root, "ROOT")
        return { command, rule, resource, directory, text: ran.stderr.replaceAll(root, "ROOT") }
      })
      Fs.writeFileSync(fixture, `${JSON.stringify(recorded, undefined, 1)}\n`)
    }
  })

  it("stay without a name where nothing is said of them", options, async () => {
    for (const outcome of await outcomes(silent)) assert.deepStrictEqual(outcome.denials, [], outcome.command)
  })

  it("are not seen in failures that the policy has no part in", options, async () => {
    const all = await outcomes(process.getuid?.() === 0 ? harmless : [...harmless, ...harmlessToUsers])
    assert.deepStrictEqual(
      all.map(({ command, denials, ran }) => [command, denials, ran.stderr]),
      all.map(({ command, ran }) => [command, [], ran.stderr])
    )
  })
})
