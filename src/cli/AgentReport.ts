/** Tells of a run of `synapse agent`: the answer on stdout, or every step as a line of JSON there. */
import * as Effect from "effect/Effect"
import type { AgentEvent, Ending } from "../agent/loop/AgentEvent.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as SubAgentEvent from "../domain/SubAgentEvent.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import { print, write } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

/** The end of a run, as it is told. */
export interface Told {
  readonly ending: Ending | "interrupted"
  readonly text: string
  readonly reason: string | undefined
}

/** A step of a run; an interruption is the last one. */
export type Step = AgentEvent | { readonly _tag: "Interrupted" }

/** Shows a step; `said` knows it already. */
export type Show = (step: Step, said: Said) => Effect.Effect<void, never, Stdio>

/** Tells of a run. */
export class Report {
  private readonly said = new Said()

  constructor(private readonly show: Show) {}

  /** How the run ended; undefined as long as it has not. */
  get end(): Told | undefined {
    return this.said.end
  }

  take(step: Step): Effect.Effect<void, never, Stdio> {
    return Effect.suspend(() => {
      this.said.take(step)
      return this.show(step, this.said)
    })
  }
}

/** Returns the program's exit code for the way in which a run ended. */
export const exitCodeOf = (ending: Told["ending"]): number => {
  switch (ending) {
    case "done":
      return ExitCode.success
    case "turns":
    case "tokens":
    case "budget":
      return ExitCode.limitReached
    case "interrupted":
      return ExitCode.interrupted
    case "misuse":
    case "failed":
      return ExitCode.failure
  }
}

const withoutImages = (result: ToolReturn.ToolReturn): object => {
  const { images, ...extras } = result.extras
  const shown = images?.map(({ mediaType, path }) => ({ path, mediaType }))
  const { toolCallId: _, ...rest } = result
  return { ...ToolReturn.brief({ ...rest, extras }), ...(shown === undefined ? {} : { images: shown }) }
}

/** The line of a step; undefined for what only transcripts keep. */
const toJson = (event: Step, session: string, said: Said): object | undefined => {
  switch (event._tag) {
    case "Started":
      return { type: "started", session, provider: event.provider, model: event.model }
    case "TurnStarted":
      return { type: "turnStarted", turn: event.turn }
    case "Text":
      return { type: "text", delta: event.delta }
    case "Reasoning":
      return { type: "reasoning", delta: event.delta }
    case "Retrying":
      return { type: "retrying", attempt: event.attempt, reason: event.reason, delay: event.delay }
    case "TurnEnded":
      return { type: "turnEnded", turn: event.turn, text: event.text, usage: event.usage }
    case "ToolStarted":
      return { type: "toolStarted", call: event.call }
    case "ToolEnded":
      return { type: "toolEnded", id: event.call.id, result: withoutImages(event.result) }
    case "Compacted":
      return { type: "compacted", replaced: event.replaced, dropped: event.dropped }
    case "Appended":
      return undefined
    case "Interrupted":
      return { type: "ended", session, ending: "interrupted", exitCode: ExitCode.interrupted, text: said.soFar }
    case "Ended":
      return {
        type: "ended",
        session,
        ending: event.ending,
        exitCode: exitCodeOf(event.ending),
        text: event.text,
        ...(event.reason === undefined ? {} : { reason: event.reason }),
        turns: event.turns,
        usage: event.usage
      }
  }
}

/** Collects what the model has said since its last turn ended, and how the run ended. */
class Said {
  /** The text of the last whole turn. */
  whole = ""
  /** True where that text was shown as a remark. */
  isTold = false
  /** The text of the turn that goes on. */
  part = ""
  end: Told | undefined

  take(event: Step): void {
    if (event._tag === "Text") this.part += event.delta
    // A turn that is tried again begins anew.
    else if (event._tag === "TurnStarted" || event._tag === "Retrying") this.part = ""
    else if (event._tag === "TurnEnded") {
      if (event.text.trim() !== "") {
        this.whole = event.text
        this.isTold = false
      }
      this.part = ""
    } else if (event._tag === "Ended") this.end = event
    else if (event._tag === "Interrupted") this.end = { ending: "interrupted", text: this.soFar, reason: undefined }
  }

  get soFar(): string {
    return this.part === "" ? this.whole : this.part
  }
}

/** Shows lines of JSON about a session. */
export const json =
  (session: string): Show =>
  (step, said) => {
    const line = toJson(step, session, said)
    return line === undefined ? Effect.void : print("stdout", ForeignText.jsonLine(line))
  }

/** Returns the line of JSON about a run that could not begin. */
export const notBegun = (reason: string): string =>
  ForeignText.jsonLine({ type: "ended", ending: "failed", exitCode: ExitCode.failure, text: "", reason })

/** Prints the answer, on lines of its own. */
export const answer = (text: string): Effect.Effect<void, never, Stdio> =>
  Effect.flatMap(Stdio, ({ isTerminal }) => {
    const shown = ForeignText.harmless(text, isTerminal("stdout"))
    return shown.trim() === "" ? Effect.void : write("stdout", shown.endsWith("\n") ? shown : `${shown}\n`)
  })

/** Shows the answer alone on stdout, and a line on stderr for each request that is tried again. */
export const text: Show = (step, { soFar }) => {
  switch (step._tag) {
    case "Retrying":
      return print("stderr", `synapse: ${SubAgentEvent.describeRetrying(step)}`)
    case "Ended":
      return answer(step.text)
    case "Interrupted":
      return answer(soFar)
    default:
      return Effect.void
  }
}
