/**
 * Every command that a result offers in the place of a wrong one is called as it is printed: it must not be wrong itself. The
 * wrong ones are those of the corpus, and forms of other agents' tools.
 */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ToolReturn } from "../../src/toolset/ToolReturn.js"
import * as Entry from "../support/corpus/Entry.js"
import * as Ground from "../support/corpus/Ground.js"
import { has } from "../support/escape/Ground.js"
import { inHouse } from "../support/toolset/House.js"

/** The call that a result offers; undefined where it offers none, or a form with a placeholder. */
const offered = (command: string, { output }: Pick<ToolReturn, "output">): object | undefined => {
  const call = /^Use: (\{.*\})$/m.exec(output)?.[1]
  if (call !== undefined) return call.includes('"<command>"') ? undefined : JSON.parse(call)
  const tool = /^CORRECTION: Bash\(command=("(?:\\.|[^"\\])*")\)/m.exec(output)?.[1]
  if (tool !== undefined) return /<\w+>/.test(tool) ? undefined : { command: JSON.parse(tool) }
  const line =
    /(?:here it is|Correct|without them|as every command):\s([\s\S]*?)(?: \(in [^)]*\))?(?:\n\[exit \d+\])?$/.exec(
      output
    )?.[1]
  if (line !== undefined) return { command: line.trim() }
  const meant = /did you mean (.+)\?/.exec(output)?.[1]
  if (meant === undefined) return undefined
  const missing = /^bash: (?:line \d+: )?([^:]+): command not found$/m.exec(output)?.[1]
  const written = /(?:access '|cat: |: )([^\s':]+)'?: No such file/.exec(output)?.[1]
  const wrong = missing ?? written
  return wrong === undefined ? undefined : { command: command.replace(wrong, () => meant) }
}

/** The exit codes of a search that finds nothing, and of a pipe that nobody reads. */
const fine = new Set([0, 1])

/** Tests whether a command failed in its usage, and not for what it works on. */
const isWrong = ({ extras: { exitCode = 0, failureCategory }, output }: ToolReturn, command: string): boolean =>
  // Of a name that was written wrongly, only that is put right.
  !command.includes("TodoWrite '[]'") &&
  ((failureCategory === "invalid_usage" && !output.includes("the old text was not found")) ||
    failureCategory === "command_not_found" ||
    !fine.has(exitCode) ||
    (exitCode === 1 && !/^grep/.test(command) && !output.includes("the old text was not found")) ||
    output.includes("No such file"))

const forms = [
  "Read file_path=a.txt",
  "Read a.txt",
  "Read path=a.txt offset=2 limit=1",
  "read_file src/main.ts",
  "Read Makefile",
  "Write n.txt hello",
  "Write file_path=n.txt content='it is -- \"it\"'",
  "Write file_path=n.txt content=-x",
  "Edit a.txt one two",
  "Edit file_path=b.txt old_string=one new_string=-1",
  "str_replace_based_edit_tool view a.txt",
  "str_replace_based_edit_tool create g.txt hi",
  "str_replace_based_edit_tool command=view path=a.txt",
  "str_replace_based_edit_tool insert g.txt 1 more",
  "str_replace_editor str_replace g.txt hi ho",
  "Grep -n port src",
  "Grep port src",
  "Grep pattern=port path=src",
  "rg -n port",
  "ag port",
  "Glob '**/*.ts'",
  "Glob pattern='**/*.ts' path=src",
  "LS",
  "LS src",
  "list_dir path=src",
  "TodoRead",
  "TodoWrite '[\"Run it\"]'",
  `TodoWrite '{"todos":[{"content":"Run it","status":"done"}]}'`,
  'TodoWrite todos=\'[{"content":"It\'\\\'\'s done","status":"done"}]\'',
  "Bash ls",
  "Bash(command='ls src')",
  // The arguments as an object.
  `Edit '{"file_path":"b.txt","old_string":"deux","new_string":"2"}'`,
  `Read '{"file_path":"a.txt","limit":1}'`,
  `Read {"file_path":"a.txt"}`,
  `Write '{"file_path":"w.txt","content":"it is {}\\n"}'`,
  `MultiEdit '{"file_path":"many.txt","edits":[{"old_string":"x","new_string":"v"},{"old_string":"x","new_string":"w"}]}'`,
  `Grep '{"pattern":"port","path":"src","output_mode":"content"}'`,
  `Glob '{"pattern":"**/*.ts"}'`,
  `LS '{"path":"src"}'`,
  `TodoRead`,
  `str_replace_based_edit_tool '{"command":"view","path":"a.txt"}'`,
  `update_plan '{"plan":[{"step":"a","status":"pending"}]}'`,
  `shell '{"command":["ls","src"]}'`,
  `glob '**/*.ts'`,
  `read '{"filePath":"a.txt"}'`,
  `edit '{"filePath":"a.txt","oldString":"two","newString":"2"}'`,
  `write '{"filePath":"w.txt","content":"one"}'`,
  // A patch without quotes.
  "*** Begin Patch\n*** Add File: l.txt\n+new\n*** End Patch",
  "apply_patch *** Begin Patch\n*** Add File: k.txt\n+new\n*** End Patch",
  "apply_patch\n*** Begin Patch\n*** Add File: j.txt\n+new\n*** End Patch\nEOF",
  "--- /dev/null\n+++ b/i.txt\n@@ -0,0 +1 @@\n+new\n",
  '["bash","-lc","ls src"]',
  `["apply_patch","*** Begin Patch\\n*** Add File: h.txt\\n+new\\n*** End Patch\\n"]`,
  `Bash '{"command":"ls"}'`,
  "true && gti status",
  "echo x; gti status | head -n 1",
  "cat scr/main.ts",
  "echo x; cat src/mian.ts"
]

/** Forms that mean nothing certain: what is offered for them would be wrong. */
const unclear = [
  "Read a.txt 1 2",
  "rg --files",
  "fd -e ts",
  "str_replace_editor",
  "Grep --no-such a",
  `Read '{"file_path":"a.txt"'`,
  `Read '{"path":5}'`,
  `Edit '{"file_path":"a.txt"}'`,
  "Read(path)",
  'Read a.txt > z.txt; Read "$f"',
  "cat > x.py <<'E'\nRead('a.txt')\nE\n)",
  "Write file_path=n.txt <<'E'\nx\nE",
  'NotebookEdit \'{"notebook_path":"a.ipynb"}\'',
  "WebFetch https://example.org",
  `WebFetch '{"url":"https://example.org"}'`,
  "*** Begin Patch\n*** Update File: a.txt\n"
]

/** Calls of other tools, and a part of what the command that is offered prints. */
const tools: ReadonlyArray<readonly [name: string, given: object, says: string]> = [
  ["list_dir", { relative_workspace_path: "src" }, "main.ts"],
  ["view", { path: "src" }, "main.ts"],
  ["view", { path: "Makefile" }, "all:"],
  ["view", { path: "a.txt" }, "one"],
  ["str_replace_based_edit_tool", { command: "view", path: "src" }, "main.ts"],
  ["Edit", { file_path: "made.txt", old_string: "", new_string: "x" }, "Written"],
  ["rg", { pattern: "port" }, "config.ts"],
  ["python", { code: "print(6 * 7)" }, "42"],
  ["functions.shell", { command: ["bash", "-lc", "ls src"] }, "main.ts"],
  ["Read", { file_path: "~/x.txt" }, "home"]
]

/** Calls that are answered with the usage, and the right call. */
/** Tests whether a call is of a program that is not here. */
const lacksProgram = (call: unknown): boolean =>
  ["python3", "journalctl"].some((program) => !has(program) && JSON.stringify(call).includes(program))

const usages = ["edit --patch fix.diff", "write --append b.txt more"]

describe("what is offered in the place of a wrong call", () => {
  inHouse("is right as it is printed, for the forms of other agents", (house) =>
    Effect.gen(function* () {
      const { work } = Ground.prepare(`${house.cwd}/ground`)
      yield* house.run(`cd ${work}`)
      for (const command of forms) {
        if (command.startsWith("rg ") && has("rg")) continue
        const said = yield* house.handle({ command })
        const call = offered(command, said)
        assert.isDefined(call, `${command}: ${said.output}`)
        const answer = yield* house.handle(call as object)
        assert.isFalse(
          isWrong(answer, JSON.stringify(call).slice(12)),
          `${command}: ${JSON.stringify(call)}: ${answer.output}`
        )
        yield* house.run(`cd ${work}`)
      }
      for (const command of unclear) {
        const said = yield* house.handle({ command })
        assert.isUndefined(offered(command, said), said.output)
      }
      assert.strictEqual(Fs.readFileSync(`${work}/n.txt`, "utf8"), "-x")
      assert.strictEqual(Fs.readFileSync(`${work}/g.txt`, "utf8"), "ho\nmore\n")
    })
  )

  inHouse("is right as it is printed, for tools with names that are not ours", (house) =>
    Effect.gen(function* () {
      const { work } = Ground.prepare(`${house.cwd}/ground`)
      yield* house.run(`cd ${work}; HOME=$PWD/home; mkdir ~; echo home > ~/x.txt`)
      for (const [name, given, says] of tools) {
        const said = yield* house.handle(given, "other", name)
        const call = offered("", said)
        assert.isDefined(call, `${name}: ${said.output}`)
        if (lacksProgram(call)) continue
        const answer = yield* house.handle(call as object)
        assert.isFalse(isWrong(answer, JSON.stringify(call).slice(12)), `${name}: ${said.output}: ${answer.output}`)
        assert.include(answer.output, says, name)
      }
      const again = offered(
        "",
        yield* house.handle({ file_path: "a.txt", old_string: "", new_string: "x" }, "o", "Edit")
      )
      assert.strictEqual((yield* house.handle(again as object)).extras.exitCode, 1)
    })
  )

  inHouse("is right as it is printed, where a usage shows it", (house) =>
    Effect.gen(function* () {
      const { work } = Ground.prepare(`${house.cwd}/ground`)
      yield* house.run(`cd ${work}; diff -u a.txt b.txt | sed 's/b.txt/a.txt/' > fix.diff`)
      for (const command of usages) {
        const { output } = yield* house.handle({ command })
        const shown = /^Usage: .*\n((?: {2}.*\n)+)Bash/m.exec(output)?.[1] ?? assert.fail(`${command}: ${output}`)
        const call = { command: shown.trimEnd().replace(/^ {2}/gm, "") }
        const answer = yield* house.handle(call)
        assert.isFalse(isWrong(answer, JSON.stringify(call).slice(12)), `${command}: ${output}: ${answer.output}`)
      }
    })
  )

  inHouse("is right as it is printed, for the calls of the corpus", (house) =>
    Effect.gen(function* () {
      let seen = 0
      for (const kind of Entry.kinds) {
        for (const [at, entry] of Entry.load(kind).entries()) {
          const { command = "", output = [] } = entry
          const root = `${house.cwd}/${kind}${at}`
          const call = offered(command, { output: output.join("\n").replaceAll("<cwd>", `${root}/work`) })
          if (call === undefined || lacksProgram(call)) continue
          const { work } = Ground.prepare(root)
          yield* house.run(`cd ${work}`)
          const answer = yield* house.handle(call)
          assert.isFalse(
            isWrong(answer, JSON.stringify(call).slice(12)),
            `${command || JSON.stringify(entry.arguments)}: ${JSON.stringify(call)}: ${answer.output}`
          )
          seen++
        }
      }
      assert.isAtLeast(seen, 30)
    })
  )
})
