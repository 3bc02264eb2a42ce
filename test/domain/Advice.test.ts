import { assert, describe, it } from "@effect/vitest"
import * as Advice from "../../src/domain/Advice.js"

const person = Advice.person

const said: ReadonlyArray<readonly [advice: Advice.Advice, model: string, person: string]> = [
  [Advice.line`No more.`, "No more.", "No more."],
  [
    Advice.line`${Advice.run(`ls 'a "b'`)} lists it.`,
    String.raw`Bash(command="ls 'a \"b'") lists it.`,
    "`ls 'a \"b'` lists it."
  ],
  [
    Advice.line`${Advice.run("ls -lh f")} shows its size, ${Advice.run("read f")} the rest.`,
    'Bash(command="ls -lh f") shows its size, Bash(command="read f") the rest.',
    "`ls -lh f` shows its size, `read f` the rest."
  ],
  [
    Advice.line`Hint: ${Advice.line`${Advice.run("a")} or ${Advice.run("b")}`} helps`,
    'Hint: Bash(command="a") or Bash(command="b") helps',
    "Hint: `a` or `b` helps"
  ]
]

describe("Advice", () => {
  it("is put in the words of whoever reads it", () => {
    for (const [advice, model, other] of said) {
      assert.strictEqual(Advice.render([advice], Advice.model), model)
      assert.strictEqual(Advice.render([advice], person), other)
    }
    assert.strictEqual(
      Advice.render(
        said.map(([advice]) => advice),
        person
      ),
      said.map(([, , other]) => other).join("\n")
    )
  })

  it("is data: a program finds the commands in it", () => {
    assert.deepStrictEqual(Advice.line`${Advice.run("ls src")} shows what there is.`, [
      { _tag: "Run", command: "ls src" },
      " shows what there is."
    ])
  })
})
