/** `synapse mcp` over real files, and as it is installed where it asks (`npm run build` makes it). */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as OAuth from "../../src/extension/mcp/OAuth.js"
import * as InProcess from "../support/cli/InProcess.js"
import * as Temporary from "../support/Temporary.js"

const synapse = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

type Ended = readonly [number | null, string, string]

interface Place {
  readonly directory: string
  readonly cwd: string
  readonly file: string
  readonly home: string
  /** Runs it where nothing is asked; exit code, stdout, stderr. */
  readonly mcp: (...args: ReadonlyArray<string>) => Promise<Ended>
  /** The same, as a program without a terminal. */
  readonly alone: (...args: ReadonlyArray<string>) => Promise<Ended>
  /** What is shown at a terminal where this is typed when there is a question. */
  readonly atTerminal: (typed: string, ...args: ReadonlyArray<string>) => Promise<string>
  readonly write: (name: string, content: unknown) => void
}

const using = (use: (place: Place) => Promise<void>) =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "project")
    fs.mkdirSync(cwd)
    const env = { PATH: process.env["PATH"], HOME: directory, SYNAPSE_HOME: path.join(directory, "home") }
    const start = (command: string, args: ReadonlyArray<string>, typed?: string) =>
      new Promise<Ended>((resolve, reject) => {
        // In a session of its own, it has no terminal, wherever the tests run.
        const child = spawn(command, args, { cwd, env, detached: true })
        const said = { stdout: "", stderr: "" }
        for (const stream of ["stdout", "stderr"] as const) {
          child[stream].setEncoding("utf8").on("data", (text: string) => {
            said[stream] += text
            if (typed !== undefined && said.stdout.includes("[y/N] ")) child.stdin.end(typed)
          })
        }
        if (typed === undefined) child.stdin.end()
        child.on("error", reject)
        child.on("close", (code) => resolve([code, said.stdout, said.stderr]))
      })
    const words = (args: ReadonlyArray<string>) => [synapse, "mcp", ...args]
    await use({
      directory,
      cwd,
      file: path.join(cwd, "mcp_servers.json"),
      home: path.join(directory, "home", "mcp", "mcp_servers.json"),
      mcp: async (...args) => {
        const { exitCode, stderr, stdout } = await InProcess.run(["mcp", ...args], cwd, env)
        return [exitCode, stdout, stderr]
      },
      alone: (...args) => start(process.execPath, words(args)),
      atTerminal: async (typed, ...args) =>
        (await start("script", ["-qec", [process.execPath, ...words(args)].join(" "), "/dev/null"], typed))[1],
      write: (name, content) => {
        fs.mkdirSync(path.dirname(path.join(directory, name)), { recursive: true })
        fs.writeFileSync(path.join(directory, name), typeof content === "string" ? content : JSON.stringify(content))
      }
    })
  })

const servers = (file: string) => JSON.parse(fs.readFileSync(file, "utf8")).mcpServers

describe("synapse mcp", () => {
  it("adds, lists and removes servers of the home file", () =>
    using(async ({ home, mcp }) => {
      assert.deepStrictEqual(await mcp("list", "--json"), [0, "[]\n", ""])
      assert.match((await mcp("list"))[1], /^There are no servers\. .*synapse mcp add .*synapse mcp import\n$/)
      assert.deepStrictEqual(
        await mcp("add", "fs", "--env", "A=x=y", "--", "cat", "-y", "server", "--help", "--", "-h"),
        [0, `added: fs, in ${home}\n`, ""]
      )
      const [code, , said] = await mcp(
        "add",
        "web",
        "--url",
        "https://e/?k=1",
        "--header",
        "Authorization: Bearer ${NO_T}"
      )
      assert.deepStrictEqual(
        [code, said],
        [0, `synapse: it can't be used yet: headers.Authorization: the variable NO_T is not set (in ${home})\n`]
      )
      assert.deepStrictEqual(servers(home), {
        fs: { command: "cat", args: ["-y", "server", "--help", "--", "-h"], env: { A: "x=y" } },
        web: { url: "https://e/?k=1", headers: { Authorization: "Bearer ${NO_T}" } }
      })
      assert.strictEqual(
        (await mcp("list"))[1],
        [
          "fs   home  configured  cat -y server --help -- -h",
          "web  home  broken      https://e/?k=…",
          "",
          `web: headers.Authorization: the variable NO_T is not set (in ${home})`,
          ""
        ].join("\n")
      )
      assert.match((await mcp("add", "fs", "--", "x"))[2], /it has a server fs already \(--force replaces it\)/)
      assert.strictEqual((await mcp("add", "fs", "--force", "--", "x"))[0], 0)
      assert.deepStrictEqual(await mcp("remove", "fs"), [0, `removed: fs, from ${home}\n`, ""])
      assert.deepStrictEqual(await mcp("remove", "fs"), [1, "", `synapse: there is no server fs in ${home}.\n`])
      assert.deepStrictEqual(Object.keys(servers(home)), ["web"])
    }))

  it("starts a server in the directory where its relative file lies", () =>
    using(async ({ cwd, file, home, mcp, write }) => {
      write("project/server.mjs", "")
      await mcp("add", "a", "--", "node", "./server.mjs")
      await mcp("add", "b", "--", "node", "server")
      assert.match(
        (await mcp("add", "gone", "--", "node", "./gone.mjs"))[2],
        /^synapse: \.\/gone\.mjs does not exist in /m
      )
      await mcp("remove", "gone")
      await mcp("add", "c", "--cwd", "/usr", "--", "node", "server.mjs")
      await mcp("add", "--project", "d", "--", "node", "server.mjs")
      assert.deepStrictEqual(
        [...["a", "b", "c"].map((name) => servers(home)[name].cwd), servers(file).d.cwd],
        [cwd, undefined, "/usr", undefined]
      )
    }))

  it("lists which servers are logged in to", () =>
    using(async ({ directory, mcp }) => {
      for (const name of ["one", "other"]) await mcp("add", name, "--url", `https://${name}.example/mcp`)
      const kept = OAuth.provider(path.join(directory, "home"), "https://one.example/mcp")
      await kept.saveTokens({ access_token: "secret", token_type: "bearer" })
      const listed = (await mcp("list"))[1]
      assert.match(listed, /^one +home +configured, logged in +https:/m)
      assert.match(listed, /^other +home +configured +https:/m)
      const json: ReadonlyArray<{ name: string; login?: true }> = JSON.parse((await mcp("list", "--json"))[1])
      assert.deepStrictEqual(
        json.map(({ login, name }) => [name, login]),
        [
          ["one", true],
          ["other", undefined]
        ]
      )
      assert.strictEqual((await mcp("logout", "one"))[0], 0)
      assert.notInclude((await mcp("list"))[1], "logged in")
    }))

  it("says where it is trusted and listed that a server would not be started", () =>
    using(async ({ cwd, file, mcp, write }) => {
      const linked = ["shared.py", "own.py"].map((name) => path.join(cwd, name)) as [string, string]
      for (const one of linked) fs.writeFileSync(one, "1")
      fs.linkSync(linked[0], path.join(cwd, "second.py"))
      const python = (name: string) => ({ command: process.execPath, args: [name] })
      write("project/mcp_servers.json", { mcpServers: { own: python("own.py"), shared: python("shared.py") } })
      const why = `it runs what commands may write: ${linked[0]} has a second name (a hard link), by which commands can change it: put a copy in its place`
      const [code, said, complaint] = await mcp("trust", "--yes")
      assert.strictEqual(code, 0, complaint)
      assert.include(said, `trusted: ${file}`)
      assert.strictEqual(complaint, `synapse: shared can't be used: ${why}\n`)
      const listed = (await mcp("list"))[1]
      assert.match(listed, /^own +project {2}configured +\S/m)
      assert.match(listed, /^shared +project {2}not usable +\S/m)
      assert.include(listed, `\nshared: ${why}\n`)
      assert.deepStrictEqual(await mcp("trust", "--yes"), [1, "", `synapse: shared can't be used: ${why}\n`])
      // As it says.
      fs.rmSync(path.join(cwd, "second.py"))
      assert.match((await mcp("list"))[1], /^shared +project {2}(?:configured|not trusted) /m)
      await mcp("trust", "--yes")
      assert.match((await mcp("list"))[1], /^shared +project {2}configured /m)
    }))

  it("takes -e for --env, and a directory, which is that of the call", () =>
    using(async ({ cwd, home, mcp }) => {
      assert.strictEqual((await mcp("add", "e", "-e", "A=b", "--env", "B=c", "--cwd", "sub", "--", "node", "x"))[0], 0)
      assert.deepStrictEqual(servers(home), {
        e: { command: "node", args: ["x"], env: { A: "b", B: "c" }, cwd: `${cwd}/sub` }
      })
    }))

  it("asks at a terminal before it trusts a project's servers, and refuses without one", () =>
    using(async ({ alone, atTerminal, cwd, file, mcp, write }) => {
      write("project/server.js", "1")
      write("project/mcp_servers.json", {
        mcpServers: {
          "p\x1b[2J": { url: "https://e" },
          p: { command: "node", args: ["./server.js", "\x1b[31m\u202e"], env: { KEY: "s3cret", T: "${HOME}" } }
        }
      })
      const [code, stdout, stderr] = await alone("trust")
      assert.deepStrictEqual(
        [code, stderr],
        [1, "synapse: there is no terminal to ask at; --yes does it without asking.\nNothing was trusted.\n"]
      )
      for (const text of [
        `${file} lists these servers. Their programs run outside of the sandbox, with all your rights:`,
        '    runs       node ./server.js "\\u001b[31m\\u202e"\n',
        `    in         ${cwd}\n    variables  KEY T\n    reads      HOME\n    file       ${cwd}/server.js\n`,
        "  p\\u001b[2J\n    address    https://e\n    broken     its name can't be",
        "What the programs load besides (modules, packages, files in writable places) is not looked at"
      ]) {
        assert.include(stdout, text)
      }
      assert.notMatch(stdout, /s3cret|\x1b|\u202e/)
      assert.include(await atTerminal("\n", "trust"), "Nothing was trusted.")
      assert.match((await mcp("list"))[1], /^p +project +not trusted/m)
      assert.include(await atTerminal("y\n", "trust"), `trusted: ${file}, ${cwd}/server.js`)
      assert.match((await mcp("list"))[1], /^p +project +configured/m)
      assert.deepStrictEqual(await mcp("trust"), [0, `Nothing to do: ${file} is trusted already.\n`, ""])
      write("project/server.js", "2")
      assert.include(
        (await mcp("list"))[1],
        `p: it runs what commands may write: ${cwd}/server.js has changed since the user trusted it; the user can look at it, and trust it, with \`synapse mcp trust\` in ${cwd}`
      )
      const again = await mcp("trust", "--yes")
      assert.include(again[1], "These servers may run what commands write.")
      assert.include(again[1], `trusted: ${cwd}/server.js\n`)
    }))

  it("takes a project's .mcp.json, with comments, for its file where there is no other, with the same trust", () =>
    using(async ({ atTerminal, cwd, mcp, write }) => {
      const text =
        '{\n  // ours\n  "mcpServers": { "proj": { "type": "stdio", "command": "cat", "env": { "A": "//b" } } } /* end */\n}\n'
      write("project/.mcp.json", text)
      assert.match((await mcp("list"))[1], /^proj +project +not trusted +cat\n\nproj: .*\.mcp\.json is not trusted yet/)
      assert.include(await atTerminal("y\n", "trust"), `${cwd}/.mcp.json`)
      assert.match((await mcp("list"))[1], /^proj +project +configured +cat\n$/)
      // A change of its own keeps the trust and the comments.
      assert.strictEqual((await mcp("add", "--project", "more", "--", "cat"))[0], 0)
      const added = fs.readFileSync(path.join(cwd, ".mcp.json"), "utf8")
      for (const part of ["// ours", "/* end */", '"more"']) assert.include(added, part)
      assert.notInclude((await mcp("list"))[1], "not trusted")
      write("project/.mcp.json", `${text} `)
      assert.match((await mcp("list"))[1], /\.mcp\.json has changed since the user trusted it/)
      write("project/mcp_servers.json", { mcpServers: { other: { command: "cat" } } })
      assert.match(
        (await mcp("list"))[1],
        /^other +project +not trusted +cat\n\nother: .*mcp_servers\.json is not trusted yet/
      )
    }))

  it("asks about a directory of a home server once, for as long as its definition stays", () =>
    using(async ({ cwd, home, mcp, write }) => {
      const [code, , said] = await mcp("add", "fs", "--", "cat", "--root=.", "/usr")
      assert.deepStrictEqual(
        [code, said],
        [0, `synapse: commands may write to ${cwd}: code of fs there runs outside of the sandbox\n`]
      )
      assert.deepStrictEqual(servers(home).fs.args, [`--root=${cwd}`, "/usr"])
      assert.match((await mcp("list"))[1], /^fs +home +configured/m)
      write("home/mcp/mcp_servers.json", { mcpServers: { fs: { command: "cat", env: { ROOT: cwd } } } })
      assert.match(
        (await mcp("list"))[1],
        /^fs +home +not trusted .*\n\nfs: it may take code from what commands may write: .*\/project is not trusted yet; the user can look/
      )
      const [, shown] = await mcp("trust", "--yes")
      assert.include(shown, `    variables  ROOT\n    writable   ${cwd}\n`)
      assert.include(shown, `trusted: ${home}#fs\n`)
      assert.match((await mcp("list"))[1], /^fs +home +configured/m)
    }))

  it("keeps the trust where it changes a trusted project's file itself, and gives none besides", () =>
    using(async ({ cwd, file, mcp, write }) => {
      assert.deepStrictEqual(await mcp("add", "--project", "mine", "--", "cat"), [0, `added: mine, in ${file}\n`, ""])
      assert.include((await mcp("list"))[1], "mine  project  configured")
      write("project/mcp_servers.json", { mcpServers: { theirs: { command: "cat" } } })
      assert.match(
        (await mcp("add", "--project", "mine", "--", "cat"))[2],
        /it can't be used yet: .* has changed since/
      )
      assert.match((await mcp("list"))[1], /mine +project +not trusted[\s\S]*theirs +project +not trusted/)
      assert.match((await mcp("remove", "mine"))[2], /It is in .*project\/mcp_servers\.json: add --project\.\n$/)
      write("project/s.js", "1")
      assert.match((await mcp("add", "own", "--", "node", `${cwd}/s.js`))[2], /it runs what commands may write/)
    }))

  it("takes the trust back from a project's file, what it runs, and all that is trusted in the directory", () =>
    using(async ({ cwd, directory, file, mcp, write }) => {
      const trusted = () =>
        Object.keys(JSON.parse(fs.readFileSync(path.join(directory, "home/mcp/trust.json"), "utf8")).trusted).sort()
      const definition = (name: string) => ({ command: "node", args: [name] })
      for (const name of ["a.js", "b.js", "own.js"]) write(`project/${name}`, "1")
      write("project/mcp_servers.json", { mcpServers: { a: definition("a.js"), b: definition("b.js") } })
      write("home/mcp/mcp_servers.json", { mcpServers: { own: definition(`${cwd}/own.js`) } })
      assert.deepStrictEqual(await mcp("untrust"), [0, `Nothing to do: ${file} is not trusted.\n`, ""])
      assert.strictEqual((await mcp("trust", "--yes"))[0], 0)
      assert.lengthOf(trusted(), 4)
      const [code, stdout] = await mcp("untrust")
      assert.deepStrictEqual([code, stdout.startsWith("not trusted any more: ")], [0, true])
      for (const name of [file, `${cwd}/a.js`, `${cwd}/b.js`, `${cwd}/own.js`]) assert.include(stdout, name)
      assert.deepStrictEqual(trusted(), [])
      assert.match((await mcp("list"))[1], /a +project +not trusted[\s\S]*own +home +not trusted/)
      write("home/mcp/trust.json", "{")
      assert.match((await mcp("untrust"))[2], /trust\.json can't be used: it is no JSON/)
    }))

  it("tells of a file that can't be read as what it is, and not as a server", () =>
    using(async ({ file, mcp, write }) => {
      write("project/mcp_servers.json", "[")
      write("home/mcp/mcp_servers.json", { mcpServers: { h: { command: "cat" } } })
      const [code, stdout] = await mcp("list")
      assert.strictEqual(code, 0)
      assert.match(
        stdout,
        new RegExp(`^h {2}home {2}configured {2}cat\\n\\n${file} can't be used: it is no JSON: .*\\n$`)
      )
      const [broken, h] = JSON.parse((await mcp("list", "--json"))[1])
      assert.deepInclude(broken, { file, source: "project", state: "broken" })
      assert.match(broken.problem, /^it is no JSON/)
      assert.notProperty(broken, "name")
      assert.deepStrictEqual(h, { name: "h", source: "home", target: "cat", state: "configured" })
      assert.match((await mcp("trust"))[2], /can't be trusted: it is no JSON/)
    }))

  it("trusts nothing where the list of what is trusted is broken, and leaves that alone", () =>
    using(async ({ directory, mcp, write }) => {
      write("home/mcp/trust.json", "{")
      write("project/mcp_servers.json", { mcpServers: { p: { command: "x" } } })
      const [code, , stderr] = await mcp("trust", "--yes")
      assert.strictEqual(code, 1)
      assert.match(stderr, /trust\.json can't be used: it is no JSON.*Correct it, or move it away/)
      assert.strictEqual(fs.readFileSync(path.join(directory, "home/mcp/trust.json"), "utf8"), "{")
    }))

  it("takes over what other programs have, without a word of their secrets", () =>
    using(async ({ alone, atTerminal, cwd, directory, file, home, mcp, write }) => {
      write("home/mcp/mcp_servers.json", { mcpServers: { taken: { command: "mine" } } })
      write(".cursor/mcp.json", {
        mcpServers: { cur: { command: "c", env: { K: "s3cret" } }, taken: { command: "x" } }
      })
      write(".codex/config.toml", '[mcp_servers.codex]\ncommand = "x"\nenv = { K = "s3cret" }\n')
      write(".claude.json", { mcpServers: { cur: { command: "c", env: { K: "s3cret" } } } })
      write("project/.cursor/mcp.json", {
        mcpServers: { proj: { command: "node", args: ["./s.js"], env: { K: "s3cret" } } }
      })
      write("project/s.js", "1")
      write("project/.vscode/mcp.json", { servers: { vs: { url: "https://e", headers: { A: "${input:t}" } } } })
      const lines = (project: string, others: string) => [
        `${project}: proj, from ${cwd}/.cursor/mcp.json`,
        `not taken over: vs, from ${cwd}/.vscode/mcp.json: \${input:t} is filled in by its editor only`,
        `${others}: cur, from ${directory}/.claude.json`,
        `${others}: codex, from ${directory}/.codex/config.toml`,
        `there already: cur, from ${directory}/.cursor/mcp.json`,
        `skipped: taken, from ${directory}/.cursor/mcp.json: the name is taken, by another server in ${home}`
      ]
      const before = fs.readFileSync(home, "utf8")
      const [code, stdout, stderr] = await alone("import")
      assert.deepStrictEqual(
        [code, stderr],
        [1, "synapse: there is no terminal to ask at; --yes does it without asking.\n"]
      )
      assert.include(stdout, lines("not taken over", "not taken over").join("\n"))
      assert.include(stdout, "    runs       node ./s.js\n")
      assert.strictEqual(fs.readFileSync(home, "utf8"), before)
      const agreed = await atTerminal("y\n", "import")
      assert.match(agreed, /\ntaken over: codex/)
      assert.include(agreed, `Take over what ${cwd}/.cursor/mcp.json and `)
      assert.deepStrictEqual(Object.keys(servers(home)), ["taken", "cur", "codex"])
      assert.deepStrictEqual(servers(file), { proj: { command: "node", args: ["./s.js"], env: { K: "s3cret" } } })
      assert.notInclude([stdout, agreed].join(), "s3cret")
      assert.match((await mcp("list"))[1], /proj: it runs what commands may write: .*s\.js is not trusted yet/)
    }))
})
