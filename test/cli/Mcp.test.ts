/** The words of `synapse mcp` that mean nothing, and what is said of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { run } from "../support/cli/Program.js"

describe("synapse mcp", () => {
  it.effect("says how it is used where it is used wrongly", () =>
    Effect.gen(function* () {
      for (const [args, reason] of [
        [["add", "x", "https://e/mcp"], "An address is given with --url: synapse mcp add x --url https://e/mcp"],
        [["add", "x", "--url", "e/mcp"], "--url e/mcp: an address begins with https:// or http://."],
        [["add", "x", "--cwd", ".", "--url", "https://e"], "x can't be added: cwd needs a command."],
        [
          ["add", "--transport", "http", "x", "https://e"],
          "Unknown option --transport: there are -e, --env, --header, --url,"
        ],
        [
          ["add", "x", "--", "node /x.js"],
          'There is no program "node /x.js". Give its words apart: synapse mcp add x -- node /x.js'
        ],
        [["add", "x", "y", "--", "z"], "Unexpected word before --: y"],
        [["add", "x"], "The program or the address is missing: synapse mcp add x -- PROGRAM, or --url ADDRESS"],
        [
          ["add", "x", "--url", "https://e", "--", "y"],
          "x can't be added: it has a command and a url, which exclude each other."
        ],
        [["add", "x", "--env", "secret", "--", "y"], "--env number 1 is not of the form NAME=value."],
        [["add", "../x", "--", "y"], "../x can't be added: its name can't be part of a command"]
      ] as const) {
        const { exitCode, stderr, stdout } = yield* run(["mcp", ...args])
        assert.deepStrictEqual([exitCode, stdout], [2, ""])
        assert.include(stderr, `synapse: ${reason}`)
        assert.strictEqual(stderr.includes("synapse mcp add [options] <name>"), reason.startsWith("Un"), stderr)
        assert.notInclude(stderr, "synapse mcp list")
      }
      for (const [word, reason] of [
        [[], "The subcommand is missing."],
        [["nosuch"], "Unknown subcommand: nosuch."]
      ] as const) {
        const { exitCode, stderr } = yield* run(["mcp", ...word])
        assert.strictEqual(exitCode, 2)
        assert.match(stderr, new RegExp(`^synapse: ${reason}[^]* mcp list [^]* mcp add [^]* mcp import `))
      }
      assert.strictEqual(
        (yield* run(["mcp", "lgoin", "x"])).stderr,
        "synapse: Unknown subcommand: lgoin. Did you mean login?\nUsage:\n  synapse mcp login <name>\nHelp: synapse mcp login --help\n"
      )
    })
  )
  it.effect("serve listens where others can connect with a token only", () =>
    Effect.gen(function* () {
      for (const [address, reason] of [
        ["0.0.0.0:0", "On 0.0.0.0 others can connect: set SYNAPSE_MCP_TOKEN to"],
        ["seven", "--http must be a port, or host:port, and is seven."],
        ["70000", "--http must be a port"]
      ]) {
        const { exitCode, stderr } = yield* run(["mcp", "serve", "--http", address ?? ""])
        assert.strictEqual(exitCode, 2)
        assert.include(stderr, `synapse: ${reason}`)
      }
    })
  )
})
