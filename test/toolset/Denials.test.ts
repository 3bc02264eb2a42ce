import { assert, describe, it } from "@effect/vitest"
import { Denials } from "../../src/toolset/BashTool.js"

const first = "blocked by sandbox policy: /p/.env (rule **/.env: on the blacklist)"
const text = (what: string, also: string) =>
  [what, "The command was not run.", ...(also === "" ? [] : [also]), "Allowed: reading.", "Ask."].join("\n")

describe("the denials of a session", () => {
  it("are told in full once a rule, and then on one line that names what else was denied", () => {
    const denials = new Denials()
    const also = "Also denied: writing /usr/y (rule not whitelisted)."
    assert.strictEqual(denials.word("**/.env", text(first, also)), text(first, also))
    assert.strictEqual(
      denials.word("**/.env", text(first, also)),
      `blocked by sandbox policy: /p/.env (rule **/.env, explained before). The command was not run. ${also}`
    )
    assert.strictEqual(
      denials.word("**/.env", text(first, "")),
      "blocked by sandbox policy: /p/.env (rule **/.env, explained before). The command was not run."
    )
    const rest = "git diff -- ':!/.env' shows the rest."
    assert.strictEqual(
      denials.word("**/.env", `${first}\nThe command ran, and was refused this.\n${rest}`),
      `blocked by sandbox policy: /p/.env (rule **/.env, explained before). ${rest}`
    )
    const other = "blocked by sandbox policy: /s (rule ~/.ssh: on the blacklist)"
    // What is allowed was said; what else was denied was not.
    assert.strictEqual(denials.word("~/.ssh", text(other, also)), `${other}\nThe command was not run.\n${also}`)
    denials.forget()
    assert.strictEqual(denials.word("**/.env", text(first, "")), text(first, ""))
  })

  it("tell of each write what to ask for, once", () => {
    const denials = new Denials()
    const write = (path: string) =>
      `Blocked by the sandbox: writing ${path} (rule not whitelisted: read only)\nThe command ran, and was refused this.\nIf it has to be there, ask the user to run, for later sessions: synapse sandbox allow ${path}`
    const short = (path: string) => `Blocked by the sandbox: writing ${path} (rule not whitelisted, explained before).`
    assert.strictEqual(denials.word("not whitelisted", write("/a")), write("/a"))
    assert.strictEqual(denials.word("not whitelisted", write("/a")), short("/a"))
    const asked = `${short("/b")} To ask for: synapse sandbox allow /b`
    assert.strictEqual(denials.word("not whitelisted", write("/b")), asked)
    assert.strictEqual(denials.word("not whitelisted", write("/b")), short("/b"))
    denials.forget()
    assert.strictEqual(denials.word("not whitelisted", write("/b")), write("/b"))
  })
})
