import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { AgentEvent } from "../../../src/agent/loop/AgentEvent.js"
import * as Images from "../../../src/agent/loop/Images.js"
import * as ResultImage from "../../../src/agent/model/ResultImage.js"
import { NotKept } from "../../../src/agent/transcript/internal/TranscriptFile.js"
import * as Recorder from "../../../src/agent/transcript/Recorder.js"
import * as Transcript from "../../../src/agent/transcript/Transcript.js"

const session: Transcript.Session = {
  type: "session",
  version: 1,
  id: "abcdefgh",
  time: "2026-11-23T07:00:00.000Z",
  cwd: "/work",
  prompt: "do it",
  synapse: "0.1.0"
}

const mega = 1024 ** 2

const result = (...sizes: ReadonlyArray<number>): Prompt.Message =>
  Prompt.toolMessage({
    content: [
      ResultImage.put(
        Prompt.toolResultPart({ id: "a", name: "Bash", isFailure: false, result: "read", providerExecuted: false }),
        sizes.map((size) => ({ mediaType: "image/png", base64: "A".repeat(size) }))
      )
    ]
  })

/** A recorder, with the lines that it has written. */
const recorder = (transcript = Transcript.begin(session)) =>
  Effect.gen(function* () {
    const lines: Array<Uint8Array> = []
    const warnings: Array<string> = []
    const append = (...entries: ReadonlyArray<Transcript.Entry>) =>
      Effect.forEach(
        entries,
        (entry) =>
          Either.match(Transcript.encode(entry), {
            onLeft: (reason) => Effect.fail(new NotKept({ path: "t", reason })),
            onRight: (bytes) => Effect.sync(() => void lines.push(bytes))
          }),
        { discard: true }
      )
    const { take } = yield* Recorder.make(
      { transcript, writer: Either.right({ append, touch: Effect.void }) },
      ({ reason }) => Effect.sync(() => void warnings.push(reason))
    )
    const read = (): Transcript.Transcript =>
      Either.getOrThrow(
        Transcript.read(Buffer.concat([Either.getOrThrow(Transcript.encode(session)), ...lines]), session.id)
      )
    return {
      read,
      warnings,
      take: (...messages: ReadonlyArray<Prompt.Message>) => take(AgentEvent.Appended({ messages }))
    }
  })

const sizes = ({ messages }: Transcript.Transcript) => Images.of(messages).map(({ base64 }) => base64.length / mega)

describe("the images of a transcript", () => {
  it.effect("are kept and read back", () =>
    Effect.gen(function* () {
      const { read, take } = yield* recorder()
      yield* take(result(8, 9))
      assert.deepStrictEqual(
        Images.of(read().messages).map(({ base64, mediaType }) => [mediaType, base64.length]),
        [
          ["image/png", 8],
          ["image/png", 9]
        ]
      )
    })
  )

  it.effect("are bounded in all, also over several runs; a note stands for those that are not kept", () =>
    Effect.gen(function* () {
      const first = yield* recorder()
      yield* first.take(result(5 * mega, mega, mega))
      yield* first.take(result(4 * mega, 5 * mega))
      assert.deepStrictEqual(sizes(first.read()), [5, 1, 1, 4])
      const second = yield* recorder(first.read())
      yield* second.take(result(2 * mega), result(mega))
      const resumed = second.read()
      assert.deepStrictEqual(sizes(resumed), [1])
      const [message] = resumed.messages
      assert.include(
        JSON.stringify(message),
        "read\\n[image left out: it is not kept with the session; read it again where you need it]\\n"
      )
      assert.deepStrictEqual([...first.warnings, ...second.warnings], [])
    })
  )
})
