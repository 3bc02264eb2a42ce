/** The actions of `synapse agent list`, `--undo` and `--diff`. */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as TakeBack from "../agent/TakeBack.js"
import * as OpenSession from "../agent/transcript/OpenSession.js"
import * as Sessions from "../agent/transcript/Sessions.js"
import type { Transcript } from "../agent/transcript/Transcript.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Setting from "../domain/Setting.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import { layerNode, Terminal } from "../terminal/Terminal.js"
import * as TerminalRenderer from "../terminal/TerminalRenderer.js"
import * as Action from "./Action.js"
import { complain, print, succeed, write } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

/** Runs an action on the directory of the sessions. */
const run = <R>(action: (directory: string) => Effect.Effect<number, Sessions.NoSession, R>) =>
  Effect.flatMap(SandboxSettings.SandboxSettings, ({ home }) => action(Sessions.directoryIn(home))).pipe(
    Action.report,
    Effect.provide(SandboxSettings.layerFromEnv())
  )

/** The most sessions listed by default, and with `--all`. */
const newest = 20
const most = 10_000

/** Writes a time as `2026-11-23 07:10`, in UTC. */
const timeOf = (millis: number): string => new Date(millis).toISOString().slice(0, 16).replace("T", " ")

/** The state of a session: `running`, `killed`, or the ending of its last run. */
const stateOf = ({ end, model }: Transcript, runner: number | undefined): string => {
  if (runner !== undefined) return "running"
  return end === undefined ? (model === undefined ? "not begun" : "killed") : UntrustedText.word(end.ending, 20)
}

const factsOf = (transcript: Transcript, runner: number | undefined) => ({
  model: modelOf(transcript),
  state: stateOf(transcript, runner),
  reason: transcript.end?.reason,
  turns: transcript.turns,
  usage: transcript.usage
})

const modelOf = ({ model }: Transcript): string | undefined => model && `${model.provider}/${model.name}`

const withRunner = (directory: string) => (one: Sessions.Listed) =>
  Effect.map(OpenSession.runner(directory, one.id), (runner) => ({ ...one, runner }))

type Row = Sessions.Listed & { readonly runner: number | undefined }

const toLine = ({ id, runner, summary, time }: Row): string =>
  Either.match(summary, {
    onLeft: (reason) => `${id}  ${timeOf(time)}  can't be read: ${reason}`,
    onRight: (transcript) =>
      [
        id,
        timeOf(time),
        stateOf(transcript, runner).padEnd(11),
        `${String(transcript.turns).padStart(3)} turn${transcript.turns === 1 ? " " : "s"}`,
        UntrustedText.line(transcript.session.cwd, 40),
        UntrustedText.quoted(transcript.session.prompt, 60)
      ].join("  ")
  })

const toObject = ({ id, runner, summary, time }: Row): object => ({
  id,
  time: new Date(time).toISOString(),
  ...Either.match(summary, {
    onLeft: (problem): object => ({ problem }),
    onRight: (transcript) => ({
      began: transcript.session.time,
      cwd: transcript.session.cwd,
      ...factsOf(transcript, runner),
      prompt: transcript.session.prompt
    })
  })
})

export const list = (given: { readonly all: boolean; readonly json: boolean }) =>
  run((directory) =>
    Effect.gen(function* () {
      const ids = yield* Sessions.ids(directory)
      const listed = yield* Sessions.list(directory, ids, given.all ? most : newest)
      const rows = yield* Effect.forEach(listed, withRunner(directory))
      const left = ids.length - rows.length
      if (given.json) {
        return yield* succeed(UntrustedText.jsonLine({ sessions: rows.map(toObject), more: left }))
      }
      yield* rows.length === 0
        ? print("stdout", "There are no sessions. Begin one: synapse agent '<prompt>'")
        : print("stdout", rows.map(toLine).join("\n"))
      if (left > 0) yield* print("stderr", `${left} more: synapse agent list --all`)
      return ExitCode.success
    })
  )

/** Reverts the changes of the last turn in a directory, or shows them. */
export const undo = (given: Option.Option<string>, isShown: boolean) =>
  Effect.flatMap(SandboxSettings.SandboxSettings, ({ home }) =>
    Effect.gen(function* () {
      const cwd = Option.isSome(given) ? Fs.realpathSync(given.value) : yield* Setting.currentDirectory()
      if (isShown) {
        const { isTerminal } = yield* Stdio
        const { isLive } = yield* Effect.provide(Terminal, layerNode("stdout"))
        const text = UntrustedText.harmless(yield* TakeBack.diff({ home, cwd }), isTerminal("stdout"))
        yield* write("stdout", isLive ? TerminalRenderer.diff(text) : text)
        return ExitCode.success
      }
      const { isWhole, limits, lines } = yield* TakeBack.run({ home, cwd })
      for (const line of lines) yield* print("stdout", line)
      yield* print("stderr", limits)
      return isWhole ? ExitCode.success : ExitCode.failure
    })
  ).pipe(
    Effect.catchTag("NoSnapshot", ({ message }) => complain(message)),
    Effect.provide(SandboxSettings.layerFromEnv())
  )
