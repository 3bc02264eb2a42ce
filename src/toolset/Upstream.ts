/**
 * Names the parts of a pipeline that failed before its last one, which alone decides the exit code.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as StatusSource from "../bash/StatusSource.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as StatusMeaning from "./StatusMeaning.js"

/**
 * Returns who failed (`[pytest exited 1]`); undefined where nobody did, or where the text does not tell whose exit codes
 * they are.
 *
 * @since 0.1.0
 */
export const remark = (command: string, { pipeline }: Pick<CommandResult, "pipeline">): string | undefined => {
  const stages = pipeline === undefined ? undefined : StatusSource.stages(CommandLine.parse(command).tokens)
  if (pipeline === undefined || stages?.length !== pipeline.length) return undefined
  const failed = pipeline.slice(0, -1).flatMap((code, index) => {
    const name = stages[index]
    if (code === 0 || code === ExitCode.brokenPipe) return []
    if (name !== undefined && code === 1 && StatusMeaning.answers(name)) return []
    return `${name ?? `part ${index + 1} of the pipeline`} exited ${code}`
  })
  return failed.length === 0 ? undefined : `[${failed.join(", ")}]`
}
