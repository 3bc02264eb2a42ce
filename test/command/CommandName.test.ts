import { assert, it } from "@effect/vitest"
import * as CommandName from "../../src/command/CommandName.js"
import * as Synapse from "../../src/Synapse.js"

it("the names of the commands that Synapse brings are those of its registry", () => {
  const exact = Object.keys(Synapse.commands).filter((name) => !name.endsWith("*"))
  assert.sameMembers([...CommandName.callable, "bash"], exact)
  assert.isTrue(Object.keys(Synapse.commands).every(CommandName.isBuiltIn))
})
