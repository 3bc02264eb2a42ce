import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as BashArguments from "../../src/toolset/BashArguments.js"
import * as CommandText from "../../src/toolset/internal/CommandText.js"

const readText = (text: string, isSynapseCommand?: (name: string) => boolean) =>
  CommandText.read(CommandLine.parse(text), isSynapseCommand)

const fence = "```"
/** Lines of text, of which `F` alone or before a language is a fence. */
const lines = (...all: ReadonlyArray<string>): string => all.map((line) => line.replace(/^F/, fence)).join("\n")

/** The command that runs where something was taken away; undefined where the text is a command as it is. */
const taken = (text: string): string | undefined => {
  const read = readText(text)
  if (read._tag === "NoCommand") return assert.fail(`${text}: ${read.reason}`)
  return read._tag === "Wrapped" ? read.line.text : undefined
}

/** The command that the refusal of a text shows; undefined where it shows none. */
const shown = (text: string): string | undefined => {
  const read = readText(text)
  if (read._tag !== "NoCommand") return assert.fail(`${text} is not refused`)
  const example = BashArguments.example(read.meant)
  return example === undefined ? undefined : JSON.parse(example).command
}

const notice = (text: string): string | undefined => {
  const read = readText(text)
  return read._tag === "Wrapped" ? read.notice : undefined
}

describe("the text of a command", () => {
  it("is taken out of the one fence that is all around it", () => {
    const wrapped: ReadonlyArray<readonly [string, string]> = [
      [lines("Fbash", "cat evil.txt", "F"), "cat evil.txt"],
      [lines("", "Fbash", "ls", "", "pwd", "F", ""), "ls\n\npwd"],
      [lines("~~~sh", "ls", "~~~"), "ls"],
      [lines("F`bash", "ls", "F``"), "ls"],
      [lines("  Fbash".replace("F", fence), "  ls", "    pwd", "  F".replace("F", fence)), "  ls\n    pwd"],
      ["```shell\r\nls\r\npwd\r\n```\r\n", "ls\npwd"],
      [
        lines("Fbash", "cat >a.md <<'EOF'", "Fjs", "x", "F", "EOF", "F"),
        lines("cat >a.md <<'EOF'", "Fjs", "x", "F", "EOF")
      ],
      [lines("~~~sh", "cat <<'EOF'", "F", "EOF", "~~~"), lines("cat <<'EOF'", "F", "EOF")]
    ]
    for (const [text, command] of wrapped) assert.strictEqual(taken(text), command, text)
    assert.strictEqual(notice(lines("Fsh", "ls", "F")), "(ran the command inside the Markdown fence)")
  })

  it("is refused where it is a patch, of which bash would run lines", () => {
    const patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n touch z\n*** End Patch"
    const applied = `edit --patch <<'EOF'\n${patch}\nEOF`
    for (const text of [patch, `apply_patch ${patch}`, `apply_patch\n${patch}\nEOF`])
      assert.strictEqual(shown(text), applied)
    const diff = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\n+y\n touch z\n"
    assert.strictEqual(shown(diff), `edit --patch <<'EOF'\n${diff}EOF`)
    assert.isUndefined(shown(patch.replace("*** End Patch", "")))
    assert.isUndefined(taken(`apply_patch <<'EOF'\n${patch}\nEOF`))
  })

  it("is refused in any other Markdown", () => {
    for (const text of [
      lines("Fbash", "ls", "F", "and then", "Fbash", "pwd", "F"),
      lines("Fconsole", "$ ls", "$ pwd", "F"),
      lines("Fbash", "ls", "F", "It shows:", "F", "a.txt  b.txt", "F"),
      lines("This lists:", "Fbash", "ls", "F"),
      lines("# ls", "Fbash", "ls", "F"),
      lines("cd x", "~~~", "ls", "~~~"),
      lines("Fbash", "ls", "F", "It lists."),
      lines("Fbash", "ls"),
      "Run this: ```ls -la```",
      lines("Fbash", "cat <<EOF", "F", "then", "Fbash", "rm x", "F"),
      lines("Fbash", "echo don't", "F", "isn't", "F", "rm x", "F"),
      lines("Fpython", "print('a')", "F"),
      lines("F", "F"),
      lines("Fbash", "F")
    ])
      assert.isUndefined(shown(text), text)
  })

  it("goes to bash where what looks like the end of a fence is text", () => {
    for (const text of [
      lines("cat <<'EOF'", "F", "EOF"),
      lines("echo 'a", "F", "'"),
      lines("cat <<'EOF'", "Fbash", "F")
    ])
      assert.strictEqual(readText(text)._tag, "Command", text)
  })

  it("is refused where it may be output or prose, and none of that is shown as what was meant", () => {
    const nothing = undefined
    const refused: ReadonlyArray<readonly [string, string | undefined]> = [
      [lines("F", "ls src", "F"), "ls src"],
      [lines("F", "drwxr-xr-x 2 root root", "total 5", "F"), nothing],
      [lines("F", "> x", "F"), nothing],
      [lines("F", "ls > x", "F"), nothing],
      [lines("Ftext", "> x", "F"), nothing],
      [lines("Foutput", "cat a > x", "F"), nothing],
      [lines("Fconsole", "ls", "a.txt", "F"), nothing],
      ["Run this: ```> x```", nothing],
      ["```> x\n```", nothing],
      ["$ ls\n> x", nothing],
      ["$ cat <<EOF\nI wrote > x", nothing],
      ["> touch evil\n> ls", nothing],
      ["Here is `touch evil`, which makes a file", nothing],
      ["I will run `touch evil` now", nothing],
      ["Let me write a -> b", nothing],
      ["# Plan\n\n- run `touch evil`", nothing],
      ["1. run `touch evil`\n2. stop", nothing],
      [lines("Fbash", "I will run `touch evil`", "F"), nothing]
    ]
    for (const [text, command] of refused) assert.strictEqual(shown(text), command, text)
  })

  it("loses the prompt of each of its lines", () => {
    const wrapped: ReadonlyArray<readonly [string, string]> = [
      ["$ ls", "ls"],
      ["  $ ls -la \n", "  ls -la \n"],
      ["$ cd x\n\n$ ls", "cd x\n\nls"],
      ["$ cd x # there\n# a comment\n$ ls", "cd x # there\n# a comment\nls"],
      ["$ ls\r\n$ pwd\r\n", "ls\npwd\n"],
      ["$ cat <<EOF\n$ x\nEOF\n$ ls", "cat <<EOF\n$ x\nEOF\nls"],
      ["$ make \\\n  all\n$ ls", "make \\\n  all\nls"],
      ["$ echo 'a\nb'", "echo 'a\nb'"],
      ["ada@host-1:~/src$ ls -la\nada@host-1:~/src/a$ pwd", "ls -la\npwd"]
    ]
    for (const [text, command] of wrapped) assert.strictEqual(taken(text), command, text)
    assert.strictEqual(notice("$ ls"), '(ran the command after the prompt "$ ")')
    assert.strictEqual(notice("  ada@host:~$ ls"), '(ran the command after the prompt "ada@host:~$ ")')
  })

  it("is refused where lines without a prompt may be output", () => {
    for (const text of [
      "$ ls\na.txt\n`touch evil`",
      "ada@host:~$ ls\na.txt\n`touch evil`",
      "ada@host:~$ cat > x <<EOF\nada@host:~$ a line\nEOF",
      "$ ls\r\na.txt\r\n$ pwd",
      "$ for i in a; do\n  echo $i\ndone",
      "$ echo it's\n$ touch it's",
      "$ cat <<EOF\n$ touch evil",
      "$ $ ls"
    ])
      assert.isUndefined(shown(text), text)
  })

  it("is taken out of the JSON of a call, or refused with the call that was meant", () => {
    assert.strictEqual(taken('{"command":"ls \\"a\\""}'), 'ls "a"')
    assert.strictEqual(taken(' {\n  "command": "ls",\n  "timeout": null,\n  "description": "x"\n}\n'), "ls")
    assert.strictEqual(notice('{"command":"ls"}'), "(ran the command inside the JSON)")
    const refused: ReadonlyArray<readonly [string, string | undefined]> = [
      ['{"command":"ls","timeout":5}', "ls"],
      ['{"name":"Bash","arguments":{"command":"ls"}}', "ls"],
      ['{"cmd":"ls"}', "ls"],
      ['{"command":"$ ls"}', "ls"],
      ['{"command":"{\\"command\\":\\"ls\\"}"}', "ls"],
      ['["bash","-lc","ls a"]', "ls a"],
      ['["ls","a b"]', "ls 'a b'"],
      ['{"command":"\\ud800"}', undefined],
      ['{"command":"echo $(touch evil)",}', undefined],
      ['{"command":"echo $(touch evil)"', undefined],
      ["{}", undefined],
      [
        '{"todos":[{"content":"a","status":"pending"}]}',
        `TodoWrite '{"todos":[{"content":"a","activeForm":"a","status":"pending"}]}'`
      ]
    ]
    for (const [text, command] of refused) assert.strictEqual(shown(text), command, text)
  })

  it("is taken out of the call itself, or refused with the call that was meant", () => {
    assert.strictEqual(taken('Bash(command="ls -la")'), "ls -la")
    assert.strictEqual(taken('bash( command = "echo \\"a\\\\n\\"" )\n'), 'echo "a\\n"')
    assert.strictEqual(taken("Bash(command='ls')"), "ls")
    assert.strictEqual(notice('Bash("ls")'), "(ran the command inside `Bash(…)`)")
    const refused: ReadonlyArray<readonly [string, string | undefined]> = [
      ["Bash(ls)", "ls"],
      ["bash(echo $(touch evil))", "echo $(touch evil)"],
      ["Bash ls -la", "ls -la"],
      ['Bash -c "ls"', 'bash -c "ls"'],
      ['Bash({"command":"ls"})', "ls"],
      ["Bash", undefined],
      [`Bash(${"x".repeat(20_000)})`, "<command>"]
    ]
    for (const [text, command] of refused) assert.strictEqual(shown(text), command, text)
  })

  it("is refused where it needs a terminal", () => {
    for (const text of [
      "vim a.txt",
      "nano 'a b'",
      "view a.txt",
      "vimdiff a b",
      "cd src && vim a.ts",
      "cd src; vim a.ts\n",
      "vim +10 a.ts",
      "emacs -nw a.txt",
      'vim "$f"',
      "htop",
      "watch -n 5 'df -h'"
    ]) {
      const read = readText(text)
      assert.match(read._tag === "Screen" ? `${read.name}: ${read.instead}` : "", /^\w+: \w/, text)
    }
    const left = [
      "vim -es -c 'normal x' -c wq a",
      "vim --version",
      "emacs --batch -l a.el",
      "vim a <keys",
      "echo x | vim -",
      "vim a &",
      "timeout 5 vim a",
      "which vim",
      "git config core.editor vim",
      "EDITOR=vim git commit",
      "'vim' a",
      "vim a; ls",
      "watch -g ls",
      "for i in vim; do echo $i; done",
      "cat <<EOF\nvim a\nEOF"
    ]
    for (const text of left) assert.strictEqual(readText(text)._tag, "Command", text)
    assert.strictEqual(readText("vim a", (name) => name === "vim")._tag, "Command")
  })

  it("follows a file where its last command does, and nothing reads that", () => {
    for (const text of [
      "tail -f a.log",
      "tail -n 5 -F 'a b'",
      "tail -20f a",
      "x=1\ntail -f $f",
      "journalctl -f -u sshd"
    ])
      assert.match(
        CommandText.following(CommandLine.parse(text)) ?? "",
        /^\w+ -f does not end by itself; .*timeout=<ms>/,
        text
      )
    const others = [
      "tail -n 5 a.log",
      "tail -f",
      "tail -f a.log --pid=3",
      "tail -f a.log &",
      "tail -f a.log | grep -m1 x",
      "tail -f a.log > b",
      "timeout 5 tail -f a.log",
      "tail -f a.log; ls",
      "echo tail -f a.log",
      "journalctl -n 5"
    ]
    for (const text of others) assert.isUndefined(CommandText.following(CommandLine.parse(text)), text)
  })

  it("is left as it is where bash can run it for a good reason", () => {
    for (const text of [
      "",
      "ls",
      "$HOME/bin/x; $x",
      "$(which ls) -la",
      "`which python3` -V",
      "$",
      "{ ls; }",
      "{\nls\n}",
      '{ "a" :; }',
      '{ "$a" :; }',
      "{a,b}",
      "[ a ]",
      '[ "a" ]',
      "[[ -n $a ]] && ls",
      "a=(1 2)",
      'a=("x" "$ y")',
      "bash",
      "bash ls",
      "bash -c 'ls'",
      "Bash() { ls; }",
      "bash () { ls; }",
      "bash\n(ls)",
      "Bashful",
      "# ```\nls",
      "grep -c '```' a.md",
      "grep -c \\`\\`\\` a.md",
      "git commit -m 'a\n```\nb\n```'",
      "git commit -m \"$(cat <<'EOF'\n```\nb\n```\nEOF\n)\"",
      "cat >a.md <<'EOF'\n```bash\nls\n```\nEOF",
      "cat >a.md <<'EOF'\n```\nEOF\nls",
      "cat >a.rst <<-EOF\n\tTitle\n\t~~~~~\n\tEOF",
      "cat <<'EOF'\n$ ls\n{\"a\":1}\nEOF",
      "echo ~~~ ~~~",
      "echo \\\n~~~",
      "case $a in\n  x) ls ;;\nesac",
      "> out.txt",
      "> a\n> b",
      "> out.txt sort in.txt",
      ">a.txt ls",
      "- ",
      "Rscript `cat name`",
      "./Run `cat args`",
      "x=1 # I will\nls"
    ]) {
      const line = CommandLine.parse(text)
      assert.deepStrictEqual(CommandText.read(line), CommandText.CommandText.Command({ line }), text)
    }
  })

  it("is read in a time that grows with its length only", () => {
    const many = 100_000
    for (const text of [
      `cat <<'EOF'\n${"```\n".repeat(many)}EOF`,
      `${"```\n".repeat(many)}`,
      `$ ls\n${"$ x\n".repeat(many)}`,
      `${"{".repeat(many)}`,
      `Bash(${'"\\'.repeat(many)}`,
      `${"```a\n".repeat(many)}`,
      Array.from({ length: 700 }, (_, at) => "`".repeat(703 - at)).join("\n")
    ]) {
      readText(text)
    }
    assert.strictEqual(
      readText(`cat >a.md <<'EOF'\n${"```\nx\n".repeat(many)}EOF`)._tag,
      "Command",
      "a here-document longer than what is read"
    )
  })
})
