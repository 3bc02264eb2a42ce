/** `synapse setup` in a home of its own, as it is installed. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

const program = Path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

const setup = (home: string, env: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = ChildProcess.spawnSync(process.execPath, [program, "setup", ...words], {
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
    encoding: "utf8"
  })
  assert.strictEqual(stderr, "")
  return { status, lines: stdout.replaceAll(home, "~").trimEnd().split("\n") }
}

describe("synapse setup", () => {
  it("says what is missing, writes it when it is told to, and then has nothing to do", () =>
    Temporary.using(async (home) => {
      Fs.mkdirSync(Path.join(home, ".cursor"))
      Fs.writeFileSync(Path.join(home, ".claude.json"), '{\n  // mine\n  "theme": "dark"\n}\n')
      Fs.mkdirSync(Path.join(home, "dotfiles"))
      Fs.writeFileSync(Path.join(home, "dotfiles/bashrc"), "alias ll='ls -l'")
      Fs.symlinkSync("dotfiles/bashrc", Path.join(home, ".bashrc"))
      const files = () => Fs.readdirSync(home, { recursive: true, encoding: "utf8" }).toSorted()
      const before = files()
      const env = { SHELL: "/usr/bin/bash" }
      const first = setup(home, env)
      assert.deepStrictEqual(first.lines.slice(0, 3), [
        "completions   missing in ~/.bashrc: source <(synapse --completions bash)",
        "MCP clients   Claude Code lacks it: synapse mcp install claude-code",
        "MCP clients   Cursor lacks it: synapse mcp install cursor"
      ])
      assert.match(
        first.lines[3] ?? "",
        /^model {9}missing, which only synapse agent needs\. No model is set up\. Set ANTHROPIC_/
      )
      assert.deepStrictEqual(files(), before)
      const written = setup(home, env, "--write")
      assert.strictEqual(written.status, 0)
      assert.includeMembers(written.lines, [
        "completions   ~/.bashrc gets: source <(synapse --completions bash)",
        "~/.cursor/mcp.json gets:"
      ])
      const bashrc = "alias ll='ls -l'\nsource <(synapse --completions bash)\n"
      assert.strictEqual(Fs.readFileSync(Path.join(home, "dotfiles/bashrc"), "utf8"), bashrc)
      assert.isTrue(Fs.lstatSync(Path.join(home, ".bashrc")).isSymbolicLink())
      const claude = Fs.readFileSync(Path.join(home, ".claude.json"), "utf8")
      assert.include(claude, "// mine")
      assert.include(claude, '"synapse"')
      const texts = () =>
        files()
          .filter((name) => !name.startsWith(".synapse"))
          .map((name) => {
            const path = Path.join(home, name)
            return Fs.statSync(path).isFile() ? [name, Fs.readFileSync(path, "utf8")] : [name]
          })
      const kept = texts()
      const key = { ...env, PATH: "/nowhere", ANTHROPIC_API_KEY: "k", SYNAPSE_MODEL: "claude-x" }
      assert.deepStrictEqual(setup(home, key, "--write"), {
        status: 0,
        lines: [
          "completions   in ~/.bashrc",
          "MCP clients   Claude Code has Synapse",
          "MCP clients   Cursor has Synapse",
          "model         anthropic/claude-x",
          "PATH          synapse is in none of its directories, and the completions need it there"
        ]
      })
      assert.deepStrictEqual(texts(), kept)
      Fs.symlinkSync(program, Path.join(home, "synapse"))
      assert.notInclude(setup(home, { ...key, PATH: `/usr/bin:${home}` }).lines.join(), "PATH")
    }))

  it("makes a start-up file that is missing, and says which shells and clients it knows", () =>
    Temporary.using(async (home) => {
      setup(home, { SHELL: "/bin/fish" }, "--write")
      assert.strictEqual(
        Fs.readFileSync(Path.join(home, ".config/fish/config.fish"), "utf8"),
        "synapse --completions fish | source\n"
      )
      assert.deepStrictEqual(setup(home, { SHELL: "/bin/sh" }).lines.slice(0, 2), [
        "completions   for bash, zsh, fish: synapse --completions <shell> prints them",
        "MCP clients   none is here; synapse mcp install --help lists those that are known"
      ])
    }))

  it("names a program that commands could replace", () =>
    Temporary.using(async (home) => {
      Fs.mkdirSync(Path.join(home, ".cursor"))
      const project = Path.resolve(program, "../../..")
      const { stdout } = ChildProcess.spawnSync(process.execPath, [program, "mcp", "install", "cursor", "--yes"], {
        cwd: project,
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
        encoding: "utf8"
      })
      assert.include(stdout, `Commands of a session in its directory can write ${program}, and Cursor runs it outside`)
      assert.match(Fs.readFileSync(Path.join(home, ".cursor/mcp.json"), "utf8"), /synapse/)
    }))

  it("looks for a client's file where its variable says", () =>
    Temporary.using(async (home) => {
      const moved = { "claude-code": "CLAUDE_CONFIG_DIR", codex: "CODEX_HOME", zed: "XDG_CONFIG_HOME" }
      const files = { "claude-code": ".claude.json", codex: "config.toml", zed: "zed/settings.json" }
      Fs.mkdirSync(Path.join(home, "moved/zed"), { recursive: true })
      for (const name of ["claude-code", "codex", "zed"] as const) {
        const env = { PATH: process.env["PATH"] ?? "", HOME: home, [moved[name]]: Path.join(home, "moved") }
        const words = [program, "mcp", "install", name, "--yes"]
        const { status } = ChildProcess.spawnSync(process.execPath, words, { cwd: home, env })
        assert.strictEqual(status, 0, name)
        assert.include(Fs.readFileSync(Path.join(home, "moved", files[name]), "utf8"), "synapse")
      }
    }))

  it("leaves a file that it can't read as it is, and ends with 1", () =>
    Temporary.using(async (home) => {
      Fs.mkdirSync(Path.join(home, ".cursor"))
      Fs.writeFileSync(Path.join(home, ".cursor/mcp.json"), "{ broken")
      const { stdout, status } = ChildProcess.spawnSync(process.execPath, [program, "setup", "--write"], {
        cwd: home,
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
        encoding: "utf8"
      })
      assert.strictEqual(status, 1, stdout)
      assert.strictEqual(Fs.readFileSync(Path.join(home, ".cursor/mcp.json"), "utf8"), "{ broken")
    }))
})
