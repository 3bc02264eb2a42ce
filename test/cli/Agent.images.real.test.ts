/** Images on their way from a file to the model's API, through `synapse agent`. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import { using } from "../support/cli/AgentPlace.js"

const bash = (command: string) => ModelServer.calls({ name: "Bash", arguments: { command } })

/** One pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** The types of the blocks in the result of the first call. */
const blocksOf = ({ body }: ModelServer.Recorded): unknown => {
  const { content } = body.messages[2].content[0]
  return typeof content === "string" ? content : content.map(({ type }: { type: string }) => type)
}

describe("an image that the agent reads", () => {
  it("reaches the model, in this run and in one that resumes it", () =>
    using(
      [bash("read x.png"), ModelServer.text("A dot."), ModelServer.text("Still a dot.")],
      async ({ cwd, quiet, server }) => {
        fs.writeFileSync(path.join(cwd, "x.png"), Buffer.from(png, "base64"))
        assert.strictEqual((await quiet("what is in x.png?")).stdout, "A dot.\n")
        assert.deepStrictEqual(blocksOf(server.requests[1] as ModelServer.Recorded), ["text", "image"])
        assert.include(server.requests[1]?.text ?? "", png)
        assert.strictEqual((await quiet("--continue", "and now?")).stdout, "Still a dot.\n")
        assert.deepStrictEqual(blocksOf(server.requests[2] as ModelServer.Recorded), ["text", "image"])
      }
    ))

  it("ends no run where the model refuses it, and is not sent where settings.json says so", () =>
    using(
      (request, at) =>
        at === 0
          ? bash("read x.png")
          : request.text.includes(png)
            ? ModelServer.status(400, {}, { error: { type: "invalid_request_error", message: "no image input" } })
            : ModelServer.text("I can't see it."),
      async ({ cwd, home, quiet, server }) => {
        fs.writeFileSync(path.join(cwd, "x.png"), Buffer.from(png, "base64"))
        const { exitCode, stdout } = await quiet("what is in x.png?")
        assert.deepStrictEqual([exitCode, stdout, server.requests.length], [0, "I can't see it.\n", 3])
        assert.match(String(blocksOf(server.requests[2] as ModelServer.Recorded)), /\[image left out: the provider/)
        fs.writeFileSync(path.join(home, "settings.json"), '{"providers":{"anthropic":{"images":false}}}')
        assert.strictEqual((await quiet("--continue", "and now?")).exitCode, 0)
        assert.strictEqual(server.requests.length, 4)
        assert.match(String(blocksOf(server.requests[3] as ModelServer.Recorded)), /\[image left out: this model/)
      }
    ))
})
