import { assert, describe, it } from "@effect/vitest"
import { SessionState } from "../../src/session/internal/SessionState.js"
import * as ShellState from "../../src/session/internal/ShellState.js"

const next = {
  environment: ["KEPT", "GONE", "MISSING", "not a name"],
  ours: ["write", "edit"],
  refused: ["do"],
  directory: "/d"
}

const state = (parts: Readonly<Record<string, string>>) =>
  Object.entries({ variables: "", ...parts, end: "" })
    .map(([name, text]) => `${name}\n${text}\0`)
    .join("")

const restore = (parts: Readonly<Record<string, string>>) => ShellState.restoration(state(parts), next)

describe("restoration", () => {
  it("is there only where the state is whole", () => {
    for (const said of ["", "variables\n\0", "end\n\0", "variables\n\0\0", `${state({})}x`, state({}).slice(0, -1)]) {
      assert.strictEqual(ShellState.restoration(said, next), undefined, JSON.stringify(said))
    }
    assert.isDefined(restore({}))
  })

  it("unsets what the environment has and the old shell had not, and leaves out options that would harm", () => {
    const options = ["noexec", "onecmd", "history", "monitor", "vi", "pipefail"]
    const said = restore({
      directory: "builtin cd -- /\n",
      variables: 'declare -x KEPT="1"\ndeclare -- GONE="2"\n',
      options: options.map((name) => `set -o ${name}\n`).join("")
    })
    assert.strictEqual(
      said?.text,
      "\\builtin eval 'builtin cd -- /\n'&&__synapse_elsewhere=||__synapse_elsewhere=$PWD\n" +
        "\\builtin unset -v GONE MISSING\n" +
        '\\builtin eval \'declare -x KEPT="1"\ndeclare -- GONE="2"\n\'\n' +
        "\\builtin unset -v PROMPT_COMMAND; \\builtin unalias -a\n" +
        "\\builtin eval 'set -o pipefail\n'\n" +
        "\\builtin trap - DEBUG RETURN\n"
    )
  })

  it("tells errexit and tracing apart, which hold while a command runs only", () => {
    const said = restore({ options: "set -o errexit\nset +o xtrace\n" })
    assert.deepStrictEqual([said?.options, said?.text.includes("errexit")], ["e", false])
    assert.strictEqual(restore({ options: "set -o errexit\nset -o xtrace\n" })?.options, "ex")
  })

  it("takes each function by itself, without ours, and keeps apart what a here-document holds", () => {
    const own = "a () \n{ \n    cat <<X\nb () \n}\nX\n\n}\n"
    const b = "b () \n{ \n    :\n}\n"
    const ours = `write () \n{ \n    ( . '/d'/call write "$@" )\n}\n`
    const said = restore({
      attributes: "declare -f __synapse_call\ndeclare -fx a\ndeclare -f b\ndeclare -f write\n",
      functions: `__synapse_call () \n{ \n    :\n}\n${own}${b}${ours}`
    })
    const lines = said?.text ?? ""
    assert.include(lines, `\\builtin eval '${own}'\n\\builtin eval '${b}'\n\\builtin eval 'declare -fx a'\n`)
    assert.notInclude(lines, "__synapse_call")
    assert.deepStrictEqual(said?.own, [])
  })

  it("names the user's own functions and aliases that hide ours, and the aliases that no shell may have", () => {
    const said = restore({
      attributes: "declare -f write\n",
      functions: "write () \n{ \n    echo mine\n}\n",
      aliases: "alias do='x'\nalias edit='y'\nalias ll='ls -l\nalias no=1'\n"
    })
    assert.deepStrictEqual([said?.own, said?.removed], [["write", "edit"], ["do"]])
    assert.notInclude(said?.text ?? "", "alias do=")
  })

  it("sets limits and disables builtins only once a shell has started", () => {
    const said = restore({
      soft: "core file size              (blocks, -c) 0\npipe size            (512 bytes, -p) 8\n",
      hard: "open files                          (-n) unlimited\n",
      disabled: "enable -n echo\nenable -n [\nenable -n x;rm\n"
    })
    assert.strictEqual(
      said?.once,
      "\\builtin ulimit -S -c 0 2>/dev/null||\\builtin :;" +
        "\\builtin ulimit -H -n unlimited 2>/dev/null||\\builtin :;\\builtin enable -n echo [;"
    )
  })
})

describe("SessionState", () => {
  it("knows that a command has ended its shell, until the next command", () => {
    const session = new SessionState("/d")
    session.handOver(state({}), next)
    assert.isTrue(session.hasLeft)
    session.takeBefore("true", [], false)
    assert.isFalse(session.hasLeft)
  })
})
