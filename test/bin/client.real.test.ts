/** The entry and its client, with fakes beside them in the place of the bundle and the daemon. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

const bin = Path.resolve(import.meta.dirname, "../../src/bin")

/** Copies a file of the program beside fakes, and runs scripts of bash, where `run` is node with that directory as its own. */
const beside = (file: string, fakes: Readonly<Record<string, string>>, use: (run: typeof spawn) => void) =>
  Temporary.using(async (directory) => {
    Fs.copyFileSync(Path.join(bin, file), Path.join(directory, file))
    for (const [name, text] of Object.entries(fakes)) Fs.writeFileSync(Path.join(directory, name), text)
    use((script) => spawn(script, directory))
  })

const spawn = (script: string, directory = "") => {
  const env = { HOME: directory, PATH: process.env["PATH"], NODE: process.execPath }
  const { stderr, stdout } = spawnSync("bash", ["-c", script], { cwd: directory, env, encoding: "utf8" })
  return stdout + stderr
}

describe("the entry of the program", () => {
  it("asks for a ready shell for one plain word, unless SYNAPSE_DAEMON is 0, and for a session where one is named", () =>
    beside(
      "synapse.cjs",
      {
        "client.cjs": `for (const name of ["run", "runFresh"]) exports[name] = async () => !!process.stdout.write(name)`,
        "loader.cjs": `exports.load = () => process.stdout.write("load")`
      },
      (run) => {
        for (const [words, way] of [
          ["exec ls", "runFresh"],
          ["exec -- -x", "load"],
          ["exec -x", "load"],
          ["exec --session s ls", "run"],
          ["exec -- --session s", "load"],
          ["exec --session s --help", "load"]
        ])
          assert.strictEqual(run(`"$NODE" synapse.cjs ${words}`), way, words)
        assert.strictEqual(run(`SYNAPSE_DAEMON=0 "$NODE" synapse.cjs exec ls`), "load")
      }
    ))
})

describe("the daemon's client", () => {
  const daemon = `const hash = require("crypto").createHash("md5").update(require("./client.cjs").factsOf())
    console.log(hash.digest("hex").slice(0, 16))`

  it("tells shells apart by limits, priority, users and groups, and leaves garbled words to the bundle", () =>
    beside("client.cjs", { "synapse.cjs": daemon }, (run) => {
      const client = (before = "") =>
        `"$NODE" -e '${before}; require("./client.cjs").run(process.argv.slice(1), true).then(console.log)'`
      const facts = [
        client(),
        `ulimit -n 500; ${client()}`,
        client("os.setPriority(19)"),
        ...(process.getuid?.() === 0
          ? [client("process.setgroups([1])"), client("process.setgid(1)"), client("process.setegid(1)")]
          : [])
      ].map((script) => run(script))
      for (const one of facts) assert.match(one, /^synapse: [0-9a-f]{16}\n$/)
      assert.lengthOf([...new Set(facts)], facts.length)
      assert.strictEqual(run(client()), facts[0])
      assert.strictEqual(run(`${client()} $'echo \\xff'`), "false\n")
    }))

  it("starts a daemon for each set of namespaces, and none for garbled words", ({ skip }) =>
    beside(
      "client.cjs",
      { "synapse.cjs": `require("fs").appendFileSync(__dirname + "/started", process.argv[3] + " ")` },
      (run) => {
        const client = (words: string, before = "") =>
          `SYNAPSE_DAEMON=auto ${before} "$NODE" -e 'require("./client.cjs").runFresh(process.argv.slice(1)).then(console.log)' ${words}`
        assert.strictEqual(run(client("$'echo \\xff'")), "false\n")
        assert.strictEqual(run("ls"), "client.cjs\nsynapse.cjs\n")
        assert.strictEqual(run(`${client("echo")}; ${client("echo")}`), "false\nfalse\n")
        assert.match(run("cat started"), /^([0-9a-f]{16}) \1 $/)
        if (run("unshare -r true") !== "") skip("user namespaces are not allowed here")
        run(client("echo", "unshare -r"))
        assert.match(run("cat started"), /^([0-9a-f]{16}) \1 (?!\1)[0-9a-f]{16} $/)
      }
    ))

  it("sends a file only while it has credit, and ends with the second signal", () => {
    const daemon = `
      const directory = process.cwd() + "/run"
      require("fs").mkdirSync(directory, { mode: 0o700 })
      const server = require("net").createServer((socket) => {
        const { frame, read } = require("./client.cjs")
        let sent = 0
        let pid
        read(socket.on("error", () => {}), Buffer.alloc(0), (kind, body) => {
          if (kind === "I" && sent === 0) setTimeout(() => {
            socket.write(Buffer.concat([frame("1", String(sent)), frame("X", Uint8Array.of(0))]))
          }, 200)
          if (kind === "I") sent += body.length
          if (kind === "E" || kind === "S") process.kill(pid)
          if (kind !== "O") return true
          pid = Number(JSON.parse(body).nonce.split(".")[1])
          socket.write(frame("R"))
          socket.write(frame("C", Uint8Array.of(1, 0, 0, 0)))
          return true
        }, () => process.exit())
      })
      server.listen("run/" + process.argv[3], () => console.log(directory))`
    return beside(
      "client.cjs",
      { "synapse.cjs": `process.chdir(__dirname);${daemon}`, input: "x".repeat(300_000) },
      (run) => {
        const client = `timeout -s KILL 10 "$NODE" -e 'require("./client.cjs").run([], true)'`
        assert.match(run(`${client} <input`), /^65536synapse/)
        assert.match(run(`rm -r run; ${client} </dev/null; echo $?`), /^143\n/)
      }
    )
  })
})
