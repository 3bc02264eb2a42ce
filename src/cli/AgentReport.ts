/** Reports a run of `synapse agent` on stdout: the answer alone, or every step as a line of JSON. */
import * as Effect from "effect/Effect"
import type { AgentEvent, Ending } from "../agent/loop/AgentEvent.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as SubAgentEvent from "../domain/SubAgentEvent.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import { print, write } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

export interface Outcome {
  readonly ending: Ending | "interrupted"
  readonly text: string
  readonly reason: string | undefined
}

/** An interruption is the last step. */
export type Step = AgentEvent | { readonly _tag: "Interrupted" }

/** Shows a step that the report has recorded. */
export type Show = (step: Step, report: Report) => Effect.Effect<void, never, Stdio>

/** Collects the text since the last complete turn, and how the run ended. */
export class Report {
  /** The text of the last complete turn. */
  whole = ""
  /** True if that text was shown as a remark. */
  isTold = false
  /** The text of the current turn. */
  part = ""
  /** The result, once the run has ended. */
  end: Outcome | undefined

  constructor(private readonly show: Show) {}

  get soFar(): string {
    return this.part === "" ? this.whole : this.part
  }

  take(step: Step): Effect.Effect<void, never, Stdio> {
    return Effect.suspend(() => {
      if (step._tag === "Text") this.part += step.delta
      else if (step._tag === "Ended") this.end = step
      else if (step._tag === "Interrupted") this.end = { ending: "interrupted", text: this.soFar, reason: undefined }
      else if (step._tag === "TurnEnded" && step.text.trim() !== "") {
        this.whole = step.text
        this.isTold = false
      }
      // A retried turn starts over.
      if (["TurnStarted", "Retrying", "TurnEnded"].includes(step._tag)) this.part = ""
      return this.show(step, this)
    })
  }
}

/** The program's exit code for each ending of a run. */
export const exitCodes: Readonly<Record<Outcome["ending"], number>> = {
  done: ExitCode.success,
  turns: ExitCode.limitReached,
  tokens: ExitCode.limitReached,
  budget: ExitCode.limitReached,
  interrupted: ExitCode.interrupted,
  misuse: ExitCode.failure,
  failed: ExitCode.failure
}

const withoutImages = (result: ToolReturn.ToolReturn): object => {
  const { images, ...extras } = result.extras
  const shown = images?.map(({ mediaType, path }) => ({ path, mediaType }))
  const { toolCallId: _, ...rest } = result
  return { ...ToolReturn.brief({ ...rest, extras }), ...(shown === undefined ? {} : { images: shown }) }
}

export const json =
  (session: string): Show =>
  (step, { soFar }) => {
    const { _tag, ...fields } = step
    const type = _tag.replace(/^./, (first) => first.toLowerCase())
    const tell = (line: object) => print("stdout", UntrustedText.jsonLine(line))
    switch (step._tag) {
      case "Appended":
        return Effect.void
      case "Started":
        return tell({ type, session, ...fields })
      case "ToolEnded":
        return tell({ type, id: step.call.id, result: withoutImages(step.result) })
      case "Interrupted":
        return tell({ type: "ended", session, ending: "interrupted", exitCode: ExitCode.interrupted, text: soFar })
      case "Ended":
        return tell({ type, session, exitCode: exitCodes[step.ending], ...fields })
      default:
        return tell({ type, ...fields })
    }
  }

/** Returns the line of JSON for a run that could not begin. */
export const notBegun = (reason: string): string =>
  UntrustedText.jsonLine({ type: "ended", ending: "failed", exitCode: ExitCode.failure, text: "", reason })

/** Prints the answer, followed by a newline. */
export const answer = (text: string): Effect.Effect<void, never, Stdio> =>
  Effect.flatMap(Stdio, ({ isTerminal }) => {
    const shown = UntrustedText.harmless(text, isTerminal("stdout"))
    return shown.trim() === "" ? Effect.void : write("stdout", shown.endsWith("\n") ? shown : `${shown}\n`)
  })

/** Shows only the answer on stdout, and a line on stderr for each retried request. */
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
