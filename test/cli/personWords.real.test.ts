/** The advice of `synapse exec` and of the file commands: a person reads it, who types commands. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as InProcess from "../support/cli/InProcess.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"
import * as Temporary from "../support/Temporary.js"

/** Runs command lines in a directory with two files; returns how each ended, with `@` for the directory. */
const ran = (commands: ReadonlyArray<string>, options: ReadonlyArray<string> = ["--no-sandbox"]) =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "project")
    fs.mkdirSync(cwd)
    fs.writeFileSync(path.join(cwd, "config.ts"), "export const port = 80\n")
    fs.writeFileSync(path.join(cwd, ".env"), "TOKEN=1\n")
    const env = { ...process.env, SYNAPSE_HOME: path.join(directory, "home") }
    const all: Array<InProcess.Ended> = []
    for (const command of commands) {
      const ended = await InProcess.run(["exec", "--ask", "never", ...options, command], cwd, env)
      all.push({ ...ended, stderr: ended.stderr.replaceAll(cwd, "@") })
    }
    return all
  })

/** What each wrote to stderr. */
const told = async (...given: Parameters<typeof ran>) => (await ran(...given)).map(({ stderr }) => stderr)

describe("synapse exec tells a person", () => {
  it("what was probably meant, once, and nothing where an exit code is an answer", async () => {
    assert.deepStrictEqual(
      await told([
        "gerp x",
        "cat confg.ts",
        "if true; then echo",
        "grep -q nosuch config.ts",
        "exit 3",
        "gerp x || true"
      ]),
      [
        "bash: gerp: command not found\nsynapse: did you mean grep?\n",
        "cat: confg.ts: No such file or directory\nsynapse: did you mean config.ts?\n",
        "bash: line 2: syntax error: unexpected end of file\nsynapse: an if has no end: fi is missing\n",
        "",
        "",
        "bash: gerp: command not found\n"
      ]
    )
  })

  it("advice of our commands as it is typed, alone in a line and within one", async () => {
    const missing = "read: ./nosuch: No such file or directory\n`ls .` shows what there is.\n"
    assert.deepStrictEqual(await told(["read ./nosuch", "true; read ./nosuch"]), [missing, missing])
    for (const text of await told(["mcp:none:x", "edit config.ts", "task:none -d a -p b", "read ./nosuch | cat"]))
      assert.notMatch(text, /Bash\(|CORRECTION/)
  })

  it("that what a command leaves running ends, and how to keep it", async () => {
    const left =
      "synapse: what the command left running ends with exec. To keep it running: synapse exec --session NAME\n"
    const silent = "setsid -f sleep 4321 >/dev/null 2>&1 </dev/null; sleep 0.05"
    const all = await told([
      "sleep 4321 & echo started",
      "setsid -f sleep 4321",
      silent,
      "sleep 0 & wait",
      "true && echo"
    ])
    assert.deepStrictEqual(all, [left, left, left, "", ""])
    const commands = ["sleep 4321 & echo started", "setsid -f sleep 4321"]
    for (const { stdout } of await ran(commands, ["--no-sandbox", "--json"])) {
      const { output, extras } = JSON.parse(stdout)
      assert.match(output, /^\[job 1 "[^"]+" was ended with its shell\]\n?/)
      assert.strictEqual(extras.jobs[0].state, "lost")
    }
  })

  it("why a text was not run, with the command that was meant", async () => {
    assert.deepStrictEqual(await told(["```\nls\n```", "Let me list the files in src", "vim x"]), [
      "synapse: Not run: no language is given for its Markdown fence; give the command alone.\nDid you mean `ls`?\n",
      "synapse: Not run: it is prose or a quote, of which bash would run parts; give the command alone.\n",
      "synapse: Not run: vim needs a terminal, which synapse shell has.\n"
    ])
  })

  it("what a program reads in JSON as before", async () => {
    const [ended] = await ran(["gerp x"], ["--no-sandbox", "--json"])
    const { message, output } = JSON.parse(ended?.stdout ?? "")
    assert.deepStrictEqual(
      [output, message],
      [
        "bash: gerp: command not found\n[exit 127] did you mean grep?",
        'Command failed. Bash(command="grep --help") shows how to use grep, if gerp was to be that.'
      ]
    )
  })

  it.skipIf(!isSandboxed)("what the sandbox denied, and how it is allowed, without advice for models", async () => {
    assert.deepStrictEqual(await told(["cat .env", "cat .env", "touch /etc/nosuch"], []), [
      ...Array.from(
        { length: 2 },
        () =>
          "synapse: sandbox: @/.env is blocked by rule **/.env: on the blacklist (built in)\nNothing was run.\n" +
          "To let commands use it: synapse sandbox allow @/.env\n"
      ),
      "touch: cannot touch '/etc/nosuch': Read-only file system\n" +
        "synapse: sandbox: /etc/nosuch is read-only\n" +
        "To let commands write there, make it, and then: synapse sandbox allow /etc/nosuch\n"
    ])
  })
})
