/**
 * The tool `Bash`: a persistent bash with the Synapse commands.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as CommandLine from "../bash/CommandLine.js"
import * as CommandName from "../command/CommandName.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import { type CommandError, ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import * as Yield from "../domain/Yield.js"
import { BashRouter } from "../router/BashRouter.js"
import * as Conditions from "../sandbox/Conditions.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import * as BashArguments from "./BashArguments.js"
import * as Description from "./Description.js"
import * as CommandText from "./internal/CommandText.js"
import * as Correction from "./internal/Correction.js"
import * as Diagnosis from "./internal/Diagnosis.js"
import * as Tool from "./Tool.js"

/**
 * Explains to a person why a shell command failed. Returns undefined if the reason is unknown.
 *
 * @since 0.1.0
 * @internal
 */
export const hintForPerson = (
  line: CommandLine.CommandLine,
  result: CommandResult
): Effect.Effect<string | undefined, never, SandboxManager> =>
  Effect.flatMap(SandboxManager, (sandbox) => {
    if (result.blocked === true || !Diagnosis.mayTell(line.text, result)) return Effect.sync(() => undefined)
    const commands = ["bash", ...CommandName.callable]
    const here: Correction.Here = {
      offers: (name) => commands.includes(name.split(" ", 1).join()) || commands.includes(name.replace(/:.*/s, ":*")),
      isOffline: Conditions.isOffline(sandbox.conditions())
    }
    return Effect.zipWith(
      sandbox.cwd,
      sandbox.visibleFiles,
      (cwd, files) => Diagnosis.make({ line, result, cwd, files, commands, here, extensions: () => [] }).cause
    )
  })

/**
 * Makes the error for a text that is not a command.
 *
 * @param meant the command that was probably meant, if known
 */
const notRun = (reason: string, meant: unknown): InvalidUsage =>
  new InvalidUsage({
    reason: `Not run: ${reason}.`,
    advice: typeof meant === "string" && isShort(meant) ? [Advice.line`Did you mean ${Advice.run(meant)}?`] : []
  })

/** Tests whether a command fits into a sentence. */
const isShort = (command: string): boolean => command.length <= 200 && !/\p{Cc}/u.test(command)

/**
 * The tool `Bash` as a service.
 *
 * @since 0.1.0
 * @category tags
 */
export class BashTool extends Context.Tag("synapse/BashTool")<BashTool, Tool.Tool>() {}

const missing = "is required"

/** Makes a parameter optional without allowing `undefined`, which JSON lacks and which error messages would mention. */
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const milliseconds = (minimum: number, description: string) =>
  Schema.Number.pipe(
    Schema.filter(
      (value) =>
        (Number.isInteger(value) && value >= minimum && value <= Timeout.longest) ||
        `must be a whole number of milliseconds from ${minimum} to ${Timeout.longest}`,
      { jsonSchema: { type: "integer", description, minimum, maximum: Timeout.longest } }
    )
  )

/**
 * The schema of the tool's parameters.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Parameters = Schema.Struct({
  command: Schema.propertySignature(
    Schema.String.pipe(
      Schema.filter((command) => /\S/.test(command) || missing, { jsonSchema: { minLength: 1 } })
    ).annotations({
      description: "What bash runs: any command line or script, as you would type it."
    })
  ).annotations({ missingMessage: () => missing }),
  restart: optional(
    Schema.Boolean.annotations({
      description: "Start a new shell first: its directory, variables and jobs are gone then."
    })
  ),
  timeout: optional(milliseconds(1, "Milliseconds after which the command is ended.")),
  yield: optional(
    milliseconds(
      0,
      "Milliseconds after which you get the result so far; the last program or pipeline, outside of ( ), goes on as a job. 0 makes all of it a job."
    )
  ),
  description: optional(
    Schema.String.annotations({ description: "What the command is for, in a few words, for those who watch." })
  )
})

/**
 * A layer of the tool over a router. The tool's description names the commands of the registry.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<BashTool, never, BashRouter | CommandRegistry | SandboxManager> = Layer.effect(
  BashTool,
  Effect.gen(function* () {
    const router = yield* BashRouter
    const registry = yield* CommandRegistry
    const sandbox = yield* SandboxManager
    const settings = yield* Description.DescriptionSettings
    yield* sandbox.findConditions
    const told = new Diagnostic.ToldAdvice()
    const isSynapseCommand = (name: string) => registry.find(name) !== undefined
    const lineOf = ({ command }: typeof Parameters.Type) => {
      const text = CommandText.read(CommandLine.parse(command), isSynapseCommand)
      return text._tag === "NoCommand" ? CommandLine.parse("") : text.line
    }

    const here: Correction.Here = {
      offers: (command) => offers(registry, command),
      get isOffline() {
        return Conditions.isOffline(sandbox.conditions())
      }
    }

    const diagnose = (params: unknown, exit: Exit.Exit<CommandResult, CommandError>): Effect.Effect<Tool.Diagnosis> => {
      const { command } = params as typeof Parameters.Type
      if (Exit.isSuccess(exit) && exit.value.denied === undefined && !Diagnosis.mayTell(command, exit.value))
        return nothing
      return Effect.withFiberRuntime((fiber) => {
        const { audience, onHint } = fiber.getFiberRef(CommandListener.current)
        if (Exit.isFailure(exit)) {
          const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
          return error === undefined || audience !== undefined ? nothing : Effect.sync(() => ofError(error, params))
        }
        const result = exit.value
        const denied = () => result.denied && told.trim(result.denied)
        if (result.blocked === true) return audience === undefined ? Effect.sync(() => ({ denied: denied() })) : nothing
        const line = lineOf(params as typeof Parameters.Type)
        return Yield.pass(
          line.text,
          Effect.zipWith(sandbox.cwd, sandbox.visibleFiles, (cwd, files) => {
            const commands = registry.listed().map(({ name }) => name)
            const extensions = () => extensionsOf(registry)
            const diagnosis = Diagnosis.make({ line, result, cwd, files, commands, here, extensions })
            if (audience === undefined) return { ...diagnosis, denied: denied() }
            // A person's output has no remark, so the listener gets the cause.
            if (diagnosis.cause !== undefined) onHint?.(diagnosis.cause)
            return { category: diagnosis.category, hint: diagnosis.hint }
          })
        )
      })
    }

    const yieldedTooLate = (params: unknown): boolean => {
      const { timeout = sandbox.conditions().timeout, yield: limit } = params as typeof Parameters.Type
      return limit !== undefined && limit < timeout
    }

    const ofError = (error: CommandError, params: unknown): Tool.Diagnosis => {
      if (error._tag === "Blocked") return { denied: error.denied && told.trim(error.denied) }
      // An error that already has advice comes from another time limit.
      return error._tag === "ExecutionFailed" && error.kind === "timeout" && error.advice.length === 0
        ? { remark: `${error.message}. ${yieldedTooLate(params) ? whole : longer}` }
        : {}
    }

    return Tool.make({
      name: "Bash",
      description: () => Description.make(registry.listed(), sandbox.conditions(), settings),
      parameters: Parameters,
      example: BashArguments.form,
      exampleFor: BashArguments.example,
      prepare: BashArguments.prepare,
      run: (params) =>
        inSpan(
          Effect.suspend(() => {
            if (params.restart === true) told.forget()
            return run(router, params, isSynapseCommand, sandbox.conditions().yield)
          })
        ),
      diagnose,
      replace: (name, params) => {
        const advice = Correction.advise(name, params, here)
        return advice === undefined ? undefined : Advice.render([advice], Advice.model)
      }
    })
  })
)

const extensionsOf = (registry: Context.Tag.Service<CommandRegistry>): ReadonlyArray<string> =>
  registry.list().flatMap(({ known }) => (known?.() ?? []).map(({ name }) => name))

/** Tests whether the registry lists a command whose usage has each of the words after its name. */
const offers = (registry: Context.Tag.Service<CommandRegistry>, command: string): boolean => {
  const [name = "", ...options] = command.split(" ")
  const handler = registry.find(name)
  return (
    handler !== undefined &&
    registry.listed().includes(handler) &&
    options.every((option) => handler.usage.includes(option))
  )
}

const inSpan = Span.within("BashTool.run")

const nothing = Effect.sync((): Tool.Diagnosis => ({}))

const run = (
  router: Context.Tag.Service<BashRouter>,
  params: typeof Parameters.Type,
  isSynapseCommand: (name: string) => boolean,
  usual: number
) => {
  const text = CommandText.read(CommandLine.parse(params.command), isSynapseCommand)
  if (text._tag === "NoCommand") return refused(params, text.reason, text.meant)
  const { line } = text
  const { restart, timeout } = params
  const limit = params.yield ?? (usual > 0 ? usual : CommandName.isServer(params.command) ? Timeout.longest : undefined)
  const routed = router.route(line.text, { line, restart, timeout, ...(limit === undefined ? {} : { yield: limit }) })
  const notices = [
    ...(BashArguments.isRestartAlone(params) ? ["The shell was restarted."] : []),
    ...(text._tag === "Wrapped" ? [text.notice] : [])
  ].map((text) => Diagnostic.notice(text))
  const running = notices.length === 0 ? routed : noticed(routed, notices)
  if (text._tag === "Screen") {
    return Effect.flatMap(CallContext.get("terminal"), (terminal) =>
      terminal === undefined ? withoutTerminal(params, text) : running
    )
  }
  const endless = timeout === undefined && params.yield === undefined ? CommandText.following(line) : undefined
  if (endless === undefined || isSynapseCommand(line.name)) return running
  // A person sees the output as it comes, and can stop the command.
  return Effect.flatMap(FiberRef.get(CommandListener.current), ({ audience }) =>
    audience === undefined ? refused(params, endless, {}) : running
  )
}

/** Refuses a program that needs a terminal. A person has one in `synapse shell`. */
const withoutTerminal = (params: typeof Parameters.Type, { instead, name }: { instead: string; name: string }) =>
  Effect.flatMap(FiberRef.get(CommandListener.current), ({ audience }) => {
    const giving = audience === undefined ? `job:start --pty gives it; ${instead}` : "synapse shell has"
    return refused(params, `${name} needs a terminal, which ${giving}`, {})
  })

/** Refuses a text that is not a command, and shows the call that was probably meant. */
const refused = (
  { command: _, ...others }: typeof Parameters.Type,
  reason: string,
  meant: Readonly<Record<string, unknown>>
): Effect.Effect<never, CommandError> =>
  Effect.flatMap(FiberRef.get(CommandListener.current), ({ audience }) =>
    Effect.fail(
      audience === undefined
        ? Tool.invalidParameters("Bash", [`command: ${reason}`], BashArguments.example({ ...others, ...meant }))
        : notRun(reason, meant["command"])
    )
  )

/** Adds notices before those of a result or of an ExecutionFailed. */
const noticed = (
  running: Effect.Effect<CommandResult, CommandError>,
  notices: ReadonlyArray<Diagnostic.Diagnostic>
): Effect.Effect<CommandResult, CommandError> =>
  Effect.mapBoth(running, {
    onSuccess: (result) => Diagnostic.tell(result, ...notices),
    onFailure: (error) =>
      error._tag === "ExecutionFailed" ? new ExecutionFailed(Diagnostic.tell({ ...error }, ...notices)) : error
  })

/** Advice for a command that the tool's time limit ended. */
const longer = "To run longer, give timeout=<ms>, or yield=0, which makes it a job."

/** Advice for a command that should have become a job first, but could not. */
const whole =
  "yield takes only the last program or pipeline of a line, outside of ( ): give timeout=<ms>, or yield=0, which makes all of it a job."
