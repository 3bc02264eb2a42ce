import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../../support/Temporary.js"
import * as Tmux from "../../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")

/** A shell in a directory of its own, without a sandbox; its prompt is `P> ` behind the directory's name. */
const shell = (
  use: (tmux: Tmux.Tmux, directory: string) => Promise<void>,
  options: ReadonlyArray<string> = ["--no-sandbox"]
): Promise<void> =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "work")
    fs.mkdirSync(cwd)
    const command = ["sh", "-c", 'echo $$ >../pid; exec "$0" "$@"', process.execPath, program, "shell", ...options]
    const env = {
      SYNAPSE_HOME: path.join(directory, "home"),
      HOME: directory,
      ANTHROPIC_API_KEY: "",
      OPENAI_API_KEY: ""
    }
    await Tmux.using({ directory, cwd, command, env }, (tmux) => use(tmux, cwd))
  })

const mark = process.getuid?.() === 0 ? "#" : "$"
const plain = `~/work NO SANDBOX ${mark}`

describe("synapse shell without a terminal", () => {
  it("says that it needs one", () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [program, "shell"], {
      encoding: "utf8",
      input: "ls"
    })
    assert.deepStrictEqual(
      { status, stderr, stdout },
      {
        status: 2,
        stderr: "synapse: shell needs a terminal. For commands without one: synapse exec '<command>'\n",
        stdout: ""
      }
    )
  })
})

describe.skipIf(!Tmux.isThere)("synapse shell", () => {
  it("runs commands in one session, and shows the directory and the exit code in its prompt", () =>
    shell(async ({ line, press, type }) => {
      await line("There is NO sandbox: commands have all your rights. /help lists what there is.")
      await line(plain)
      type("export A=7; mkdir sub; cd sub; (exit 3)")
      press("Enter")
      await line(`~/work/sub NO SANDBOX [3] ${mark}`)
      type("echo $? $A")
      press("Enter")
      await line("3 7")
      await line(`~/work/sub NO SANDBOX ${mark}`)
      type("/exit 5")
      press("Enter")
      await line("left with 5")
    }))

  it("ends a command by Ctrl-C and keeps the session; Ctrl-D leaves", () =>
    shell(async ({ line, press, type }) => {
      await line(plain)
      type("B=kept; echo be''gun; sleep 1000")
      press("Enter")
      await line("begun")
      press("C-c")
      await line(`~/work NO SANDBOX [130] ${mark}`)
      type("echo $B $?")
      press("Enter")
      await line("kept 130")
      await line(plain)
      press("C-d")
      await line("left with 0")
    }))

  it("names the jobs that would end with it, and leaves at the second time", () =>
    shell(async ({ line, press, type, until }) => {
      await line(plain)
      type("sleep 1000 & cat")
      press("Enter")
      type("there")
      press("Enter")
      await until((lines) => lines.filter((each) => each === "there").length === 2)
      press("C-z")
      await line(`~/work NO SANDBOX [148] ${mark}`)
      const isNamed = (count: number) => (lines: ReadonlyArray<string>) =>
        lines.filter((each) => each === "These jobs end with the shell. To leave: exit again.").length === count
      press("C-d")
      const named = (await until(isNamed(1))).filter((each) => /^\[\d\]/.test(each))
      assert.match(named.slice(-2).toSorted().join(), /^\[1\]. +Running +sleep 1000 &,\[2\]. +Stopped +cat$/)
      // What comes in between begins it anew.
      type("echo o''n")
      press("Enter")
      await line("on")
      type("exit 6")
      press("Enter")
      await until(isNamed(2))
      type("/exit 7")
      press("Enter")
      await line("left with 7")
    }))

  it("runs what was typed and pasted meanwhile afterwards, and a paste of several lines as one entry", () =>
    shell(async ({ line, lines, paste, press, type, until }) => {
      await line(plain)
      type("read -t 2 < <(sleep 2); echo first")
      press("Enter")
      await until((lines) => lines.some((each) => each.endsWith("echo first")))
      type("echo sec''ond")
      press("Enter")
      await line("second")
      assert.isTrue(lines().indexOf("first") < lines().indexOf("second"))
      paste("for i in 1 2\ndo echo line$i\ndone")
      await until((lines) => lines.some((each) => each.endsWith("done")))
      assert.notInclude(lines(), "line1")
      press("Enter")
      await line("line2")
      // Some terminals send Enter as a sequence, also for the newlines of a paste.
      paste("echo thi''rd\x1b[13;1uecho four''th")
      await until((lines) => lines.some((each) => each.endsWith("four''th")))
      type("\x1b[13;1u")
      await line("fourth")
      await line("third")
    }))

  it("completes commands and paths as the session sees them, and leaves $? alone", () =>
    shell(async ({ line, press, type, until }, cwd) => {
      fs.mkdirSync(path.join(cwd, "with blank"))
      fs.writeFileSync(path.join(cwd, "with blank", "file.txt"), "content\n")
      await line(plain)
      type("unusual_name() { echo called $1; }; false")
      press("Enter")
      await line(`~/work NO SANDBOX [1] ${mark}`)
      type("unusual_n")
      press("Tab")
      await until((lines) => lines.some((each) => each.endsWith("unusual_name")))
      type("$?")
      press("Enter")
      await line("called 1")
      type("cat wi")
      press("Tab")
      await until((lines) => lines.some((each) => each.endsWith("with\\ blank/")))
      type("f")
      press("Tab")
      await until((lines) => lines.some((each) => each.endsWith("with\\ blank/file.txt")))
      press("Enter")
      await line("content")
    }))

  it("draws its line anew where the terminal gets another width", () =>
    shell(async ({ line, press, resize, type, until }) => {
      await line(plain)
      type(`echo ${"word ".repeat(12)}end`)
      await until((lines) => lines.some((each) => each.endsWith("end")))
      resize(40, 24)
      type("ing")
      await until((lines) => lines.some((each) => each.endsWith("ending")))
      press("Enter")
      await line(`${"word ".repeat(12)}ending`)
    }))

  it("answers its own commands, and names the one that was meant", () =>
    shell(async ({ line, press, type, until }) => {
      await line(plain)
      type("/halp")
      press("Enter")
      await line("synapse: There is no /halp. Did you mean /help?")
      type("/bin/echo path")
      press("Enter")
      await line("path")
      type('TodoWrite \'{"todos":[{"content":"Look","activeForm":"Looking","status":"pending"}]}\' >/dev/null')
      press("Enter")
      type("TodoWrite --show")
      press("Enter")
      await line("[ ] Look")
      type("?what is here")
      press("Enter")
      await until((lines) => lines.some((each) => each.startsWith("No model is set up. Set ANTHROPIC_API_KEY")))
    }))
})

const hasSandbox = process.platform === "linux" && fs.existsSync("/usr/bin/bwrap")

describe.skipIf(!Tmux.isThere || !hasSandbox)("synapse shell in a sandbox", () => {
  it("asks where the policy denies something, and allows what the answer says", () =>
    shell(
      async ({ line, press, type, until }, cwd) => {
        const asked = (count: number) =>
          until((lines) => lines.filter((each) => each.startsWith("Allow it?") && each.endsWith("]")).length >= count)
        fs.writeFileSync(path.join(cwd, "denied.txt"), "what it holds\n")
        const begun = await line(`~/work ${mark}`)
        assert.match(begun.join(" "), /^Sandboxed in \S+\/work: +no network\. +\/help lists what there is\. /)
        type("C=kept; cat denied.txt")
        press("Enter")
        await asked(1)
        type("o")
        press("Enter")
        await line("what it holds")
        await line(`~/work ${mark}`)
        type("cat denied.txt; echo not run")
        press("Enter")
        await asked(1)
        type("n")
        press("Enter")
        const denied = await line(`~/work [126] ${mark}`)
        assert.include(denied.slice(0, denied.indexOf(`~/work [126] ${mark}`)), "Nothing was run.")
        type("echo $? $C")
        press("Enter")
        await line("126 kept")
        type("/policy")
        press("Enter")
        await until((lines) => lines.some((each) => each.startsWith("  denied.txt")))
        type("/allow denied.txt")
        press("Enter")
        await until((lines) => lines.join(" ").includes("denied.txt can't be allowed: on the blacklist"))
      },
      ["--deny", "denied.txt"]
    ))

  it.each(["exit", "two signals"])("tells what %s has taken back", (end) =>
    shell(async ({ line, press, type, until }, cwd) => {
      await line(`~/work ${mark}`)
      const waits = "until [ -e go ]; do sleep 0.05; done"
      type(`git init -q; (trap '' INT TERM; ${waits}; git config core.fsmonitor x; echo be''gun; sleep 1000) &`)
      press("Enter")
      await until((lines) => lines.filter((each) => each.startsWith(`~/work ${mark}`)).length === 2)
      fs.writeFileSync(path.join(cwd, "go"), "")
      await until((lines) => lines.some((each) => each.endsWith("begun")))
      if (end === "exit") {
        for (const _ of ["named", "ended"]) {
          type("exit")
          press("Enter")
        }
      } else {
        const pid = Number(fs.readFileSync(path.join(cwd, "../pid"), "utf8"))
        process.kill(pid, "SIGTERM")
        process.kill(pid, "SIGINT")
      }
      const left = await until((lines) => lines.some((each) => each.includes("left with ")))
      assert.include(left.join(" "), "synapse: Taken back from .git/config: core.fsmonitor.", left.join("\n"))
    }, [])
  )

  it("offers a server that began to listen while an entry was read", () =>
    shell(async ({ line, press, type, until }) => {
      await line(`~/work ${mark}`)
      const code = `setTimeout(() => require("node:http").createServer().listen(8123, () => console.log("up")), 500)`
      type(`'${process.execPath}' -e '${code}' &`)
      press("Enter")
      await until((lines) => lines.some((each) => each.endsWith(" up")))
      type("echo next")
      press("Enter")
      await until((lines) => lines.includes("A server in the sandbox could be opened at 127.0.0.1:8123"))
    }, []))

  it("lets nothing that runs in the background draw over a question", () =>
    shell(
      async ({ line, lines, press, type, until }, cwd) => {
        fs.writeFileSync(path.join(cwd, "denied.txt"), "")
        await line(`~/work ${mark}`)
        type("(until [ -e asked ]; do sleep 0.1; done; printf '\\e[2J\\e[HDRA''WN\\n'; echo > drawn) &")
        press("Enter")
        type("cat denied.txt")
        press("Enter")
        const isAsked = (each: string) => /^Allow it\? \[.*\]$/.test(each)
        await until((lines) => lines.some(isAsked))
        fs.writeFileSync(path.join(cwd, "asked"), "")
        while (!fs.existsSync(path.join(cwd, "drawn"))) await new Promise((resolve) => setTimeout(resolve, 20))
        await new Promise((resolve) => setTimeout(resolve, 300))
        const shown = lines()
        assert.isTrue(shown.some(isAsked), shown.join("\n"))
        assert.notInclude(shown.join("\n"), "DRAWN")
        press("n")
        press("Enter")
        await until((lines) => lines.includes("DRAWN"))
      },
      ["--deny", "denied.txt"]
    ))

  it.skipIf(spawnSync("curl", ["--version"]).status !== 0)(
    "goes on at once when a question about a host is answered",
    () =>
      shell(async ({ line, press, type, until }) => {
        await line(`~/work ${mark}`)
        type("curl -sm 100 http://a.example/; echo A:$?")
        press("Enter")
        await until((lines) => lines.some((each) => /^Allow it\? \[.*\]$/.test(each)))
        press("n")
        press("Enter")
        await until((lines) => lines.some((each) => /^A:\d+$/.test(each)))
      }, [])
  )

  it("asks nobody by what was typed before, and keeps that for the prompt", () =>
    shell(
      async ({ line, press, type, until }, cwd) => {
        fs.writeFileSync(path.join(cwd, "denied.txt"), "what it holds\n")
        await line(`~/work ${mark}`)
        // The denial comes with the command's end: what comes while the question waits for silence is dropped.
        type("sleep 2; n=denied; cat $n.txt")
        press("Enter")
        type("o")
        press("Enter")
        type("echo kept for la''ter")
        press("Enter")
        await until((lines) => lines.some((each) => /^Allow it\? \[.*\]$/.test(each)))
        press("C-c")
        const shown = await line("kept for later")
        assert.notInclude(shown, "what it holds")
        const at = shown.findIndex((each) => each.startsWith("Allow it?"))
        assert.deepStrictEqual(shown.slice(at, at + 3), [
          "Allow it? [o/s/N] ^C",
          `~/work [130] ${mark} o`,
          "bash: o: command not found"
        ])
      },
      ["--deny", "denied.txt"]
    ))
})
