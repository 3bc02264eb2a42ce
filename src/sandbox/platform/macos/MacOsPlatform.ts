/**
 * The sandbox of macOS: `sandbox-exec`, with the policy written as its profile.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExecutionFailed } from "../../../domain/CommandError.js"
import * as PolicyDecision from "../../policy/PolicyDecision.js"
import * as Environment from "../Environment.js"
import { SandboxPlatform } from "../SandboxPlatform.js"
import * as ToolCache from "../ToolCache.js"
import * as SandboxProfile from "./SandboxProfile.js"

/** The program's path; it is part of every macOS, and can't be installed. */
const systemProgram = "/usr/bin/sandbox-exec"
/** The locale of commands, for macOS has no C.UTF-8. */
const locale = { LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8" }

const isExecutable = (program: string): boolean => {
  try {
    Fs.accessSync(program, Fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

const missing = (program: string) =>
  new ExecutionFailed({
    kind: "sandbox",
    reason: `sandbox-exec is required to run commands in the sandbox, and ${program} can't be run. It is a part of macOS: on another system use its own sandbox. To run commands without a sandbox on purpose: synapse exec --no-sandbox`
  })

/**
 * A layer which wraps shells in sandbox-exec. `program` is its path, `variables` are names of variables that commands
 * get besides those of the allow-list.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = ({
  program = systemProgram,
  variables = []
}: {
  readonly program?: string
  readonly variables?: ReadonlyArray<string>
} = {}): Layer.Layer<SandboxPlatform> =>
  Layer.succeed(SandboxPlatform, {
    name: "macos",
    obstacle: () => (isExecutable(program) ? undefined : missing(program).message),
    wrap: ({ directory, environment, policy, shell }) =>
      isExecutable(program)
        ? Effect.sync(() => {
            const kept = Environment.make(environment, [...variables, ...(policy.environment ?? [])])
            const toolCache = ToolCache.find(policy)
            const decision = PolicyDecision.make(policy)
            const caches =
              toolCache === undefined
                ? {}
                : ToolCache.variables(toolCache, kept, (path) => decision.decide(path, "write").allowed)
            return {
              spawnable: {
                program,
                args: ["-p", SandboxProfile.make(policy, directory).text, shell.program, ...shell.args]
              },
              descriptors: [],
              environment: { ...kept, ...caches, ...locale },
              withheld: Environment.withheld(environment, kept),
              // This platform mounts no masks: denials are traced to the policy's rules alone.
              masks: []
            }
          })
        : missing(program)
  })
