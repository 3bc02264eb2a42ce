import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as PathEntry from "../../../src/sandbox/policy/PathEntry.js"

const variables = { DATA: "/data", EMPTY: "", NAME: "x y", STAR: "/s*[a]{b,c}", REL: "sub" }
const expansion = { cwd: "/work", userHome: "/home/ada", variables }

/** The meanings on one line each, or why there are none. */
const read = (entry: string, list: "whitelist" | "blacklist" = "blacklist"): string | Array<string> =>
  Either.match(PathEntry.parse(entry, expansion, list), {
    onLeft: (reason) => reason,
    onRight: (meanings) => meanings.map(({ kind, path }) => `${kind} ${path}`)
  })

describe("an entry's variables and ~", () => {
  const cases: ReadonlyArray<readonly [entry: string, meaning: string]> = [
    ["~", "path /home/ada"],
    ["~/", "path /home/ada"],
    ["~/.ssh", "path /home/ada/.ssh"],
    ["$DATA", "path /data"],
    ["$DATA/a", "path /data/a"],
    [`\${DATA}a`, "path /dataa"],
    ["/x/$NAME/y", "path /x/x y/y"],
    ["$REL/a", "path /work/sub/a"],
    // Not set, or set to nothing: as it is written.
    ["/x/$NOPE/y", "path /x/$NOPE/y"],
    ["/x/${NOPE}/y", "path /x/${NOPE}/y"],
    ["/$EMPTY/etc", "path /$EMPTY/etc"],
    ["$NOPE/etc", "path /work/$NOPE/etc"],
    ["/x/$", "path /x/$"],
    ["/x/$1", "path /x/$1"],
    ["/x/${}", "path /x/${}"],
    ["/x/$constructor", "path /x/$constructor"],
    // Neither wildcards nor alternatives come out of a variable.
    ["$STAR", "path /s*[a]{b,c}"],
    // A backslash takes the meaning away.
    ["\\~/a", "path /work/~/a"],
    ["/x/\\$DATA", "path /x/$DATA"],
    ["/x/a\\*b\\[c\\]", "path /x/a*b[c]"],
    ["/x/a\\\\b", "path /x/a\\b"],
    ["/x\\/y", "path /x/y"],
    ["/x/a~", "path /x/a~"]
  ]
  for (const [entry, meaning] of cases)
    it(`${entry} is ${meaning}`, () => assert.deepStrictEqual(read(entry), [meaning]))
})

describe("an entry's place", () => {
  const cases: ReadonlyArray<readonly [entry: string, meanings: ReadonlyArray<string>]> = [
    ["a", ["path /work/a"]],
    [".env", ["path /work/.env"]],
    ["./a/../b//c/", ["path /work/b/c"]],
    ["../a", ["path /a"]],
    ["/a/./b/..//c", ["path /a/c"]],
    ["*.pem", ["glob /**/*.pem"]],
    ["**/.env*", ["glob /**/.env*"]],
    ["**/a/*.key/", ["glob /**/a/*.key"]],
    ["./*.pem", ["glob /work/*.pem"]],
    ["a/**", ["glob /work/a/**"]],
    ["../*.pem", ["glob /*.pem"]],
    ["~/x/*.pem", ["glob /home/ada/x/*.pem"]],
    ["$STAR/*.pem", ["glob /s\\*\\[a\\]\\{b\\,c\\}/*.pem"]],
    ["/a/./*//b", ["glob /a/*/b"]],
    ["/a/{b,c/d}", ["path /a/b", "path /a/c/d"]],
    ["{~,/b}/*.pem", ["glob /work/~/*.pem", "glob /b/*.pem"]],
    ["*.{pem,key}", ["glob /**/*.pem", "glob /**/*.key"]],
    ["/a/{b}", ["path /a/{b}"]],
    ["/a (copy)/*.pem", ["glob /a (copy)/*.pem"]]
  ]
  for (const [entry, meanings] of cases) it(`of ${entry}`, () => assert.deepStrictEqual(read(entry), [...meanings]))
})

describe("an entry that means nothing", () => {
  const cases: ReadonlyArray<readonly [entry: string, reason: RegExp]> = [
    ["", /empty/],
    [" \t", /empty/],
    ["/a\0b", /NUL/],
    [`/${"a".repeat(5000)}`, /longer/],
    [" /a", /white space/],
    ["/a ", /white space/],
    ["!**/.env.example", /taken back/],
    ["~ada/.ssh", /not expanded/],
    ["/a/!(b)", /\{a,b\}/],
    ["/a/@(b|c)", /\{a,b\}/],
    ["/", /everything/],
    ["/a/..", /everything/],
    ["*", /everything/],
    ["**", /everything/],
    ["/**/*", /everything/],
    ["./../**", /everything/],
    ["/a/*/../b", /follow a wildcard/],
    ["/a/[z-a]", /wrong way round/],
    ["{a,b}".repeat(12), /alternatives/],
    ["{,a}", /empty/]
  ]
  for (const [entry, reason] of cases) {
    it(`is refused: ${JSON.stringify(entry).slice(0, 30)}`, () => assert.match(String(read(entry)), reason))
  }

  it("is refused on the whitelist for what no sandbox may write", () => {
    for (const entry of ["/a/*", "/a/{b,c}", "*.txt", "/a/[b]", "/a?"]) {
      assert.match(String(read(entry, "whitelist")), /no wildcards/, entry)
    }
    for (const entry of ["/proc", "/proc/self", "/sys/fs", "/dev", "/dev/sda", "/dev/shm", "/dev/shm/"]) {
      assert.match(String(read(entry, "whitelist")), /kernel/, entry)
    }
    for (const entry of ["/run", "/run/", "/var/run", "/run/user/1000", "/run/docker.sock", "/run/systemd/private"]) {
      assert.match(String(read(entry, "whitelist")), /programs outside of the sandbox/, entry)
    }
    for (const entry of ["/etc", "/./etc", "/home/../usr/bin", "/usr", "/lib64", "/boot/grub", "/bin/bwrap"]) {
      assert.match(String(read(entry, "whitelist")), /every sandbox, starts/, entry)
    }
    for (const entry of ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/etc/ld.so.preload"]) {
      assert.match(String(read(entry, "whitelist")), /every sandbox, starts/, entry)
    }
    assert.match(String(read("//", "whitelist")), /everything/)
    const places = [
      "/run/user/1000/tmp",
      "/run/media/ann/disk",
      "/run/postgresql",
      "/etc/nginx",
      "/usr/local",
      "/usr/share"
    ]
    for (const entry of [...places, "/dev/shm/a", "/process", "/device", "/usr/lib/node_modules", "/runs", "/bin2"]) {
      assert.deepStrictEqual(read(entry, "whitelist"), [`path ${entry}`])
    }
    assert.deepStrictEqual(read("/a/\\[id\\]", "whitelist"), ["path /a/[id]"])
  })

  it("keeps an end of white space that is escaped", () => {
    assert.deepStrictEqual(read("/a\\ "), ["path /a "])
  })
})

describe("any entry", () => {
  const part = FastCheck.constantFrom(
    "a",
    "/",
    ".",
    "..",
    "~",
    "$DATA",
    "$NOPE",
    "*",
    "**",
    "[ab]",
    "{a,b}",
    "\\",
    "\n",
    "é",
    "(",
    "|"
  )
  const entries = FastCheck.array(part, { maxLength: 8 }).map((parts) => parts.join(""))

  it("is read into absolute paths without `.`, `..` and doubled slashes, or refused", () => {
    let read = 0
    FastCheck.assert(
      FastCheck.property(entries, (entry) => {
        const meanings = Either.getOrElse(PathEntry.parse(entry, expansion, "blacklist"), () => [])
        for (const { path } of meanings) assert.notMatch(path, /^[^/]|\/$|\/\/|\/\.\.?(\/|$)/)
        read += meanings.length
      }),
      { numRuns: 800 }
    )
    assert.isAbove(read, 300)
  })

  it("means the same once it is written out", () => {
    let globs = 0
    FastCheck.assert(
      FastCheck.property(
        entries.map((entry) => entry.replaceAll("\n", "n")),
        (entry) => {
          for (const meaning of Either.getOrElse(PathEntry.parse(entry, expansion, "blacklist"), () => [])) {
            if (meaning.kind === "path") continue
            assert.deepStrictEqual(PathEntry.parse(meaning.path, expansion, "blacklist"), Either.right([meaning]))
            globs++
          }
        }
      ),
      { numRuns: 800 }
    )
    assert.isAbove(globs, 100)
  })

  it("is the same as itself, however it is written", () => {
    const isSame = PathEntry.sameAs("~/.ssh", expansion)
    const others = ["~/.ssh", "~/.ssh/", "/home/ada/.ssh", "$HOME/.ssh", "../home/ada/./.ssh", "~/.ssh2", "**/.ssh"]
    assert.deepStrictEqual(others.map(isSame), [true, true, true, false, true, false, false])
    assert.isTrue(PathEntry.sameAs("/a/[id]", expansion)("/a/\\[id\\]"))
    assert.isTrue(PathEntry.sameAs("/a/[id]", expansion)("/a/[id]"))
  })
})
