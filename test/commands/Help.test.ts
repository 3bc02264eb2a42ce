import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Edit from "../../src/commands/edit/Edit.js"
import * as Read from "../../src/commands/read/Read.js"
import * as Write from "../../src/commands/write/Write.js"
import { run } from "../support/commands/FileCall.js"

const commands = { read: Read, write: Write, edit: Edit }

describe("the file commands", () => {
  it.effect("say how they are used", () =>
    Effect.gen(function* () {
      for (const { grammar, make } of Object.values(commands)) {
        assert.strictEqual((yield* run(make, ["-h"])).stdout, `Usage: ${grammar.usage}\n`)
        assert.deepStrictEqual(yield* run(make, ["--help"]), {
          exitCode: 0,
          stderr: "",
          stdout: grammar.help,
          parts: 0
        })
        assert.deepStrictEqual(yield* run(make, ["f", "--help"]), yield* run(make, ["--help"]))
        assert.deepStrictEqual(
          grammar.help.match(/^[A-Z ]+$/gm)?.filter((title) => /^(US|AR|OP|EXA|EXI)/.test(title)),
          ["USAGE", "ARGUMENTS", "OPTIONS", "EXAMPLES", "EXIT CODE"]
        )
        for (const line of grammar.help.split("\n")) assert.isAtMost(line.length, 120, line)
        assert.isTrue((yield* make).usesFiles)
      }
    })
  )

  it("say in their help where their limits are", () => {
    const plain = (help: string) => help.replace(/\s+/g, " ")
    assert.include(plain(Write.grammar.help), "Where the file has several names (hard links),")
    assert.include(plain(Write.grammar.help), "overwritten in place, from a copy that is complete.")
    assert.include(plain(Edit.grammar.help), "a regular one")
    assert.include(plain(Edit.grammar.help), "its mode, its owner and its hard links stay.")
    assert.include(plain(Read.grammar.help), `("read host") calls bash's own read, unless it stands in a plain line`)
    assert.include(plain(Read.grammar.help), "In scripts of other shells (dash), read is that shell's own.")
  })
})
