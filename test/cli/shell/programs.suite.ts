/** What a person does at `synapse shell`, with the terminal that its commands have: editors, pagers, REPLs, jobs, questions. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { isSandboxed } from "../../support/sandbox/Bubblewrap.js"
import * as Temporary from "../../support/Temporary.js"
import * as Tmux from "../../support/terminal/Tmux.js"

const program = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")

const isThere = (name: string): boolean => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0

interface Person extends Tmux.Tmux {
  readonly cwd: string
  /** Types a line and presses Enter. */
  readonly enter: (text: string) => void
  /** Waits until the prompt is back as the last line, after a command with this exit code. */
  readonly back: (code?: number) => Promise<ReadonlyArray<string>>
}

const shell = (isConfined: boolean, use: (person: Person) => Promise<void>): Promise<void> =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "work")
    fs.mkdirSync(cwd)
    const env = {
      SYNAPSE_HOME: path.join(directory, "home"),
      HOME: directory,
      EDITOR: "",
      VISUAL: "",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1"
    }
    const command = [process.execPath, program, "shell", ...(isConfined ? [] : ["--no-sandbox"])]
    await Tmux.using({ directory, cwd, command, env }, async (tmux) => {
      const head = isConfined ? "~/work " : "~/work NO SANDBOX "
      // Read each time, for a nobody's test changes its user.
      const mark = process.getuid?.() === 0 ? "#" : "$"
      const back = (code = 0) =>
        tmux.until((lines) => {
          const last = lines.findLast((each) => each !== "")
          return last === `${head}${code === 0 ? "" : `[${code}] `}${mark}`
        })
      await back()
      const enter = (text: string) => {
        tmux.type(text)
        tmux.press("Enter")
      }
      await use({ ...tmux, cwd, enter, back })
    })
  })

const has = (text: string) => (lines: ReadonlyArray<string>) => lines.some((each) => each.includes(text))

export const programs = (title: string, isConfined: boolean, isSecond = false): void => {
  const isPossible = Tmux.isThere && isThere("script") && (!isConfined || isSandboxed)
  // What programs find of a terminal is the same without a sandbox.
  const isBrief = isSecond || (!isConfined && isSandboxed)
  describe.skipIf(!isPossible)(title, () => {
    it("has the terminal for colours, its size, questions of bash and of programs, and keeps the state", () =>
      shell(isConfined, async ({ back, cwd, enter, line, lines, press, record, resize, until }) => {
        enter("tty; stty size; echo $((5 + 5)) $TERM")
        await line("24 80")
        await line("10 screen-256color")
        await back()
        resize(70, 20)
        enter("stty size")
        await line("20 70")
        enter("read -p 'your na''me? ' NAME")
        await line("your name?")
        enter("Ada")
        await back()
        enter("export NAME; cd / && cd ~/work")
        await back()
        enter("bash -c 'read -p \"and yo''urs? \" X </dev/tty; echo $NAME $X'")
        await line("and yours?")
        enter("Bob")
        await line("Ada Bob")
        const sent = path.join(cwd, "..", "sent")
        record(sent)
        fs.mkdirSync(path.join(cwd, "sub"))
        enter("ls --color=auto")
        await line("sub")
        await back()
        assert.match(fs.readFileSync(sent, "utf8"), /\x1b\[01;34m.*sub/)
        press("Up", "Up")
        await until((all) => all.filter((each) => each.includes("bash -c 'read -p")).length === 2)
        press("C-c")
        await back()
        assert.isTrue(has("^C")(lines()))
      }))

    it.skipIf(isSecond)("interrupts by Ctrl-C, stops by Ctrl-Z, and goes on by fg and bg", () =>
      shell(isConfined, async ({ back, enter, line, press, type, until }) => {
        enter("echo be''gun; sleep 1000")
        await line("begun")
        press("C-c")
        await back(130)
        type("echo half")
        await until(has("echo half"))
        press("C-c")
        await back(130)
        enter("cat")
        enter("ec''ho")
        await line("ec''ho")
        press("C-z")
        await back(148)
        enter("jobs")
        await until((all) => all.filter((each) => /^\[1\]\+\s+Stopped\s+cat$/.test(each)).length >= 1)
        await back()
        enter("fg")
        await line("cat")
        enter("again")
        await until((all) => all.filter((each) => each === "again").length === 2)
        press("C-d")
        await back()
        enter("sleep 1000 & kill %1; wait %1; echo ended $?")
        await line("ended 143")
        await back()
        // As a killed program leaves the terminal that has saved its modes while a line was edited.
        enter("stty raw -echo")
        await back()
        enter("echo a''gain; sleep 1000")
        await line("again")
        press("C-c")
        await back(130)
      })
    )

    it.skipIf(isBrief)(
      "takes several lines: open ones, a here-document, a paste, and what is typed ahead; Up has them whole",
      () =>
        shell(isConfined, async ({ back, enter, line, lines, paste, press, until }) => {
          enter("for i in 1 2; do")
          enter("echo line$i; done")
          await line("line2")
          await back()
          press("Up")
          await until((all) => all.at(all.findLastIndex((each) => each !== "")) === "echo line$i; done")
          press("C-c")
          await back()
          enter("cat <<EOF")
          enter("here it ''is")
          enter("EOF")
          await line("here it ''is")
          await back()
          paste("echo fir''st\necho sec''ond")
          await until(has("echo sec''ond"))
          assert.notInclude(lines(), "first")
          press("Enter")
          await line("second")
          await back()
          enter("sleep 1; echo sl''ept")
          enter("echo ah''ead")
          await line("ahead")
          assert.isBelow(lines().indexOf("slept"), lines().indexOf("ahead"))
        })
    )

    it.skipIf(isSecond)("goes on in a new shell where its own is killed, ends by set -e, or is replaced", () =>
      shell(isConfined, async ({ back, enter, line }) => {
        enter("cd /; cd ~/work; KEPT=7; set -e")
        await back()
        enter("false")
        await back(1)
        enter("set +e; echo kept $KEPT; stty size")
        await line("kept 7")
        await line("24 80")
        await back()
        enter("kill -9 $$")
        await back(137)
        enter("tty; pwd | sed s,.*/,in:,; read -p 'sti''ll? ' X; echo $X")
        await line("still?")
        enter("yes")
        await line("yes")
        await line("in:work")
        enter("exec sh -c 'exit 4'")
        await back(4)
        enter("exit 5")
        await line("left with 5")
      })
    )

    const vi = ["vim", "vi"].find(isThere)
    it.skipIf(isBrief || vi === undefined)(
      "is at vim's service: Ctrl-Z, fg, a resize; the shell is back as it was",
      () =>
        shell(isConfined, async ({ back, cwd, enter, press, resize, type, until }) => {
          enter("echo stays above")
          await back()
          enter(`${vi} -R note.txt`)
          await until((lines) => lines.includes("~"))
          enter(":q")
          await back()
          enter(`EXTRA=1 ${vi} -u NONE -N note.txt && echo wri''tten`)
          await until((lines) => lines.includes("~"))
          type("iin the editor")
          await until(has("in the editor"))
          press("Escape")
          press("C-z")
          await back(148)
          enter("fg")
          await until((lines) => lines.includes("in the editor") && lines.includes("~"))
          resize(60, 12)
          await until((lines) => lines.filter((each) => each === "~").length < 11)
          enter(":wq")
          await until((lines) => lines.includes("stays above"))
          await back()
          assert.strictEqual(fs.readFileSync(path.join(cwd, "note.txt"), "utf8"), "in the editor\n")
        })
    )

    it.skipIf(isBrief || !isThere("less"))("is at less's service, as a pager in a pipe, too", () =>
      shell(isConfined, async ({ back, enter, press, until }) => {
        enter("seq 200 | sed 's/^/row /' | less")
        await until((lines) => lines.includes("row 5"))
        press("G")
        await until((lines) => lines.includes("row 200"))
        press("q")
        assert.notInclude(await back(), "row 200")
      })
    )

    it.skipIf(isBrief || !isThere("top"))("is at top's service", () =>
      shell(isConfined, async ({ back, enter, press, until }) => {
        enter("top")
        await until(has("load average"))
        press("q")
        await back()
      })
    )

    for (const [name, interrupted, ends, code] of [
      ["node", "To exit", ".exit", 0],
      ["python3", "KeyboardInterrupt", "exit(3)", 3]
    ] as const) {
      it.skipIf(isBrief || !isThere(name))(
        `is the REPL of ${name}: Ctrl-C ends what it runs, not it nor the shell`,
        () =>
          shell(isConfined, async ({ back, enter, line, press, until }) => {
            // The sandbox denies node its history.
            enter(`NODE_REPL_HISTORY= ${name}`)
            await until((lines) => lines.some((each) => /^>(>>)?$/.test(each)))
            enter("6 * 7")
            await line("42")
            press("C-c")
            await until(has(interrupted))
            enter("7 * 7")
            await line("49")
            enter(ends)
            await back(code)
          })
      )
    }

    it.skipIf(isBrief || !isThere("git") || !isThere("less"))(
      "opens the editor of git commit within a list, and pages git log",
      () =>
        shell(isConfined, async ({ back, cwd, enter, line, press, until }) => {
          const git = (...words: ReadonlyArray<string>) => spawnSync("git", words, { cwd, encoding: "utf8" })
          git("init", "-q")
          git("config", "user.name", "a")
          git("config", "user.email", "a@b")
          fs.writeFileSync(path.join(cwd, "file"), "x\n")
          // An editor that is a dialog: it takes the message from the keyboard.
          fs.writeFileSync(path.join(cwd, "editor"), '#!/bin/sh\nprintf "what? "\nread -r text\necho "$text" >"$1"\n', {
            mode: 0o755
          })
          enter('export GIT_EDITOR="$PWD/editor"')
          await back()
          enter("git add -A && git commit -q && git log --format=%s | head -1")
          await until(has(" what?"))
          enter("a word")
          await line("a word")
          await back()
          enter("git add -p; LESS= git -c core.pager=less log")
          await until(has("(END)"))
          press("q")
          await back()
          assert.strictEqual(git("log", "--format=%s").stdout, "a word\n")
        })
    )
  })
}
