/** Many processes, and processes that die, over one `sandbox.json`: the program that `npm run build` makes. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Real from "../../support/cli/Real.js"
import * as Config from "../../support/sandbox/Config.js"
import * as Directory from "../../support/sandbox/Directory.js"

const synapse = (home: string, args: ReadonlyArray<string>, preload?: string) =>
  Effect.promise(() =>
    Real.run(["sandbox", ...args], "", {
      SYNAPSE_HOME: home,
      ...(preload === undefined ? {} : { NODE_OPTIONS: `--require=${preload}` })
    })
  )

const blacklist = (text: string): ReadonlyArray<string> => JSON.parse(text).policy.filesystem.blacklist

describe("writers at once", () => {
  it.scopedLive("lose nothing, processes and fibers alike", () =>
    Effect.gen(function* () {
      const { config, home, text } = yield* Config.make(
        '{"policy":{"filesystem":{"blacklist":["/first"]}},"providerOptions":{"x":1}}'
      )
      const names = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `/${kind}/${at}`)
      const [processes, fibers] = [names("process", 5), names("fiber", 30)]
      const other = yield* Config.open(home)
      const runs = [
        ...processes.map((name) => Effect.map(synapse(home, ["deny", name]), ({ exitCode }) => exitCode === 0)),
        ...fibers.map((name, at) => (at % 2 === 0 ? config : other).addBlacklist(name))
      ]
      const ended = yield* Effect.all(runs, { concurrency: "unbounded" })
      assert.isTrue(ended.every(Boolean))
      assert.deepStrictEqual([...blacklist(text())].sort(), ["/first", ...processes, ...fibers].sort())
      assert.strictEqual(JSON.parse(text()).providerOptions.x, 1)
      assert.deepStrictEqual(Directory.list(home), ["sandbox.json"])
    })
  )
})

describe("a writer that dies", () => {
  for (const step of ["open", "write", "fsync", "rename"]) {
    it.scopedLive(`in ${step} leaves the old file, and the next writer its own`, () =>
      Effect.gen(function* () {
        const { home, text } = yield* Config.make('{"policy":{"filesystem":{"blacklist":["/first"]}}}')
        const before = text()
        const preload = `${home}/preload.cjs`
        // Only what concerns the new file counts: where the descriptor or the name is that one's.
        Fs.writeFileSync(
          preload,
          `const fs = require("node:fs")
          const real = fs["${step}"]
          let made
          const open = fs.open
          fs.open = (path, ...rest) => {
            const done = rest.pop()
            return open(path, ...rest, (error, fd) => {
              if (String(path).endsWith(".new")) made = fd
              if (made !== undefined && "${step}" === "open") process.kill(process.pid, "SIGKILL")
              done(error, fd)
            })
          }
          if ("${step}" !== "open") fs["${step}"] = (first, ...rest) => {
            if (first === made || String(first).endsWith(".new")) process.kill(process.pid, "SIGKILL")
            else real(first, ...rest)
          }`
        )
        assert.strictEqual((yield* synapse(home, ["deny", "/second"], preload)).exitCode, null)
        assert.strictEqual(text(), before)
        assert.deepStrictEqual(Directory.list(home), [
          ".sandbox.json.new",
          "preload.cjs",
          "sandbox.json",
          "sandbox.json.lock"
        ])
        assert.isTrue(yield* (yield* Config.open(home)).addBlacklist("/third"))
        assert.deepStrictEqual(blacklist(text()), ["/first", "/third"])
        assert.deepStrictEqual(Directory.list(home), ["preload.cjs", "sandbox.json"])
      })
    )
  }
})
