import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as GitConfig from "../../../src/sandbox/policy/GitConfig.js"

const place = { isWritable: () => false, isAllowedHooks: () => false }
const isInstalled = spawnSync("git", ["--version"]).status === 0

const programs = [
  '[core]\n\tfsmonitor = "touch x; true"',
  "[core]\n\thooksPath = .husky",
  "[core]\n\tsshCommand = evil",
  "[core]\n\teditor = evil",
  "[core]\n\tpager = evil",
  "[core]\n\tgitProxy = evil",
  "[core]\n\taskPass = evil",
  "[core]\n\talternateRefsCommand = evil",
  "[core]\n\tworktree = /home",
  "[core]\n\tattributesFile = x",
  "[core] fsmonitor = x",
  "[CORE]\n\tFSMONITOR = x",
  '[core ""]\n\tfsmonitor = x',
  "[core] ; a comment\n# another\n\tfsmonitor=x",
  "[core]\n\tfilemode = true\\\n\n\tfsmonitor = x",
  "\xef\xbb\xbf[core]\r\n\tfsmonitor = x\r\n",
  "[pager]\n\tstatus = evil",
  "[diff]\n\texternal = evil",
  '[diff "a"]\n\tcommand = evil',
  '[diff "a"]\n\ttextconv = evil',
  '[filter "a"]\n\tclean = evil',
  '[filter "a"]\n\tsmudge = evil',
  '[filter "a"]\n\tprocess = evil',
  "[credential]\n\thelper = !evil",
  '[credential "https://x"]\n\thelper = evil',
  "[gpg]\n\tprogram = evil",
  '[gpg "ssh"]\n\tdefaultKeyCommand = evil',
  "[alias]\n\tst = !evil",
  "[alias]\n\tst = rebase -x evil",
  "[alias]\n\tlg = log --output=.bashrc",
  "[include]\n\tpath = evil",
  '[includeIf "gitdir:/"]\n\tpath = evil',
  "[includeif.gitdir:/]\n\tpath = evil",
  '[merge "a"]\n\tdriver = evil',
  '[mergetool "a"]\n\tcmd = evil',
  '[difftool "a"]\n\tcmd = evil',
  "[sequence]\n\teditor = evil",
  '[protocol "ext"]\n\tallow = always',
  '[remote "o"]\n\turl = ext::sh -c evil',
  "[remote]\n\tpushDefault = ext::sh -c evil",
  '[branch "main"]\n\tremote = ext::sh -c evil',
  '[branch "main"]\n\tpushRemote = hg::evil',
  '[remote "o"]\n\tuploadpack = evil',
  '[remote "o"]\n\treceivepack = evil',
  '[remote "o"]\n\tvcs = evil',
  '[remote "o"]\n\tproxy = evil',
  '[submodule "s"]\n\tupdate = !evil',
  '[url "ext::evil "]\n\tinsteadOf = https://',
  "[uploadpack]\n\tpackObjectsHook = evil",
  "[gc]\n\trecentObjectsHook = evil",
  '[trailer "a"]\n\tcommand = evil',
  '[guitool "a"]\n\tcmd = evil',
  "[sendemail]\n\tsmtpServer = /evil",
  '[lfs "customtransfer.a"]\n\tpath = evil',
  "[http]\n\tproxy = http://evil",
  "[http]\n\tcookieFile = .env",
  '[browser "a"]\n\tcmd = evil',
  '[man "a"]\n\tcmd = evil',
  "[core]\n\tnewKeyOfTomorrow = evil"
]

const everyday = [
  "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\tautocrlf = input",
  "[core]\n\tfsmonitor = true\n[core]\n\tfsmonitor",
  '[remote "origin"]\n\turl = git@github.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tpushurl = ssh://[::1]/x\n\tprune = true',
  '[branch "a/b"]\n\tremote = origin\n\tmerge = refs/heads/a/b\n\trebase = true\n\tdescription = x\n\tvscode-merge-base = origin/main',
  "[http]\n\tpostBuffer = 1\n\tversion = HTTP/1.1\n\tlowSpeedTime = 9\n[help]\n\tautocorrect = 1\n[grep]\n\tlineNumber = true",
  "[user]\n\tname = Ada\n\temail = a@b\n\tsigningkey = AB",
  "[extensions]\n\tworktreeConfig = true\n\tobjectFormat = sha256\n\tpartialClone = origin",
  '[submodule "s"]\n\turl = ../s\n\tactive = true\n\tupdate = rebase',
  "[alias]\n\tst = status\n\tlg = log --oneline --graph",
  "[pull]\n\trebase = true\n[push]\n\tdefault = current\n\tautoSetupRemote = true\n[fetch]\n\tprune = true\n[init]\n\tdefaultBranch = main",
  "[merge]\n\tff = only\n\tconflictstyle = diff3\n[diff]\n\trenames = copies\n[rerere]\n\tenabled\n[commit]\n\tgpgsign = false\n[gc]\n\tauto = 0"
]

describe("settings of git", () => {
  for (const text of programs) {
    it(`takes ${JSON.stringify(text)} for a program`, () => {
      const entries = GitConfig.parse(text)
      assert.isFalse(entries?.every((entry) => GitConfig.isEveryday(entry, place)) ?? false)
    })
  }
  for (const text of everyday) {
    it(`keeps ${JSON.stringify(text)}`, () => {
      const others = GitConfig.parse(text)?.filter((entry) => !GitConfig.isEveryday(entry, place))
      assert.deepStrictEqual(others, [])
    })
  }
})

describe.skipIf(!isInstalled)("reading as git does", () => {
  let directory = ""
  beforeAll(() => {
    directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "git-config-"))
  })
  afterAll(() => Fs.rmSync(directory, { recursive: true, force: true }))

  /** Returns what git reads from a text; undefined where it refuses it. */
  const read = (text: string): ReadonlyArray<string> | undefined => {
    const file = Path.join(directory, "config")
    Fs.writeFileSync(file, text, "latin1")
    const { status, stdout } = spawnSync("git", ["config", "--file", file, "--list", "-z"], { encoding: "latin1" })
    return status === 0 ? stdout.split("\0").slice(0, -1) : undefined
  }
  const list = (entries: ReadonlyArray<GitConfig.Entry>) =>
    entries.map((entry) => GitConfig.nameOf(entry) + (entry.value === undefined ? "" : `\n${entry.value}`))

  const pieces = [
    "[core]",
    "[a.b]",
    '[a "B"]',
    '[a "q\\"\\\\z"]',
    "[]",
    "[ a]",
    '[a "b" ]',
    "key",
    "KEY",
    " = ",
    "=",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "value",
    '"',
    "\\",
    "\\n",
    "\\\n",
    "#",
    ";",
    "\0",
    "\x01",
    "\xef\xbb\xbf",
    "\xff",
    "x y",
    "-",
    ".",
    "1",
    '"a # b"',
    "\\x"
  ]

  it("reads the same as git, or nothing, and writes what git reads back", () => {
    let seed = 7
    const random = (most: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return Math.floor((seed / 2147483648) * most)
    }
    let accepted = 0
    for (let round = 0; round < 400; round++) {
      const text =
        (random(2) === 0 ? "[s]\nk = " : "") +
        Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join("")
      const entries = GitConfig.parse(text)
      if (entries === undefined) continue
      accepted++
      // Before version 2.45, git made a tab within a value a blank.
      const plain = (all: ReadonlyArray<string> | undefined) => all?.map((each) => each.replaceAll("\t", " "))
      assert.deepStrictEqual(plain(read(text)), plain(list(entries)), JSON.stringify(text))
      assert.deepStrictEqual(read(GitConfig.print(entries)), list(entries), JSON.stringify(text))
    }
    assert.isAbove(accepted, 50)
  })
})
