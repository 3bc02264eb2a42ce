import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ToolReturn } from "../../src/toolset/ToolReturn.js"
import * as Entry from "../support/corpus/Entry.js"
import * as Ground from "../support/corpus/Ground.js"
import { has } from "../support/escape/Ground.js"
import { inApp } from "../support/toolset/App.js"

/** The call that a result offers; undefined where it offers none, or a form with a placeholder. */
const offered = (command: string, { output }: Pick<ToolReturn, "output">): object | undefined => {
  const call = /^Use: (\{.*\})$/m.exec(output)?.[1]
  if (call !== undefined) return call.includes('"<command>"') ? undefined : JSON.parse(call)
  const tool = /^CORRECTION: Bash\(command=("(?:\\.|[^"\\])*")\)/m.exec(output)?.[1]
  if (tool !== undefined) return /<\w+>/.test(tool) ? undefined : { command: JSON.parse(tool) }
  const line = /(?:as every command):\s([\s\S]*?)(?: \(in [^)]*\))?(?:\n\[exit \d+\])?$/.exec(output)?.[1]
  if (line !== undefined) return { command: line.trim() }
  const meant = /did you mean (.+)\?/.exec(output)?.[1]
  if (meant === undefined) return undefined
  const missing = /^bash: (?:line \d+: )?([^:]+): command not found$/m.exec(output)?.[1]
  // Of another agent's tool, only the name is put right.
  if (missing !== undefined && /[A-Z]/.test(missing)) return undefined
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
  "Bash ls",
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
  "fd -e ts",
  "str_replace_editor",
  "Read(path)",
  "cat > x.py <<'E'\nRead('a.txt')\nE\n)",
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
  inApp("is right as it is printed, for the forms of other agents", (app) =>
    Effect.gen(function* () {
      const { work } = Ground.prepare(`${app.cwd}/ground`)
      yield* app.run(`cd ${work}`)
      for (const command of forms) {
        const said = yield* app.handle({ command })
        const call = offered(command, said)
        assert.isDefined(call, `${command}: ${said.output}`)
        const answer = yield* app.handle(call as object)
        assert.isFalse(
          isWrong(answer, JSON.stringify(call).slice(12)),
          `${command}: ${JSON.stringify(call)}: ${answer.output}`
        )
        yield* app.run(`cd ${work}`)
      }
      for (const command of unclear) {
        const said = yield* app.handle({ command })
        assert.isUndefined(offered(command, said), said.output)
      }
    })
  )

  inApp("is right as it is printed, for tools with names that are not ours", (app) =>
    Effect.gen(function* () {
      const { work } = Ground.prepare(`${app.cwd}/ground`)
      yield* app.run(`cd ${work}; HOME=$PWD/home; mkdir ~; echo home > ~/x.txt`)
      for (const [name, given, says] of tools) {
        const said = yield* app.handle(given, "other", name)
        const call = offered("", said)
        assert.isDefined(call, `${name}: ${said.output}`)
        if (lacksProgram(call)) continue
        const answer = yield* app.handle(call as object)
        assert.isFalse(isWrong(answer, JSON.stringify(call).slice(12)), `${name}: ${said.output}: ${answer.output}`)
        assert.include(answer.output, says, name)
      }
      const again = offered("", yield* app.handle({ file_path: "a.txt", old_string: "", new_string: "x" }, "o", "Edit"))
      assert.strictEqual((yield* app.handle(again as object)).extras.exitCode, 1)
    })
  )

  inApp("is right as it is printed, where a usage shows it", (app) =>
    Effect.gen(function* () {
      const { work } = Ground.prepare(`${app.cwd}/ground`)
      yield* app.run(`cd ${work}; diff -u a.txt b.txt | sed 's/b.txt/a.txt/' > fix.diff`)
      for (const command of usages) {
        const { output } = yield* app.handle({ command })
        const shown = /^Usage: .*\n((?: {2}.*\n)+)Bash/m.exec(output)?.[1] ?? assert.fail(`${command}: ${output}`)
        const call = { command: shown.trimEnd().replace(/^ {2}/gm, "") }
        const answer = yield* app.handle(call)
        assert.isFalse(isWrong(answer, JSON.stringify(call).slice(12)), `${command}: ${output}: ${answer.output}`)
      }
    })
  )

  inApp("is right as it is printed, for the calls of the corpus", (app) =>
    Effect.gen(function* () {
      let seen = 0
      for (const kind of Entry.kinds) {
        for (const [at, entry] of Entry.load(kind).entries()) {
          const { command = "", output = [] } = entry
          const root = `${app.cwd}/${kind}${at}`
          const call = offered(command, { output: output.join("\n").replaceAll("<cwd>", `${root}/work`) })
          if (call === undefined || lacksProgram(call)) continue
          const { work } = Ground.prepare(root)
          yield* app.run(`cd ${work}`)
          const answer = yield* app.handle(call)
          assert.isFalse(
            isWrong(answer, JSON.stringify(call).slice(12)),
            `${command || JSON.stringify(entry.arguments)}: ${JSON.stringify(call)}: ${answer.output}`
          )
          seen++
        }
      }
      assert.isAtLeast(seen, 20)
    })
  )
})
