/**
 * Words how a call ended, in `message`: what `output` tells stands there and not here.
 *
 * @since 0.1.0
 */
import * as Advice from "../domain/Advice.js"
import { type CommandError, toText } from "../domain/CommandError.js"

/**
 * The sentences on how a call ended, of which `output` and `extras` tell the rest.
 *
 * @since 0.1.0
 */
export const Ending = {
  succeeded: "Command executed successfully.",
  failed: "Command failed.",
  denied: "Denied by the sandbox.",
  timedOut: "Command timed out.",
  interrupted: "Command interrupted.",
  died: "The tool itself failed."
} as const

/**
 * All these sentences.
 *
 * @since 0.1.0
 */
export const all: ReadonlySet<string> = new Set(Object.values(Ending))

/**
 * Words a tool's error for a model: with how to see the usage of what failed, where that is known, and in full where the call itself
 * was wrong (S46).
 *
 * @since 0.1.0
 */
export const ofError = (error: CommandError): string => {
  switch (error._tag) {
    case "Blocked":
      return Ending.denied
    case "ExecutionFailed":
      return error.kind === "timeout" ? Ending.timedOut : Ending.failed
    default: {
      if (error._tag === "InvalidUsage" && error.ofCall === true) return toText(error)
      const { help } = adviceOf(error)
      return help.length === 0 ? Ending.failed : `${Ending.failed} ${Advice.render(help, Advice.model)}`
    }
  }
}

/**
 * Tells the advice on how to see more help, which `message` has, from the rest, which `output` has.
 *
 * @since 0.1.0
 */
export const adviceOf = ({ advice }: Pick<CommandError, "advice">) => {
  const isHelp = (part: Advice.Part) =>
    typeof part !== "string" && part._tag === "Run" && part.command.endsWith(" --help")
  return {
    help: advice.filter((line) => line.some(isHelp)),
    others: advice.filter((line) => !line.some(isHelp))
  }
}
