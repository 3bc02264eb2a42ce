/** Which files of a server count as what it runs. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as NamedFiles from "../../../src/extension/mcp/NamedFiles.js"

const pathsOf = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Either.getOrThrow(
    NamedFiles.pathsOf({ command: "/usr/bin/node", args, env, cwd: "/p" }, "/usr/bin", (path) => path.startsWith("/p/"))
  )

describe("the files that a server names", () => {
  it("are its programs, by whatever word", () => {
    assert.deepStrictEqual(pathsOf(["server.js", "-r", "./hook.cjs", "--loader=l.mjs", "sh -c 'run.sh x'"]), [
      "/p/server.js",
      "/p/hook.cjs",
      "/p/l.mjs",
      "/p/sh -c 'run.sh x'",
      "/p/sh",
      "/p/run.sh",
      "/p/x"
    ])
    assert.deepStrictEqual(pathsOf([], { NODE_OPTIONS: "--require ./a.js", X: "1" }), ["/p/a.js", "/p/1"])
  })

  it("are not its data, which it writes itself", () => {
    const data = ["memory.json", "/p/notes.db", "a.sqlite3", "log.txt", "x.JSONL"]
    assert.deepStrictEqual(pathsOf(["--db-path", ...data, `--store=${data[0]}`]), [])
    assert.deepStrictEqual(pathsOf([], { MEMORY_FILE_PATH: "/p/memory.json" }), [])
  })

  it("are its data where that decides what it does", () => {
    assert.deepStrictEqual(
      pathsOf(["--config", "a.json", "--settings=b.json", "package.json", "c.json", "mcp.config.json"]),
      ["/p/a.json", "/p/b.json", "/p/package.json", "/p/mcp.config.json"]
    )
    assert.deepStrictEqual(pathsOf([], { APP_CONFIG: "/p/c.json" }), ["/p/c.json"])
  })
})
