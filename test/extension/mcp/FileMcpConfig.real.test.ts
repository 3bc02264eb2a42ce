/** The servers of a working directory's file over those of the home file, and which of them are trusted. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as LiveMcpClient from "../../../src/extension/mcp/LiveMcpClient.js"
import type * as NamedFiles from "../../../src/extension/mcp/NamedFiles.js"
import * as OwnFile from "../../../src/extension/mcp/OwnFile.js"
import * as TrustFile from "../../../src/extension/mcp/TrustFile.js"
import { open, states } from "../../support/extension/Servers.js"
import * as Directory from "../../support/sandbox/Directory.js"

/** Without a sandbox, what is trusted while the session runs is used at once. */
const made = Effect.fnUntraced(function* (enabled: boolean, prepare: (cwd: string, home: string) => void = () => {}) {
  const directory = yield* Directory.make
  const [cwd, home] = [`${directory}/project`, `${directory}/home`]
  const files = {
    project: `${cwd}/mcp_servers.json`,
    home: `${home}/mcp/mcp_servers.json`,
    trust: TrustFile.pathIn(home)
  }
  for (const path of [cwd, `${home}/mcp`]) Fs.mkdirSync(path, { recursive: true })
  const write = (path: string, servers: unknown) => Fs.writeFileSync(path, JSON.stringify({ mcpServers: servers }))
  prepare(cwd, home)
  const { config, reading } = yield* open({
    cwd,
    home,
    userHome: directory,
    temporary: `${directory}/tmp`,
    enabled,
    variables: { TOKEN: "s3cret", PATH: "/usr/bin:/bin" }
  })
  const trust = (...paths: ReadonlyArray<string>) =>
    TrustFile.add(
      home,
      paths.map((path): NamedFiles.NamedFile => ({ path, sha256: OwnFile.hash(Fs.readFileSync(path)) }))
    ).pipe(Effect.provide(NodeFileSystem.layer))
  return { cwd, home, directory, files, write, trust, config, reading, states: Effect.map(config.entries, states) }
})

const make = made(false)

const remedy = (cwd: string) => `the user can look at it, and trust it, with \`synapse mcp trust\` in ${cwd}`

describe("the servers of both files", () => {
  it.scopedLive("are none where there are none, and are read anew when a file changes", () =>
    Effect.gen(function* () {
      const { config, files, states, write } = yield* make
      assert.deepStrictEqual(yield* config.entries, [])
      write(files.home, { b: { url: "https://b" }, a: { command: "a" } })
      assert.deepStrictEqual(yield* states, { a: "ready", b: "ready" })
      write(files.home, { b: { url: "https://c" }, a: { command: "a" } })
      const [, b] = yield* config.entries
      assert.strictEqual(b?._tag === "Http" && b.url, "https://c")
      Fs.rmSync(files.home)
      assert.deepStrictEqual(yield* states, {})
    })
  )

  it.scopedLive("are the very same array while nothing changes", () =>
    Effect.gen(function* () {
      const { config, files, write } = yield* make
      write(files.home, { a: { command: "a" } })
      // A change of just now could not be told from a later one: these seem to be of long ago.
      const later = Object.assign(Clock.make(), { currentTimeMillis: Effect.sync(() => Date.now() + 60_000) })
      const entries = yield* Effect.withClock(config.entries, later)
      assert.strictEqual(yield* config.entries, entries)
    })
  )

  it.scopedLive("have their variables, directories and fingerprints", () =>
    Effect.gen(function* () {
      const { config, files, home, trust, write } = yield* make
      const written = { command: "x", args: ["${TOKEN}"], env: { T: "${TOKEN}" } }
      write(files.home, { h: written, i: { ...written, cwd: "/usr" } })
      write(files.project, { p: written })
      yield* trust(files.project)
      const [h, i, p] = yield* config.entries
      const common = { _tag: "Stdio", command: "x", args: ["s3cret"], env: { T: "s3cret" } }
      assert.deepInclude({ ...h }, { ...common, cwd: `${home}/mcp` })
      assert.deepInclude({ ...i }, { ...common, cwd: "/usr" })
      assert.deepInclude({ ...p }, { ...common, cwd: `${home}/mcp` })
      assert.deepStrictEqual(h?.server, { name: "h", source: "home", target: "x '${TOKEN}'" })
      assert.strictEqual(new Set([h, i, p].map((one) => one?.fingerprint)).size, 3)
      write(files.home, { h: written, other: written })
      assert.strictEqual((yield* config.entries)[0]?.fingerprint, h?.fingerprint)
    })
  )

  it.scopedLive("are told where they are broken, and the others go on", () =>
    Effect.gen(function* () {
      const { config, cwd, files, home, states, write } = yield* make
      write(files.home, {
        ok: { command: "a" },
        bad: { url: "https://e", headers: { A: "Bearer ${NO}" } },
        off: { command: "a", disabled: true },
        "../x\n": { command: "a" }
      })
      Fs.writeFileSync(files.project, "{ words\n}")
      const { [files.project]: broken, ...others } = yield* states
      assert.match(broken ?? "", /^broken: it is no JSON: /)
      assert.deepStrictEqual(others, {
        ok: "ready",
        bad: `broken: headers.A: the variable NO is not set (in ${home}/mcp/mcp_servers.json)`,
        off: `disabled: it is disabled in ${home}/mcp/mcp_servers.json`,
        "../x\\n": `broken: its name can't be part of a command: it is made of letters, digits and _ . -, and begins with no . or - (in ${home}/mcp/mcp_servers.json)`
      })
      const bad = (yield* config.entries).find(({ server }) => server.name === "bad")
      assert.strictEqual(
        bad?._tag === "Unusable" ? LiveMcpClient.toError(bad).message : "",
        `The MCP server bad can't be used: headers.A: the variable NO is not set (in ${home}/mcp/mcp_servers.json).`
      )
      for (const [text, reason] of [
        ["[]", "it is no object"],
        ['{"servers":{}}', 'it has no "mcpServers"'],
        ['{"mcpServers":[]}', 'its "mcpServers" is no object'],
        ['{"mcpServers":{"a":{},"a":{}}}', "mcpServers.a: the name stands here twice"],
        ["\xff", "it is not UTF-8"],
        [`{"mcpServers":${" ".repeat(1024 ** 2)}{}}`, "it is larger than 1048576 bytes"]
      ] as const) {
        Fs.writeFileSync(files.project, text, "latin1")
        assert.strictEqual((yield* states)[files.project], `broken: ${reason}`)
      }
      Fs.rmSync(files.project)
      ChildProcess.execFileSync("mkfifo", [files.project])
      assert.strictEqual((yield* states)[files.project], "broken: it is no regular file")
      Fs.rmSync(files.project)
      Fs.symlinkSync(`${cwd}/other`, files.project)
      assert.match((yield* states)[files.project] ?? "", /^broken: it is a symbolic link/)
    })
  )
})

describe("the trust in a project's servers", () => {
  it.scopedLive("is for the content of the file, and ends when that changes", () =>
    Effect.gen(function* () {
      const { cwd, files, states, trust, write } = yield* make
      write(files.project, { p: { command: "a" } })
      assert.deepStrictEqual(yield* states, { p: `untrusted: ${files.project} is not trusted yet; ${remedy(cwd)}` })
      yield* trust(files.project)
      assert.deepStrictEqual(yield* states, { p: "ready" })
      write(files.project, { p: { command: "b" } })
      assert.deepStrictEqual(yield* states, {
        p: `untrusted: ${files.project} has changed since the user trusted it; ${remedy(cwd)}`
      })
      write(files.project, { p: { command: "a" } })
      assert.deepStrictEqual(yield* states, { p: "ready" })
    })
  )

  it.scopedLive("does not let a home server of the same name be used, nor silently replaced, until it is given", () =>
    Effect.gen(function* () {
      const { config, cwd, files, states, trust, write } = yield* make
      write(files.home, { gh: { url: "https://mine" }, other: { url: "https://o" } })
      write(files.project, { gh: { url: "https://theirs" } })
      assert.deepStrictEqual(yield* states, {
        gh: `untrusted: ${files.project} is not trusted yet; ${remedy(cwd)}. Until then, the server of the same name in ${files.home} is not used either`,
        other: "ready"
      })
      yield* trust(files.project)
      const [gh] = yield* config.entries
      assert.strictEqual(gh?._tag === "Http" && gh.url, "https://theirs")
    })
  )

  it.scopedLive("is for the files that commands may write and a server runs, also those of a home server", () =>
    Effect.gen(function* () {
      const { cwd, directory, files, states, trust, write } = yield* make
      Fs.writeFileSync(`${cwd}/server.js`, "1")
      Fs.writeFileSync(`${directory}/own.js`, "1")
      Fs.mkdirSync(`${cwd}/dir`)
      write(files.project, { p: { command: "node", args: ["./server.js", "dir", "none"] } })
      write(files.home, {
        abs: { command: "node", args: [`${cwd}/server.js`] },
        equals: { command: "node", args: [`--require=${cwd}/server.js`] },
        env: { command: "node", env: { NODE_OPTIONS: `-r ${cwd}/server.js` } },
        script: { command: "bash", args: ["-c", `exec node '${cwd}/server.js'`] },
        program: { command: `${cwd}/server.js` },
        inCwd: { command: "./server.js", cwd: "." },
        ok: { command: "node", args: [`${directory}/own.js`, "server.js"] }
      })
      yield* trust(files.project)
      const words = (how: string) =>
        `untrusted: it runs what commands may write: ${cwd}/server.js ${how}; ${remedy(cwd)}`
      const all = (state: string) => {
        const same = ["abs", "env", "equals", "inCwd", "p", "program", "script"].map((name) => [name, state] as const)
        return { ...Object.fromEntries(same), ok: "ready" }
      }
      assert.deepStrictEqual(yield* states, all(words("is not trusted yet")))
      yield* trust(`${cwd}/server.js`)
      assert.deepStrictEqual(yield* states, all("ready"))
      Fs.writeFileSync(`${cwd}/server.js`, "2")
      assert.deepStrictEqual(yield* states, all(words("has changed since the user trusted it")))
      Fs.writeFileSync(`${cwd}/server.js`, "1")
      Fs.writeFileSync(`${cwd}/none`, "new")
      assert.match((yield* states)["p"] ?? "", /project\/none is not trusted yet/)
      Fs.rmSync(`${cwd}/none`)
      ChildProcess.execFileSync("mkfifo", [`${cwd}/none`])
      assert.match((yield* states)["p"] ?? "", /^broken: it names .*none, and it is no regular file/)
    })
  )

  it.scopedLive("is nobody's where the list of what is trusted is broken", () =>
    Effect.gen(function* () {
      const { files, reading, states, trust, write } = yield* make
      write(files.project, { p: { command: "a" } })
      write(files.home, { h: { command: "a" } })
      yield* trust(files.project)
      Fs.appendFileSync(files.trust, "x")
      const { h, p } = yield* states
      assert.strictEqual(h, "ready")
      assert.match(p ?? "", /is not trusted, for nothing is: .*trust\.json can't be used: it is no JSON/)
      assert.match((yield* reading.read).trustProblem ?? "", /trust\.json can't be used/)
    })
  )

  it.scopedLive("is told with the file that is to blame and the next step", () =>
    Effect.gen(function* () {
      const { config, cwd, files, trust, write } = yield* make
      Fs.writeFileSync(`${cwd}/server.txt`, "1")
      write(files.project, { p: { command: "python3", args: ["server.txt"] } })
      const denial = Effect.map(config.entries, ([entry]) => {
        if (entry?._tag !== "Unusable") return "none"
        const { message, _tag } = LiveMcpClient.toError(entry)
        return `${_tag}: ${message}`
      })
      const told = (file: string, why: string) =>
        `Blocked: blocked by sandbox policy: mcp:p (rule ${file}: ${why}; ${remedy(cwd)})`
      const runs = "the server runs it, and it"
      assert.include(yield* denial, told(files.project, "it is not trusted yet"))
      yield* trust(files.project)
      assert.include(yield* denial, told(`${cwd}/server.txt`, `${runs} is not trusted yet`))
      yield* trust(`${cwd}/server.txt`)
      assert.strictEqual(yield* denial, "none")
      Fs.writeFileSync(`${cwd}/server.txt`, "2")
      assert.include(yield* denial, told(`${cwd}/server.txt`, `${runs} has changed since the user trusted it`))
      write(files.project, {})
      assert.strictEqual(yield* denial, "none")
    })
  )

  it.scopedLive("holds what is run by whatever way, though its name is one of data", () =>
    Effect.gen(function* () {
      const { cwd, files, states, trust, write } = yield* make
      Fs.mkdirSync(`${cwd}/sub`)
      for (const name of ["real.txt", "x.txt", "start.json", "sub/own.md"]) Fs.writeFileSync(`${cwd}/${name}`, "1")
      Fs.symlinkSync("../real.txt", `${cwd}/sub/link.txt`)
      Fs.symlinkSync("sub", `${cwd}/way`)
      const ways: Readonly<Record<string, readonly [run: string, definition: object]>> = {
        link: ["real.txt", { command: "python3", args: ["sub/link.txt"] }],
        shebang: ["x.txt", { command: "./x.txt" }],
        up: ["x.txt", { command: "bash", args: ["way/../x.txt"] }],
        inCwd: ["sub/own.md", { command: "ruby", args: ["own.md"], cwd: "way" }],
        startup: ["start.json", { command: "python3", args: ["-i"], env: { PYTHONSTARTUP: `${cwd}/start.json` } }],
        options: ["start.json", { command: "node", args: ["/s.js"], env: { NODE_OPTIONS: "--import=./start.json" } }],
        shell: ["x.txt", { command: "sh", args: ["-c", `exec sh ${cwd}/x.txt`] }]
      }
      write(files.project, Object.fromEntries(Object.entries(ways).map(([name, [, definition]]) => [name, definition])))
      const named = ["real.txt", "x.txt", "start.json", "sub/own.md"].map((name) => `${cwd}/${name}`)
      const written = [`${cwd}/sub/link.txt`, `${cwd}/way/../x.txt`, `${cwd}/way/own.md`]
      yield* trust(files.project, ...named, ...written)
      assert.deepStrictEqual(yield* states, Object.fromEntries(Object.keys(ways).map((name) => [name, "ready"])))
      for (const [name, [run]] of Object.entries(ways)) {
        Fs.writeFileSync(`${cwd}/${run}`, "evil")
        assert.match((yield* states)[name] ?? "", /^untrusted: it runs what commands may write: .* has changed/, name)
        Fs.writeFileSync(`${cwd}/${run}`, "1")
        assert.strictEqual((yield* states)[name], "ready", name)
      }
      // The link is led elsewhere.
      Fs.writeFileSync(`${cwd}/evil`, "evil")
      Fs.rmSync(`${cwd}/sub/link.txt`)
      Fs.symlinkSync("../evil", `${cwd}/sub/link.txt`)
      assert.match((yield* states)["link"] ?? "", /^untrusted: .*link\.txt has changed/)
    })
  )

  it.scopedLive("is of use in the next session only where commands of this one can still write the file", () =>
    Effect.gen(function* () {
      const { config, cwd, files, states, trust } = yield* made(true, (cwd) => {
        Fs.writeFileSync(`${cwd}/server.txt`, "1")
        Fs.writeFileSync(
          `${cwd}/mcp_servers.json`,
          JSON.stringify({ mcpServers: { p: { command: "python3", args: ["server.txt"] } } })
        )
      })
      yield* trust(files.project)
      assert.include((yield* states)["p"] ?? "", `; ${remedy(cwd)}, and start a new session`)
      yield* trust(`${cwd}/server.txt`)
      const [entry] = yield* config.entries
      assert.isTrue(entry?._tag === "Unusable" && entry.reason === "loose")
      if (entry?._tag !== "Unusable") return
      assert.include(
        LiveMcpClient.toError(entry).message,
        `mcp:p (rule ${cwd}/server.txt: the server runs it, and it was trusted or put there after this session began, whose commands can still write it: start a new session)`
      )
    })
  )
})
