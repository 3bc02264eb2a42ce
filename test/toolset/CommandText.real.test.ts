/** What is no command, over a real bash: nothing of what it holds is run, though bash by itself would run it. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Directory from "../support/sandbox/Directory.js"
import { inApps } from "../support/toolset/App.js"

const f = "```"

/** Texts that leave a file `evil` behind where bash gets them; `attack.txt` holds `touch evil`. */
const attacks: Readonly<Record<string, string>> = {
  "a fence around a file's name": `${f}bash\ncat attack.txt\n${f}`,
  "a fence of another language": `${f}python\ncat attack.txt\n${f}`,
  "text before a fence": `This shows it:\n${f}bash\ncat attack.txt\n${f}`,
  "text behind a fence": `${f}bash\ncat attack.txt\n${f}\nIt shows the file.`,
  "several fences": `${f}\ncat attack.txt\n${f}\nand\n${f}\ncat attack.txt\n${f}`,
  "an indented fence": `  ${f}\n  cat attack.txt\n  ${f}\n  done`,
  "nested fences": `${f}${f}\n${f}\ncat attack.txt\n${f}\n${f}${f}`,
  "fences of tildes around others": `~~~\n${f}\ncat attack.txt\n${f}\n~~~`,
  "a fence on one line": `${f}cat attack.txt${f}`,
  "a fence behind words": `Run this: ${f}touch evil${f}`,
  "a fence after a comment": `# do it\n${f}\ncat attack.txt\n${f}`,
  "output behind a prompt": "$ ls\n`cat attack.txt`",
  "commands behind a prompt": "$ ls\ntouch evil",
  "a prompt in quotes": "$ echo it's\n$ echo it's; touch evil",
  "JSON of a call": '{"command": "ls", "timeout": 5, "description": "$(touch evil)"}',
  "JSON that is cut": '{"command": "ls $(touch evil)"',
  "JSON of something else": '{"a": "`touch evil`"}',
  "a fence without a language": `${f}\n$(touch evil)\n${f}`,
  "a fence of output": `${f}output\ntouch evil\n${f}`,
  "prose with backquotes": "Here is `touch evil`, which makes a file",
  "prose with an arrow": "I will change a -> evil",
  "a list": "- first `touch evil`\n- then stop",
  "a numbered list": "1. run `touch evil`",
  "a quote": "> evil touch\n> more",
  "an array of words": '["sh","-c","$(touch evil)"]'
}

/** Those that no bash runs by itself: their meaning is at stake, not a file. */
const harmless = new Set(["a prompt in quotes"])

describe("bash by itself", () => {
  it.effect("runs what the attacks hold, so that they tell something", () =>
    Effect.gen(function* () {
      const cwd = yield* Directory.make
      Fs.writeFileSync(`${cwd}/attack.txt`, "touch evil\n")
      for (const [name, command] of Object.entries(attacks)) {
        if (harmless.has(name)) continue
        ChildProcess.spawnSync("/bin/bash", ["--norc", "-c", "--", command], { cwd })
        assert.isTrue(Fs.existsSync(`${cwd}/evil`), name)
        Fs.rmSync(`${cwd}/evil`)
      }
    }).pipe(Effect.scoped)
  )
})

describe("text that is no command", () => {
  inApps("runs nothing of what it holds", ({ cwd, handle, put }) =>
    Effect.gen(function* () {
      put("attack.txt", "touch evil\n")
      for (const [name, command] of Object.entries(attacks)) {
        yield* handle({ command })
        assert.deepStrictEqual(Directory.list(cwd), ["attack.txt"], name)
      }
    })
  )

  inApps("runs where its meaning is certain, and a here-document keeps its fences", ({ bytes, handle, put, run }) =>
    Effect.gen(function* () {
      put("attack.txt", "touch evil\n")
      const { output } = yield* handle({ command: `${f}bash\ncat attack.txt\n${f}` })
      assert.strictEqual(output, "touch evil\n(ran the command inside the Markdown fence)")
      assert.strictEqual((yield* run("$ cd / && pwd\n$ cd - >/dev/null")).stdout, "/\n")
      const markdown = `# A\n\n${f}bash\n$ ls \`x\`\n${f}\n\n{"command":"ls"}\n`
      const command = `cat >a.md <<'EOF'\n${markdown}EOF`
      for (const text of [command, `${f}sh\n${command}\n${f}`, `$ ${command}`]) {
        assert.strictEqual((yield* run(text)).exitCode, 0)
        assert.strictEqual(bytes("a.md"), markdown)
        yield* run("rm a.md")
      }
    })
  )

  inApps("is answered while the shell keeps its state, and restart alone makes a new one", ({ handle, run }) =>
    Effect.gen(function* () {
      yield* run("x=kept")
      yield* handle({ command: "{}" })
      assert.strictEqual((yield* run("echo $x")).stdout, "kept\n")
      assert.strictEqual((yield* handle({ restart: true })).output, "The shell was restarted.")
      assert.strictEqual((yield* run("echo $x")).stdout, "\n")
    })
  )
})
