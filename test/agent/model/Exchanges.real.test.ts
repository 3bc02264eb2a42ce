/**
 * Exchanges with servers of chat completions, written after the documentation or the reports at their `source`: each is
 * replayed over HTTP, and then goes on. The rows of docs/models.md are those that they show.
 */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LiveModel from "../../../src/agent/model/internal/LiveModel.js"
import * as Turn from "../../../src/agent/model/Turn.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"
import * as Resumed from "../../support/agent/Resumed.js"

interface Exchange {
  readonly server: string
  /** What it does, as docs/models.md says it. */
  readonly row: string
  readonly source: string
  readonly replies: ReadonlyArray<
    | { readonly status: number; readonly body: unknown }
    | { readonly chunks: ReadonlyArray<object>; readonly lines?: ReadonlyArray<string> }
  >
  readonly commands: ReadonlyArray<string>
  readonly text: string
  readonly thoughts: string
  /** The model's message in the next request. */
  readonly back?: object
  /** The fields that no further request has. */
  readonly without?: ReadonlyArray<string>
}

const read = (path: string): string => Fs.readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")
const exchanges: ReadonlyArray<Exchange> = JSON.parse(read("test/fixtures/exchanges.json"))

const replyOf = (reply: Exchange["replies"][number]): ModelServer.Reply =>
  "status" in reply
    ? ModelServer.status(reply.status, {}, reply.body)
    : ModelServer.raw(
        [...(reply.lines ?? []), ...reply.chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`), "data: [DONE]"]
          .map((line) => `${line}\n\n`)
          .join("")
      )

describe("an exchange", () => {
  it("is there for each row of the table, and eight servers", () => {
    const rows = read("docs/models.md").matchAll(/^\| ((?:\\\||[^|])+?) +\|/gm)
    const told = [...rows]
      .map(([, row]) => row)
      .filter((row) => row !== "what a server does" && !/^-+$/.test(row ?? ""))
    assert.sameMembers([...new Set(exchanges.map(({ row }) => row))], told)
    assert.isAtLeast(new Set(exchanges.map(({ server }) => server)).size, 8)
  })

  it.scopedLive.each(exchanges)("is understood and goes on: $server", (exchange) =>
    Effect.gen(function* () {
      const { back, commands, replies, text, thoughts, without = [] } = exchange
      const server = yield* ModelServer.serve([...replies.map(replyOf), ModelServer.text("Done.")])
      const to = Models.endpoint(server, "compatible")
      const languageModel = yield* LiveModel.make(to)
      const ask = (prompt: Parameters<typeof Turn.stream>[1]["prompt"]) =>
        Turn.stream({ languageModel, retry: to.retry }, { prompt, tools: [Models.bash] }).pipe(
          Stream.runCollect,
          Effect.map(Chunk.toReadonlyArray)
        )
      const parts = yield* ask("How many files?")
      const first = Models.finished(parts)
      const told = parts.map((part) => (part._tag === "Reasoning" ? part.delta : "")).join("")
      const run = first.calls.map(({ arguments: given }) => JSON.parse(given).command)
      assert.deepStrictEqual({ commands: run, text: first.text, thoughts: told }, { commands, text, thoughts })

      const second = Models.finished(yield* ask(Resumed.prompt(first)))
      assert.strictEqual(second.text, "Done.")
      // A field that is refused is refused once.
      assert.strictEqual(server.requests.length, replies.length + 1)
      for (const { body } of server.requests.slice(replies.length - 1))
        assert.doesNotHaveAnyKeys(body, without.length === 0 ? ["none"] : [...without])
      if (back !== undefined) {
        assert.deepStrictEqual(server.requests.at(-1)?.body.messages[1], { content: null, ...back, role: "assistant" })
      }
    })
  )
})
