import { assert, describe, it } from "@effect/vitest"
import * as Endless from "../../src/toolset/internal/Endless.js"

const found: Readonly<Record<string, string | undefined>> = {
  "vim a.txt": "read a.txt",
  "vi Makefile": "read ./Makefile",
  "nano 'a b'": "read 'a b'",
  "cd src && vim a.ts": "cd src && read a.ts",
  "cd src; vim a.ts\n": "cd src; read a.ts",
  "vim +10 a.ts": "read a.ts:10-",
  "nano -w +3,1 a": "read a:3-",
  "emacs -nw a.txt": "read a.txt",
  "vim a b": undefined,
  vim: undefined,
  'vim "$f"': undefined,
  htop: "top -bn1",
  "cd src && watch ls": "cd src && ls",
  "watch -n 5 'df -h'": "df -h",
  "watch -n1 ls -l": "ls -l",
  "tail -f a.log": "tail a.log",
  "tail -n 5 -F 'a b'": "tail -n 5 'a b'",
  "tail -fn5 a.log": "tail -n5 a.log",
  "tail -20f a.log": "tail -20 a.log",
  "tail --follow=name --retry a.log": "tail a.log",
  'x=1\ntail -f "$f"': 'x=1\ntail "$f"',
  "journalctl -f -u sshd": "journalctl -n 10 -u sshd"
}

/** What ends all the same, and what only looks like a call of such a program. */
const left: ReadonlyArray<string> = [
  "vim -es -c 'normal x' -c wq a",
  "vim +q a",
  "vim --version",
  "emacs --batch -l a.el",
  "vim a <keys",
  "echo x | vim -",
  "vim a &",
  "timeout 5 vim a",
  "which vim",
  "git config core.editor vim",
  "EDITOR=vim git commit",
  "echo a; echo vim",
  "'vim' a",
  "vim a; ls",
  "htop --version",
  "nvim --headless a",
  "watch -g ls",
  "for i in a; do vim $i; done",
  "cat <<EOF\nvim a\nEOF",
  "tail -n 5 a.log",
  "tail -f",
  "tail '-f' a.log",
  "tail -f a.log --pid=3",
  "tail -f a.log &",
  "tail -f a.log | grep -m1 x",
  "tail -f a.log > b",
  "timeout 5 tail -f a.log",
  "tail -f a.log; ls",
  "echo tail -f a.log",
  "journalctl -n 5"
]

describe("a program that does not end by itself", () => {
  it("is answered with what does nearly the same, and ends", () => {
    for (const [text, instead] of Object.entries(found)) {
      const { followsFile, instead: seen, reason } = Endless.find(text) ?? assert.fail(text)
      assert.strictEqual(seen, instead, text)
      assert.match(
        reason,
        followsFile
          ? /^\w+ -f does not end by itself; .*timeout=<ms>$/
          : /^\w+ (?:needs|does not end, and needs) a terminal/
      )
    }
  })

  it("is left alone where something ends it, or reads it", () => {
    for (const text of left) assert.isUndefined(Endless.find(text), text)
  })
})
