import * as Fs from "node:fs"
import * as Os from "node:os"
import { SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import * as Action from "../../src/cli/Action.js"
import { Stdio } from "../../src/cli/Stdio.js"
import * as PolicyBuilder from "../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../../src/sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../../src/sandbox/config/SandboxSettings.js"
import * as Upstream from "../../src/sandbox/network/Upstream.js"
import * as TemporaryDirectory from "../../src/sandbox/platform/TemporaryDirectory.js"
import { run } from "../support/cli/Program.js"
import * as Directory from "../support/sandbox/Directory.js"

/** `synapse sandbox …` with a home of its own; exit code, stdout and stderr. */
const sandbox = (home: string, ...args: ReadonlyArray<string>) =>
  run(["sandbox", ...args]).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["SYNAPSE_HOME", home]]))),
    Effect.map(({ exitCode, stderr, stdout }) => [exitCode, stdout, stderr] as const)
  )

const usages = [
  "policy [options]",
  "explain [options] <path>",
  "allow [options] [<path>]",
  "deny [options] <path>",
  "forget <path>",
  "clean"
]

/** The usage of a subcommand of this name, or of all. */
const usage = (name: string | undefined): string => {
  const own = usages.filter((line) => line.startsWith(`${name} `))
  const lines = (own.length === 0 ? usages : own).map((line) => `  synapse sandbox ${line}`)
  return ["Usage:", ...lines, `Help: synapse sandbox${own.length === 0 ? "" : ` ${name}`} --help`, ""].join("\n")
}

const filesystem = (home: string) => JSON.parse(Fs.readFileSync(`${home}/sandbox.json`, "utf8")).policy.filesystem

const open = "synapse: sessions that are open go on without the rule until they restart\n"

/** The directory that commands are in: a small one, as explanations look at all that lies below. */
const here = `${process.cwd()}/test/cli`

// The machine's own, whatever the run has: paths below it are not the sandbox's.
const { TMPDIR } = process.env
beforeAll(() => {
  delete process.env["TMPDIR"]
  vi.spyOn(process, "cwd").mockReturnValue(here)
})
afterAll(() => {
  vi.restoreAllMocks()
  if (TMPDIR !== undefined) process.env["TMPDIR"] = TMPDIR
})

describe("synapse sandbox", () => {
  it.scoped.skipIf(process.platform !== "linux")("allow lets commands read what lies in the machine's /tmp", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const place = Fs.mkdtempSync("/tmp/synapse-test-")
      yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(place, { recursive: true })))
      Fs.writeFileSync(`${place}/x.png`, "")
      const allow = (...words: ReadonlyArray<string>) => sandbox(home, "allow", ...words)
      const told = (...words: ReadonlyArray<string>) =>
        Effect.map(sandbox(home, "explain", ...words), ([, text]) => text.split("\n")[0] ?? "")
      const explain = Effect.map(sandbox(home, "explain", "--write", `${place}/x.png`), ([exitCode]) => exitCode)
      assert.deepStrictEqual(yield* allow(`${place}/x.png`), [0, `allowed, to read: ${place}/x.png\n`, ""])
      assert.deepStrictEqual(yield* allow(`${place}/x.png`), [0, `allowed already, to read: ${place}/x.png\n`, ""])
      assert.deepStrictEqual([filesystem(home).readable, yield* explain], [[`${place}/x.png`], 1])
      assert.include(yield* told("--write", `${place}/x.png`), "rule 'allowed to be read only'")
      const [exitCode, text, remark] = yield* allow("--write", `${place}/x.png`)
      assert.deepStrictEqual([exitCode, text], [0, `allowed: ${place}/x.png\n`])
      assert.strictEqual(remark, "")
      assert.deepStrictEqual([filesystem(home).whitelist, yield* explain], [[`${place}/x.png`], 0])
      assert.match((yield* allow("/tmp"))[2], /^synapse: \/tmp can't be allowed as a whole: /)
      Fs.symlinkSync("/etc/hostname", `${place}/link`)
      const link = `synapse: ${place}/link is a link to /etc/hostname: name that path.\n`
      assert.deepStrictEqual(yield* allow("--write", `${place}/link`), [1, "", link])
      assert.match(yield* told(`${place}/link`), /only the machine's has this: a link to \/etc\/hostname$/)
      Fs.symlinkSync("/nosuch\x1b[2K\rsynapse: all is well", `${place}/odd`)
      assert.notMatch(yield* told(`${place}/odd`), /[\x1b\r]/)
      const inside = /outside, the path is (.*)\.$/m.exec((yield* sandbox(home, "explain", "/tmp/own"))[1])?.[1] ?? ""
      Fs.mkdirSync(inside.replace(/\/own$/, ""), { recursive: true })
      Fs.symlinkSync("/etc/hostname", inside)
      assert.strictEqual(yield* told("/tmp/own"), "allowed to read /tmp/own (/etc/hostname): no rule is about it")
    })
  )

  it.scoped.skipIf(process.platform !== "linux")(
    "allow and forget tell what an open session has, if there is one",
    () =>
      Effect.gen(function* () {
        const home = yield* Directory.make
        const told = (...args: ReadonlyArray<string>) => Effect.map(sandbox(home, ...args), ([, , stderr]) => stderr)
        assert.strictEqual(yield* told("allow", "--write", "/srv/x/.env"), "")
        const path = `${PolicyBuilder.temporariesOf(home)}/0123456789abcdef`
        const held = TemporaryDirectory.open({ path, pattern: path, kind: "path", source: "tmp" })
        assert.strictEqual(
          yield* told("allow", "--write", "/srv/y/.env"),
          "synapse: a session that runs has it in a new shell (restart: true, /restart in synapse shell, or synapse daemon stop with its name)\n"
        )
        const forgotten = "synapse: sessions that are open go on as before until they restart\n"
        assert.strictEqual(yield* told("forget", "/srv/x/.env"), forgotten)
        held.release()
        assert.strictEqual(yield* told("forget", "/srv/y/.env"), "")
      })
  )

  it.effect("tells a command whom to ask where the file can't be written", () =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" })
      const error = new SystemError({
        reason: "Unknown",
        module: "FileSystem",
        method: "symlink",
        pathOrDescriptor: "",
        cause
      })
      const files = FileSystem.makeNoop({ readLink: () => Effect.fail(error), symlink: () => Effect.fail(error) })
      const home = yield* Directory.make
      const settings = yield* SandboxSettings.SandboxSettings
      const { addHost } = SandboxConfig.make(files, { ...settings, home })
      const said: Array<string> = []
      const stdio = { write: (_: string, text: string) => void said.push(text) }
      const added = Effect.as(addHost("allowedHosts", "a.org"), 0)
      const code = yield* Effect.provideService(Action.report(added), Stdio, stdio as never)
      assert.strictEqual(code, 1)
      assert.match(said.join(""), /^synapse: Only the user can change the sandbox, outside of it: synapse [^\n]*\n$/)
    }).pipe(Effect.scoped, Effect.provide(SandboxSettings.layer({})))
  )

  it.scoped("policy shows the rules, and where each comes from", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.writeFileSync(
        `${home}/sandbox.json`,
        '{"policy":{"filesystem":{"whitelist":["/data"],"blacklist":["*.pem"]}}}'
      )
      const [exitCode, stdout, stderr] = yield* sandbox(home, "policy", "--all")
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      const short = (yield* sandbox(home, "policy"))[1]
      assert.match(short, /^ {2}\*\.pem +sandbox\.json$/m)
      assert.match(short, /^\d+ built-in rules .*: synapse sandbox policy --all$/m)
      assert.notInclude(short, "~/.ssh")
      assert.include(stdout, `The sandbox is on (provider: local), in ${process.cwd()}\n`)
      for (const row of [
        /^ {2}\/data +sandbox\.json$/m,
        /^ {2}\*\.pem +sandbox\.json$/m,
        /^ {2}~\/\.ssh \(.*\/\.ssh\) +built in$/m,
        new RegExp(`^ {2}${home} +Synapse itself$`, "m")
      ]) {
        assert.match(stdout, row)
      }
      assert.match(stdout, /^Patterns .*\bhold\b/m)
      const json = JSON.parse((yield* sandbox(home, "policy", "--json"))[1])
      assert.deepStrictEqual(Object.keys(json), ["enabled", "provider", "file", "policy"])
      assert.deepStrictEqual(json.policy.whitelist[1], {
        pattern: "/data",
        path: "/data",
        kind: "path",
        source: "file"
      })
    })
  )

  it.scoped("deny refuses what nothing could run without", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      for (const path of ["/usr", "/bin", "/usr/**", "{/usr,/opt}/bin"].filter(() => Fs.existsSync("/usr/bin/bash"))) {
        const [exitCode, stdout, stderr] = yield* sandbox(home, "deny", path)
        assert.deepStrictEqual([exitCode, stdout], [1, ""])
        assert.include(stderr, `${path} holds /`)
        assert.include(stderr, ", without which nothing could run any more: deny what lies in it.")
      }
      assert.isFalse(Fs.existsSync(`${home}/sandbox.json`))
      assert.strictEqual((yield* sandbox(home, "deny", "/usr/games"))[0], 0)
    })
  )

  it.scoped("policy says so where the sandbox is off", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.writeFileSync(`${home}/sandbox.json`, '{"enabled":false}')
      assert.match((yield* sandbox(home, "policy"))[1], /^The sandbox is OFF: nothing of this is enforced, in /)
      assert.match((yield* sandbox(home, "explain", "/etc"))[2], /the sandbox is off/)
    })
  )

  it.scoped("explain says which rule allows or denies, and its exit code whether", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const place = yield* Directory.make
      Fs.symlinkSync("/etc/shadow", `${place}/link`)
      const cwd = process.cwd()
      assert.deepStrictEqual(yield* sandbox(home, "explain", "Cli.test.ts"), [
        0,
        `allowed to read ${cwd}/Cli.test.ts: no rule is about it\n`,
        ""
      ])
      assert.deepStrictEqual(yield* sandbox(home, "explain", "--write", "new/file"), [
        0,
        `allowed to write ${cwd}/new/file (it does not exist): rule ${cwd}: the working directory\n`,
        ""
      ])
      assert.deepStrictEqual(yield* sandbox(home, "explain", "/etc/passwd", "--write"), [
        1,
        "denied to write /etc/passwd: not whitelisted: read-only, since no rule allows writing\nTo let commands write there: synapse sandbox allow /etc/passwd\n",
        ""
      ])
      if (process.platform === "linux" && place.startsWith("/tmp/")) {
        assert.deepStrictEqual(yield* sandbox(home, "explain", `${place}/link`), [
          1,
          `denied to read ${place}/link: private /tmp: the sandbox has a /tmp of its own, and only the machine's has this: a link to /etc/shadow\n`,
          ""
        ])
        assert.match(
          (yield* sandbox(home, "explain", "--write", "/tmp/new"))[1],
          /^allowed to write \/tmp\/new.*\nIn the sandbox, this is a directory of its own: outside, the path is \/.*\/tmp\/[0-9a-f]{16}\/new\.\n$/
        )
      }
      Fs.writeFileSync(`${home}/sandbox.json`, '{"policy":{"temporary":"host"}}')
      assert.deepStrictEqual(yield* sandbox(home, "explain", `${place}/link`), [
        1,
        `denied to read ${place}/link (/etc/shadow): rule /etc/shadow: on the blacklist (built in)\nTo let commands use it: synapse sandbox allow /etc/shadow\n`,
        ""
      ])
      Fs.writeFileSync(`${place}/a.pem`, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
      assert.deepStrictEqual(yield* sandbox(home, "explain", `${place}/a.pem`), [
        0,
        `allowed to read ${place}/a.pem: rule **/?*.pem does not hide it: no secret is found in it\n`,
        ""
      ])
      assert.match((yield* sandbox(home, "explain", "~/.ssh/id_rsa"))[1], /^denied to read \/.*: rule ~\/\.ssh: /)
      const [, elsewhere] = yield* sandbox(home, "explain", "/opt/other/.env")
      assert.match(elsewhere, /^denied to read \/opt\/other\/\.env \(it does not exist\): rule \*\*\/\.env: /)
      if (process.platform === "linux")
        assert.match(elsewhere, /\nIt lies where commands can't write: the rule refuses those that name it/)
      if (process.platform === "linux" && Os.tmpdir() !== "/var/tmp") {
        const own = "in the sandbox, /var/tmp is its own, empty at first"
        assert.deepStrictEqual(yield* sandbox(home, "explain", "--write", "/var/tmp/a/b"), [
          1,
          `denied to write /var/tmp/a/b: ${own}: what is written there goes with the session\n`,
          ""
        ])
        assert.deepStrictEqual(yield* sandbox(home, "explain", "/var/tmp"), [
          1,
          `denied to read /var/tmp: ${own}: what it holds outside is not seen\n`,
          ""
        ])
        const json = JSON.parse((yield* sandbox(home, "explain", "--json", "/var/tmp"))[1])
        assert.deepStrictEqual([json.allowed, json.own], [false, "/var/tmp"])
        assert.match((yield* sandbox(home, "explain", "/var/tmp/.env"))[1], /: rule \*\*\/\.env: /)
      }
      const [exitCode, stdout] = yield* sandbox(home, "explain", "--json", ".env")
      assert.deepStrictEqual(
        [exitCode, JSON.parse(stdout)],
        [
          1,
          {
            path: `${cwd}/.env`,
            access: "read",
            allowed: false,
            rule: { pattern: "**/.env", path: "/**/.env", kind: "glob", source: "default" },
            reason: "on the blacklist (built in)",
            real: `${cwd}/.env`
          }
        ]
      )
    })
  )

  it.scoped("allow, deny and explain read a word alike, whatever commands have made", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const cwd = process.cwd()
      const literal = `${cwd}/~`
      const of = (variables: ReadonlyArray<readonly [string, string]>, ...args: ReadonlyArray<string>) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const before = { ...process.env }
            for (const [name, value] of variables) process.env[name] = value
            return before
          }),
          () => sandbox(home, ...args),
          (before) =>
            Effect.sync(() => {
              process.env = before
            })
        )
      const inData = [["SYNAPSE_TEST_DATA", "/data"]] as const
      assert.include((yield* of(inData, "allow", "$SYNAPSE_TEST_DATA/x"))[1], "allowed: /data/x")
      assert.include((yield* of(inData, "explain", "--write", "${SYNAPSE_TEST_DATA}/x/y"))[1], " /data/x/y ")
      assert.deepStrictEqual(yield* of(inData, "deny", "$SYNAPSE_TEST_DATA/y"), [
        0,
        "denied: $SYNAPSE_TEST_DATA/y\n",
        open
      ])
      assert.deepStrictEqual(yield* sandbox(home, "deny", "$SYNAPSE_TEST_NONE/y"), [
        0,
        "denied: $SYNAPSE_TEST_NONE/y\n",
        `${open}synapse: $SYNAPSE_TEST_NONE is not set: the rule means such a name until it is\n`
      ])
      Fs.mkdirSync(`${literal}/secret`, { recursive: true })
      yield* Effect.ensuring(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* sandbox(home, "deny", "~/secret"), [0, "denied: ~/secret\n", open])
          assert.strictEqual((yield* sandbox(home, "deny", "./~/secret"))[1], `denied: ${literal}/secret\n`)
          assert.match((yield* sandbox(home, "explain", "~/secret"))[1], /: rule ~\/secret: /)
        }),
        Effect.sync(() => Fs.rmSync(literal, { recursive: true }))
      )
      assert.deepStrictEqual(filesystem(home).blacklist, [
        "$SYNAPSE_TEST_DATA/y",
        "$SYNAPSE_TEST_NONE/y",
        "~/secret",
        `${literal}/secret`
      ])
    })
  )

  it.scoped("allow, deny and forget change the file", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.mkdirSync(`${home}/a[b]`)
      const cwd = process.cwd()
      const missing = " (it does not exist: it can be written once it does)"
      assert.deepStrictEqual(yield* sandbox(home, "allow", "/data"), [0, `allowed: /data${missing}\n`, ""])
      assert.deepStrictEqual(yield* sandbox(home, "allow", "/data"), [0, `allowed already: /data${missing}\n`, ""])
      assert.deepStrictEqual(yield* sandbox(home, "deny", "*.pem"), [0, "denied: *.pem\n", open])
      yield* sandbox(home, "deny", "secret/*.txt")
      yield* sandbox(home, "deny", "secret.txt")
      yield* sandbox(home, "deny", "~/x/$Y")
      yield* sandbox(home, "deny", `${home}/a[b]`)
      assert.deepStrictEqual(filesystem(home), {
        whitelist: ["/data"],
        blacklist: ["*.pem", `${cwd}/secret/*.txt`, `${cwd}/secret.txt`, "~/x/$Y", `${home}/a\\[b\\]`]
      })
      assert.deepStrictEqual(yield* sandbox(home, "forget", "secret.txt"), [
        0,
        `forgotten: ${cwd}/secret.txt, of the blacklist\n`,
        ""
      ])
      yield* sandbox(home, "forget", `${home}/a[b]`)
      assert.deepStrictEqual(filesystem(home).blacklist, ["*.pem", `${cwd}/secret/*.txt`, "~/x/$Y"])
    })
  )

  it.scoped("allow writes nothing that would not help", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const denied = yield* Directory.make
      yield* sandbox(denied, "deny", "*.pem")
      const [exitCode, stdout, stderr] = yield* sandbox(denied, "allow", "/x/a.pem")
      assert.deepStrictEqual([exitCode, stdout], [1, ""])
      assert.match(stderr, /^synapse: \/x\/a\.pem can't be allowed: rule \*\.pem: .*nothing was written\.\n$/)
      assert.match((yield* sandbox(home, "allow", home))[2], /on the blacklist \(Synapse itself\)/)
      assert.deepStrictEqual(Directory.list(home), [])
    })
  )

  it.scoped("allow and deny refuse what has no effect, or ends everything, in a sentence", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      for (const [command, path, sentence] of [
        ["allow", "", /^synapse: "" can't be allowed: it is empty: /],
        ["allow", "*.txt", /^synapse: "\*\.txt" can't be allowed: the whitelist has no wildcards: /],
        ["allow", "$NOWHERE/x", /^synapse: "\$NOWHERE\/x" can't be allowed: the shell has not expanded /],
        ["allow", "~root", /^synapse: "~root" can't be allowed: `~name` is not expanded: /],
        [
          "allow",
          "https://u:p@example.com/x",
          /it is an address\. To allow its host: synapse sandbox allow example\.com\.$/m
        ],
        ["deny", ".", /^synapse: .* holds the directory that you are in, where nothing could run any more: /]
      ] as const) {
        const [exitCode, stdout, stderr] = yield* sandbox(home, command, path)
        assert.deepStrictEqual([exitCode, stdout], [1, ""], path)
        assert.match(stderr, sentence)
      }
      assert.deepStrictEqual(Directory.list(home), [])
      Fs.mkdirSync(`${home}/a\n*b`)
      assert.match((yield* sandbox(home, "deny", `${home}/a\n*b`))[1], /^denied: \$'.*\/a\\n\\\\\*b'\n$/)
      Fs.writeFileSync(`${home}/sandbox.json`, '{"policy":{"network":{"allowNetwork":true}}}')
      assert.match(
        (yield* sandbox(home, "policy"))[1],
        /There is no network \(`allowNetwork: true` in sandbox\.json has no effect: name the hosts in `allowedHosts`, or start with `--allow-network`\)\.\n$/
      )
    })
  )

  it.scoped("allow takes the hosts of a tool, and marks those at a private address", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const variables = {
        GOPROXY:
          "https://open.test,https://mirror.test:8443,https://meta.test,https://gone.test,https://no.test,https://[::2]",
        GOSUMDB: "off"
      }
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
      const addresses: Readonly<Record<string, ReadonlyArray<string>>> = {
        "open.test": ["93.184.216.34"],
        "no.test": ["93.184.216.34"],
        "mirror.test": ["10.1.2.3"],
        "meta.test": ["169.254.169.254"]
      }
      const upstream = () => ({
        ...Upstream.make(),
        lookup: async (name: string) => addresses[name] ?? Promise.reject(new Error("gone"))
      })
      const run = (...args: ReadonlyArray<string>) =>
        sandbox(home, ...args).pipe(Effect.provideService(Upstream.CurrentUpstream, upstream))
      yield* run("deny", "--host", "no.test")
      const [code, stdout, stderr] = yield* run("allow", "--from", "go")
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(stdout.split("\n"), [
        "allowed, to reach: open.test (from the environment)",
        "allowed, to reach: private:mirror.test:8443 (from the environment; the host lies at the private or reserved address 10.1.2.3)",
        "allowed, to reach: meta.test (from the environment; the name leads to 169.254.169.254, which is never reached by a name)",
        "allowed, to reach: gone.test (from the environment; the name leads nowhere now)",
        ""
      ])
      assert.match(stderr, /no.test is denied, which wins/)
      assert.match(stderr, /\[::2\] can't be on the list of hosts: it is an IPv6/)
      const { network } = JSON.parse(Fs.readFileSync(`${home}/sandbox.json`, "utf8")).policy
      assert.deepStrictEqual(network.allowedHosts, ["open.test", "private:mirror.test:8443", "meta.test", "gone.test"])
      vi.stubEnv("GOPROXY", "https://*.wild.test/")
      assert.match(
        (yield* run("allow", "--from", "go"))[2],
        /^synapse: \*\.wild\.test is not allowed \(from the environ/
      )
      // What a command may have planted among the remotes gives it no way to what is private.
      const repository = yield* Directory.make
      for (const name of ["objects", "refs"]) Fs.mkdirSync(`${repository}/.git/${name}`, { recursive: true })
      Fs.writeFileSync(`${repository}/.git/HEAD`, "ref: refs/heads/main\n")
      const urls = [
        "https://open.test/a",
        "git@mirror.test:a",
        "http://localhost:2375/",
        "https://*.open.test/",
        "ssh://10.1.2.3/a"
      ]
      Fs.writeFileSync(
        `${repository}/.git/config`,
        urls.map((url, at) => `[remote "r${at}"]\n\turl = ${url}\n`).join("")
      )
      const cwd = vi.spyOn(process, "cwd").mockReturnValue(repository)
      const [, allowed, refused] = yield* Effect.ensuring(
        run("allow", "--from", "git"),
        Effect.sync(() => cwd.mockReturnValue(here))
      )
      assert.match(allowed, /^allowed already, to reach: open\.test \(from \S+\/\.git\/config\)\n$/)
      for (const entry of ["private:mirror.test:22", "localhost:2375", "*.open.test", "10.1.2.3:22"]) {
        assert.include(refused, `synapse: ${entry} is not allowed (from `)
      }
      vi.stubEnv("GOPROXY", "off")
      assert.match((yield* run("allow", "--from", "go"))[2], /The configuration of go names no host/)
      assert.match((yield* run("allow"))[2], /Name a path or a host, or a tool with --from/)
      assert.match(
        (yield* run("allow", "nothing"))[2],
        /sandbox allow \.\/nothing\. If it is a host: .* --host nothing$/m
      )
      assert.match((yield* run("allow", "--from", "go", "a.test"))[2], /Name a path or a host, or a tool with --from/)
    })
  )

  it.scoped("allow, deny, explain and forget take hosts", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const run = (...args: ReadonlyArray<string>) =>
        Effect.map(sandbox(home, ...args), ([code, out, err]) => [code, out + err])
      const denied = [1, "denied to reach example.com: there is no network\n"]
      assert.deepStrictEqual(yield* run("explain", "example.com"), denied)
      assert.deepStrictEqual(yield* run("allow", "example.com"), [0, "allowed, to reach: example.com\n"])
      assert.deepStrictEqual(yield* run("allow", "example.com"), [0, "allowed already, to reach: example.com\n"])
      assert.deepStrictEqual(yield* run("allow", "--host", "mirror"), [0, "allowed, to reach: mirror\n"])
      assert.deepStrictEqual(yield* run("deny", "*.example.com"), [0, "denied, to reach: *.example.com\n"])
      const { network } = JSON.parse(Fs.readFileSync(`${home}/sandbox.json`, "utf8")).policy
      assert.deepStrictEqual(network, { allowedHosts: ["example.com", "mirror"], deniedHosts: ["*.example.com"] })
      assert.deepStrictEqual(yield* run("explain", "example.com:443"), [
        0,
        "allowed to reach example.com:443: rule example.com: sandbox.json\n"
      ])
      assert.deepStrictEqual(yield* run("explain", "example.com:22"), [
        1,
        "denied to reach example.com:22: example.com allows ports 443 and 80, and not 22\n"
      ])
      assert.deepStrictEqual(
        yield* run("explain", "https://me@example.com:22/path?x"),
        yield* run("explain", "example.com:22")
      )
      assert.deepStrictEqual(yield* run("explain", "a.example.com"), [
        1,
        "denied to reach a.example.com: rule *.example.com: on the list of denied hosts\n"
      ])
      assert.strictEqual((yield* run("allow", "GET:plain.org"))[0], 0)
      assert.deepStrictEqual(yield* run("explain", "plain.org"), [
        0,
        "allowed to reach plain.org by GET in plain HTTP alone: rule GET:plain.org: sandbox.json\n"
      ])
      yield* run("allow", "plain.org")
      assert.deepStrictEqual(yield* run("explain", "plain.org"), [
        0,
        "allowed to reach plain.org: rule plain.org: sandbox.json\n"
      ])
      assert.match(String((yield* run("policy"))[1]), /Hosts that can be reached:\n {2}example.com +sandbox.json/)
      assert.match(String((yield* run("allow", "*.example.com"))[1]), /is denied, which wins.*forget/)
      assert.match(String((yield* run("allow", "--host", "*.com"))[1]), /anybody can have a name below com/)
      yield* run("allow", "localhost:3000")
      assert.match(String((yield* run("explain", "127.0.0.1:3000"))[1]), /^allowed to reach 127/)
      assert.deepStrictEqual(yield* run("forget", "EXAMPLE.com."), [
        0,
        "forgotten: example.com, of the allowed hosts\n"
      ])
    })
  )

  it.scoped("allow tells how a host is named that looks like a file", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const told = (...args: ReadonlyArray<string>) =>
        Effect.map(sandbox(home, ...args), ([exitCode, , stderr]) => [exitCode, stderr.trimEnd()] as const)
      for (const word of ["mirror", "mirror.corp"])
        assert.deepStrictEqual(yield* told("allow", word), [
          1,
          `synapse: ${word} does not exist here. If it is a path: synapse sandbox allow ./${word}. If it is a host: synapse sandbox allow --host ${word}`
        ])
      assert.match((yield* told("allow", "https://mirror.corp/x"))[1], /: synapse sandbox allow --host mirror\.corp\.$/)
      assert.deepStrictEqual(yield* told("allow", "localhost"), [
        2,
        "synapse: localhost can't be on the list of hosts: give the port of the machine's server, as localhost:5432."
      ])
      yield* sandbox(home, "allow", "private:mirror.corp")
      assert.match((yield* told("forget", "mirror.corp"))[1], / Perhaps: synapse sandbox forget private:mirror\.corp$/)
    })
  )

  it.scoped("forget says what it can't forget", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      assert.deepStrictEqual(yield* sandbox(home, "forget", "~/.ssh"), [
        1,
        "",
        "synapse: ~/.ssh is built in, and stays.\n"
      ])
      assert.deepStrictEqual(yield* sandbox(home, "forget", "/x"), [
        1,
        "",
        `synapse: /x is not in ${home}/sandbox.json.\n`
      ])
    })
  )

  it.scoped("does nothing over a broken file but say so", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.writeFileSync(`${home}/sandbox.json`, '{"policy":{"filesystem":{"blacklist":"x"}}}')
      for (const args of [["policy"], ["explain", "/a"], ["allow", "/a"], ["deny", "/a"], ["forget", "/a"]]) {
        const [exitCode, stdout, stderr] = yield* sandbox(home, ...args)
        assert.deepStrictEqual([exitCode, stdout], [1, ""])
        assert.match(
          stderr,
          /^synapse: \/.*\/sandbox\.json: policy\.filesystem\.blacklist: it must be a list.* Nothing runs .*\n$/
        )
      }
    })
  )

  it.scoped("refuses in one sentence to allow the kernel's files, the system's, and those of running programs", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.symlinkSync("/", `${home}/link`)
      for (const [path, reason] of [
        ["/", "/ can't be allowed: it would match everything."],
        ["//", "/ can't be allowed: it would match everything."],
        [`${home}/link`, `${home}/link can't be allowed: it would match everything.`],
        ["/proc/self/root/etc", /^\/proc\/self\/root\/etc can't be allowed: the kernel's own files .*\.$/],
        ["/dev/shm", /the kernel's own files/],
        [`${home}/link/usr`, /the system, and every sandbox, starts from what lies there\.$/],
        ["/./etc", /^\/etc can't be allowed: the system, /],
        ["/bin", /^\/bin can't be allowed: the system, /],
        ["/var/run", /programs outside of the sandbox/],
        ["/run/docker.sock", /programs outside of the sandbox/],
        ["/dev/null/../../etc", /the system, /]
      ] as const) {
        const [exitCode, stdout, stderr] = yield* sandbox(home, "allow", path)
        assert.deepStrictEqual([exitCode, stdout, stderr.split("\n").length], [1, "", 2], path)
        const said = stderr.slice("synapse: ".length, -1)
        if (typeof reason === "string") assert.strictEqual(said, reason)
        else assert.match(said, reason)
      }
      assert.deepStrictEqual(Directory.list(home), ["link"])
      assert.match((yield* sandbox(home, "allow", "/var"))[2], /^synapse: that is a directory that holds much else: /)
    })
  )

  it.scoped("refuses wrong usage with the reason, and the usage where the form is wrong", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, reason: string]> = [
        [[], "The subcommand is missing."],
        [["nosuch"], "Unknown subcommand: nosuch."],
        [["explain"], "<path> is missing."],
        [["explain", " "], "The path is empty."],
        [["policy", "x"], '"x" is one operand too many.'],
        [
          ["deny", "!x"],
          "!x can't be on the blacklist: a rule can't be taken back with `!`: write `./!…` for a name that begins with it."
        ],
        [["deny", ""], "'' can't be on the blacklist: it is empty."]
      ]
      for (const [args, reason] of cases) {
        const shown = args[0] === "deny" ? "" : usage(args[0])
        assert.deepStrictEqual(yield* sandbox(home, ...args), [2, "", `synapse: ${reason}\n${shown}`], args.join(" "))
      }
      assert.deepStrictEqual(Directory.list(home), [])
    })
  )
})
