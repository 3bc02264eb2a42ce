/** Commands that are valid, and are made of all that could be mistaken for something else, reach bash as they are. */
import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as Quote from "../../src/bash/Quote.js"
import * as CommandText from "../../src/toolset/internal/CommandText.js"

const SEED = Number(process.env["SEED"] ?? 1)

const name = FastCheck.constantFrom("ls", "echo", "./x", "git", "Bashful", "bash", "json", "a1", "python3")
/** A line of a text that would be no command: only within quotes, comments and here-documents. */
const noCommand = FastCheck.constantFrom(
  "```",
  "```bash",
  "  ```sh",
  "````",
  "~~~",
  "~~~ console",
  "$ ls",
  "  $ rm x",
  '{"command":"ls"}',
  '["ls"]',
  'Bash(command="ls")',
  "Bash ls",
  "text",
  ""
)
const text = FastCheck.array(noCommand, { maxLength: 6 }).map((lines) => lines.join("\n"))
const word = FastCheck.oneof(
  FastCheck.constantFrom("a", "$x", '"$x y"', "${a[@]}", "$(ls -la)", "`date`", "*.ts", "{a,b}", "~", "~/x", "<(ls)"),
  FastCheck.constantFrom("'a b'", "$'a\\n'", "\\`\\`\\`", "'```'", '"{\\"a\\":1}"', "[", "]", "-n", "~~", "$", "{}"),
  text.map(Quote.quote)
)
const plain = FastCheck.tuple(name, FastCheck.array(word, { maxLength: 3 })).map((all) => all.flat().join(" "))
const hereDocument = FastCheck.tuple(plain, text, FastCheck.constantFrom("'EOF'", "E\\OF", '"EOF"')).map(
  ([command, body, delimiter]) => `${command} <<${delimiter}\n${body === "" ? "" : `${body}\n`}EOF`
)
const comment = noCommand.map((line) => `# ${line}`)
const assignment = FastCheck.constantFrom("a=(1 2)", "a=('```' \"$ x\")", "declare -A m=([a]=1)", "x='$ ls'", "x+=1")
const condition = FastCheck.constantFrom('[ "a" ]', "[[ -n $a ]]", "[[ $a == *'```'* ]]", "((x > 1))", "! true")
const command = FastCheck.letrec<{ readonly any: string; readonly compound: string }>((tie) => ({
  any: FastCheck.oneof(
    { maxDepth: 2, depthIdentifier: "command" },
    plain,
    hereDocument,
    assignment,
    condition,
    tie("compound")
  ),
  compound: FastCheck.oneof(
    tie("any").map((inner) => `{ ${inner}\n}`),
    tie("any").map((inner) => `{\n${inner}\n}`),
    tie("any").map((inner) => `( ${inner}\n)`),
    tie("any").map((inner) => `x=$( ${inner}\n)`),
    tie("any").map((inner) => `f() {\n${inner}\n}`),
    tie("any").map((inner) => `for i in 1 2; do\n${inner}\ndone`),
    tie("any").map((inner) => `case $x in\n  a) ${inner}\n  ;;\nesac`),
    FastCheck.tuple(condition, tie("any")).map(([test, inner]) => `if ${test}; then\n${inner}\nfi`),
    FastCheck.tuple(plain, plain).map(([one, other]) => `${one} | ${other}`),
    FastCheck.tuple(condition, plain).map(([one, other]) => `${one} && ${other}`)
  )
})).any
const script = FastCheck.array(FastCheck.oneof(command, comment), { minLength: 1, maxLength: 4 }).map((commands) =>
  commands.join("\n")
)

const readText = (text: string) => CommandText.read(CommandLine.parse(text))
/** The command that a text was taken for. */
const textOf = (read: CommandText.CommandText) => (read._tag === "Wrapped" ? read.line.text : undefined)

describe("a valid command", () => {
  it("is left as it is, whatever its quotes, comments and here-documents hold", () => {
    FastCheck.assert(
      FastCheck.property(script, (command) => {
        const line = CommandLine.parse(command)
        assert.deepStrictEqual(CommandText.read(line), CommandText.CommandText.Command({ line }))
      }),
      { numRuns: 3000, seed: SEED }
    )
  })

  it("is valid for a real bash too", () => {
    const scripts = FastCheck.sample(script, { numRuns: 150, seed: SEED })
    const check = `mapfile -d '' all; for each in "\${all[@]}"; do bash -nc "$each" || printf '%s\\n' "$each"; done 2>&1`
    const { stdout } = ChildProcess.spawnSync("/bin/bash", ["-c", check], {
      input: scripts.map((each) => `${each}\0`).join(""),
      encoding: "utf8"
    })
    assert.strictEqual(stdout, "")
  })

  it("comes out of a fence and from behind prompts as it was", () => {
    const language = FastCheck.constantFrom("bash", "sh", " shell", "zsh")
    const fence = FastCheck.constantFrom("```", "````", "`````````", "~~~", "~~~~")
    const space = FastCheck.constantFrom("", "\n", " \n\n")
    FastCheck.assert(
      FastCheck.property(script, language, fence, space, (command, language, fence, space) => {
        const read = readText(`${space}${fence}${language}\n${command}\n${fence}${space}`)
        // A fence in quotes may have ended the block.
        if (read._tag === "NoCommand") assert.include(command, fence.slice(0, 3))
        else assert.strictEqual(textOf(read), command)
      }),
      { numRuns: 1500, seed: SEED }
    )
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.oneof(plain, hereDocument), { minLength: 1, maxLength: 3 }),
        (all) => {
          const read = readText(all.map((each) => `$ ${each}`).join("\n"))
          // A prompt in quotes may be a command after an apostrophe.
          if (read._tag === "NoCommand") assert.match(all.join("\n"), /'[^']*\$ /)
          else assert.strictEqual(textOf(read), all.join("\n"))
        }
      ),
      { numRuns: 1500, seed: SEED }
    )
  })
})
