import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Servers from "../../support/mcp/Servers.js"

describe("the servers that others wrote", () => {
  it("server-everything: blocks of all kinds, progress, the root", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(Servers.fromNpm(world, "everything"))
        const tools = yield* client.tools("everything")
        assert.includeMembers(
          tools.map(({ name }) => name),
          ["echo", "get-sum", "get-tiny-image", "get-structured-content"]
        )
        // All others can be called as they are.
        assert.deepStrictEqual(
          tools.filter(({ needsTask }) => needsTask === true).map(({ name }) => name),
          ["simulate-research-query"]
        )
        assert.deepInclude(tools.find(({ name }) => name === "get-sum")?.inputSchema, {
          type: "object",
          required: ["a", "b"]
        })
        assert.include(Servers.textOf(yield* client.call("everything", "get-sum", { a: 2, b: 3 })), "5")
        const image = yield* client.call("everything", "get-tiny-image", {})
        assert.deepStrictEqual(
          image.content.map(({ type }) => type),
          ["text", "image", "text"]
        )
        const weather = yield* client.call("everything", "get-structured-content", { location: "New York" })
        assert.isObject(weather.structuredContent)
        const wrong = yield* client.call("everything", "get-sum", { a: "two" })
        assert.strictEqual(wrong.isError, true)
        const heard: Array<number> = []
        yield* client.call(
          "everything",
          "trigger-long-running-operation",
          { duration: 0.05, steps: 2 },
          { onProgress: ({ progress }) => heard.push(progress) }
        )
        assert.deepStrictEqual(heard, [1, 2])
      })
    ))

  it("server-filesystem: the working directory is its root", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        fs.writeFileSync(path.join(world.root, "a.txt"), "text of a")
        world.entries.push(Servers.fromNpm(world, "filesystem"))
        const read = yield* client.call("filesystem", "read_text_file", { path: path.join(world.root, "a.txt") })
        assert.include(Servers.textOf(read), "text of a")
        const outside = yield* client.call("filesystem", "read_text_file", { path: "/etc/passwd" })
        assert.strictEqual(outside.isError, true)
        assert.include(Servers.textOf(yield* client.call("filesystem", "list_allowed_directories", {})), world.root)
      })
    ))

  it("server-filesystem: its own directory gives way to the root before the first call", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(Servers.fromNpm(world, "filesystem", world.home))
        const list = Effect.map(client.call("filesystem", "list_allowed_directories", {}), Servers.textOf)
        const first = yield* list
        assert.strictEqual(first, yield* list)
        assert.include(first, world.root)
        assert.notInclude(first, world.home)
      })
    ))

  it("server-memory and server-sequential-thinking: at the same time, with a variable of their own", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const memory = path.join(world.directory, "memory.jsonl")
        const entry = Servers.fromNpm(world, "memory")
        world.entries.push(
          entry._tag === "Stdio" ? { ...entry, env: { MEMORY_FILE_PATH: memory } } : entry,
          Servers.fromNpm(world, "sequential-thinking")
        )
        const thought = { thought: "t", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }
        const entities = [{ name: "Ada", entityType: "person", observations: ["counts"] }]
        const [created, thinking] = yield* Effect.all(
          [
            client.call("memory", "create_entities", { entities }),
            client.call("sequential-thinking", "sequentialthinking", thought)
          ],
          { concurrency: "unbounded" }
        )
        assert.include(Servers.textOf(created), "Ada")
        assert.include(Servers.textOf(thinking), "thoughtNumber")
        assert.include(fs.readFileSync(memory, "utf8"), "Ada")
      })
    ))
})
