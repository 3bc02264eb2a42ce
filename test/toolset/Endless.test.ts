import { assert, describe, it } from "@effect/vitest"
import * as BashTool from "../../src/toolset/BashTool.js"

const found: Readonly<Record<string, string>> = {
  "tail -f a.log": "tail a.log",
  "tail -F a.log": "tail a.log",
  "tail -n 5 -f 'a b'": "tail -n 5 'a b'",
  "tail -fn5 a.log": "tail -n5 a.log",
  "tail -20f a.log": "tail -20 a.log",
  "tail -qf a b": "tail -q a b",
  "tail --follow=name --retry a.log": "tail a.log",
  "cd logs && tail -f a.log": "cd logs && tail a.log",
  'x=1\ntail -f "$f"': 'x=1\ntail "$f"',
  "less +F a.log": "tail a.log",
  "journalctl -f -u sshd": "journalctl -n 10 -u sshd",
  "dmesg -w": "dmesg"
}

const left: ReadonlyArray<string> = [
  "tail a.log",
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
  "docker ps; echo tail",
  "less a.log",
  "journalctl -n 5"
]

describe("a call that follows what is written", () => {
  it("is answered with what shows what there is now", () => {
    for (const [text, instead] of Object.entries(found)) {
      const { instead: seen, reason } = BashTool.find(text) ?? assert.fail(text)
      assert.strictEqual(seen, instead, text)
      assert.match(reason, / does not end by itself; .*timeout=<ms>$/)
    }
  })

  it("is left alone where something ends it, or reads it", () => {
    for (const text of left) assert.isUndefined(BashTool.find(text), text)
  })
})
