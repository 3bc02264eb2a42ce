/** Against the real thing: what wraps a shell is proven while the shell starts, and before any command. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as BashSession from "../../src/session/BashSession.js"
import * as ShellLauncher from "../../src/session/ShellLauncher.js"
import { services } from "../support/Session.js"

const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "launcher-test-")))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
)

/** Runs a command in a shell whose output is held back until `seen` is there, with the steps that the launch took. */
const run = (
  given: (seen: string) => Partial<Pick<ShellLauncher.Launch, "prove" | "ready" | "spawnable" | "started">>
) =>
  Effect.gen(function* () {
    const cwd = yield* directory
    const seen = Path.join(cwd, "seen")
    const holding = '"$@" | { until [[ -e $SEEN ]]; do sleep 0.01; done; exec cat; }'
    const launcher: ShellLauncher.ShellLauncher = (request) =>
      Effect.map(ShellLauncher.plain(request), (launch) => ({
        ...launch,
        environment: { ...launch.environment, SEEN: seen },
        spawnable: {
          program: "bash",
          args: ["-c", holding, "hold", launch.spawnable.program, ...launch.spawnable.args]
        },
        ...given(seen)
      }))
    const sessions = Layer.provide(
      BashSession.layer(launcher),
      services({ cwd, privateDirectories: [Path.join(cwd, "own")] })
    )
    const { execute } = yield* Effect.map(Layer.build(sessions), Context.get(BashSession.BashSession))
    return yield* Effect.either(execute("touch ran")).pipe(
      Effect.map((answer) => ({ answer, ran: Fs.existsSync(Path.join(cwd, "ran")) }))
    )
  }).pipe(Effect.scoped)

const refusal = new ExecutionFailed({ kind: "sandbox", reason: "not so" })

describe("a launch", () => {
  it.live(
    "is proven while the first shell starts, and once more when it answers",
    () =>
      Effect.gen(function* () {
        const steps: Array<string> = []
        const { ran } = yield* run((seen) => ({
          prove: () =>
            Effect.sync(() => {
              steps.push("prove")
              Fs.writeFileSync(seen, "")
            }),
          started: Effect.sync(() => void steps.push("started"))
        }))
        assert.deepStrictEqual({ ran, steps }, { ran: true, steps: ["prove", "started"] })
      }),
    60_000
  )

  it.live(
    "fails at once where the program has ended before the launch is ready",
    () =>
      Effect.gen(function* () {
        const { answer, ran } = yield* run((seen) => ({
          spawnable: { program: "bash", args: ["-c", 'echo over >&2; : >"$SEEN"'] },
          ready: Effect.delay(
            Effect.suspend(() => (Fs.existsSync(seen) ? Effect.succeed("") : refusal)),
            1000
          )
        }))
        const error = answer._tag === "Left" && "reason" in answer.left ? answer.left.reason : ""
        assert.match(error, /ended at once with exit code 0: over$/)
        assert.isFalse(ran)
      }),
    20_000
  )

  for (const step of ["ready", "prove", "started"] as const) {
    it.live(
      `runs no command where ${step} fails`,
      () =>
        Effect.gen(function* () {
          const { answer, ran } = yield* run((seen) => {
            const show = Effect.sync(() => Fs.writeFileSync(seen, ""))
            if (step === "ready") return { ready: refusal }
            return step === "prove"
              ? { prove: () => Effect.zipRight(show, refusal) }
              : { prove: () => show, started: refusal }
          })
          assert.deepStrictEqual(
            { error: answer._tag === "Left" ? answer.left : undefined, ran },
            { error: refusal, ran: false }
          )
        }),
      60_000
    )
  }

  it.live(
    "runs no command before a long proof has ended",
    () =>
      Effect.gen(function* () {
        const { answer, ran } = yield* run((seen) => ({
          prove: () =>
            Effect.zipRight(
              Effect.sync(() => Fs.writeFileSync(seen, "")),
              Effect.delay(refusal, 300)
            )
        }))
        assert.deepStrictEqual({ tag: answer._tag, ran }, { tag: "Left", ran: false })
      }),
    60_000
  )
})
