import { assert, describe, it } from "@effect/vitest"
import * as FullScreen from "../../src/toolset/internal/FullScreen.js"

const found: Readonly<Record<string, string | undefined>> = {
  "vim a.txt": "read a.txt",
  "vi Makefile": "read ./Makefile",
  "nano 'a b'": "read 'a b'",
  "cd src && vim a.ts": "cd src && read a.ts",
  "cd src; vim a.ts\n": "cd src; read a.ts",
  "cd src && watch ls": "cd src && ls",
  "vim +10 a.ts": "read a.ts:10-",
  "vim -R a.ts": "read a.ts",
  "vi -n +/def Makefile": "read ./Makefile",
  "vim -O a b": undefined,
  "nano -w +3,1 a": "read a:3-",
  "emacs -nw a.txt": "read a.txt",
  "htop -d 5": "top -bn1",
  vim: undefined,
  'vim "$f"': undefined,
  "vimdiff a b": undefined,
  htop: "top -bn1",
  mc: undefined,
  "watch ls -l": "ls -l",
  "watch -n 5 'df -h'": "df -h",
  "watch -n1 ls": "ls"
}

/** What such programs do without a terminal, and what only looks like a call of them. */
const left: ReadonlyArray<string> = [
  "vim -es -c 'normal x' -c wq a",
  "vim +q a",
  "vim --version",
  "emacs --batch -l a.el",
  "vim a <keys",
  "echo x | vim -",
  "ls | view",
  "vim a &",
  "timeout 5 vim a",
  "which vim",
  "git config core.editor vim",
  "EDITOR=vim git commit",
  "echo a; echo vim",
  "'vim' a",
  "vim a; ls",
  "mc ls minio",
  "htop --version",
  "vim -c q a",
  "vim +q a",
  "vim -R -",
  "nvim --headless a",
  "nano --version",
  "less a",
  "man ls",
  "top -b -n 1",
  "watch -g ls",
  "watch --chgexit ls",
  "for i in a; do vim $i; done",
  "cat <<EOF\nvim a\nEOF",
  "if true; then nano a; fi"
]

describe("a program that needs a terminal", () => {
  it("is answered with what does nearly the same", () => {
    for (const [text, instead] of Object.entries(found)) {
      const { instead: seen, reason } = FullScreen.find(text) ?? assert.fail(text)
      assert.strictEqual(seen, instead, text)
      assert.match(reason, / terminal/)
    }
  })

  it("is left alone where it may do without one", () => {
    for (const text of left) assert.isUndefined(FullScreen.find(text), text)
  })
})
