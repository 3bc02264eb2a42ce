/**
 * The tool `Bash`: a persistent bash, with the commands that only Synapse has.
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
import type { Word } from "../bash/Token.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as Hint from "../command/Hint.js"
import * as ReservedName from "../command/ReservedName.js"
import * as Advice from "../domain/Advice.js"
import { type CommandError, ExecutionFailed, type FailureCategory, InvalidUsage } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Slices from "../domain/Slices.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import { BashRouter } from "../router/BashRouter.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import * as BashArguments from "./BashArguments.js"
import { DescriptionSettings } from "./DescriptionSettings.js"
import * as CommandText from "./internal/CommandText.js"
import * as Culprit from "./internal/Culprit.js"
import * as CurlyQuotes from "./internal/CurlyQuotes.js"
import * as Description from "./internal/Description.js"
import * as ExtensionName from "./internal/ExtensionName.js"
import type { Facts } from "./internal/Facts.js"
import * as ForeignTool from "./internal/ForeignTool.js"
import * as ForeignToolCall from "./internal/ForeignTool.shell.js"
import * as LastCommand from "./internal/LastCommand.js"
import * as MissingCommand from "./internal/MissingCommand.js"
import * as Remark from "./internal/Remark.js"
import * as Tool from "./Tool.js"

/** A call that does not end by itself. */
interface Endless {
  readonly program: string
  readonly reason: string
  /** The command that shows what there is now; undefined where it is not known. */
  readonly instead: string | undefined
}

/** A program that can follow: by which option, and how it is called without. */
interface Follower {
  readonly option: RegExp
  readonly named: string
  readonly instead: (words: ReadonlyArray<string>) => string
  /** Matches the options that end it all the same. */
  readonly ending?: RegExp
  readonly needsFile?: true
}

/** Matches words that hold letters for options, of which f or F is one: `-f`, `-fn5`, `-20f`. */
const letters = /^-(?:\d*[qvz]*[fF][qvz]*(?:[nc]\+?\d*)?|\d+[fF])$/

const followers: Readonly<Record<string, Follower>> = {
  dmesg: {
    option: /^(?:-[wW]|--follow(?:-new)?)$/,
    named: "dmesg -w",
    instead: (words) => ["dmesg", ...words].join(" ")
  },
  journalctl: {
    option: /^(?:-f|--follow)$/,
    named: "journalctl -f",
    instead: (words) =>
      ["journalctl", ...(words.some((word) => /^(?:-n|--lines)/.test(word)) ? [] : ["-n 10"]), ...words].join(" ")
  },
  less: {
    option: /^\+F$/,
    named: "less +F",
    instead: (words) => ["tail", ...words.filter((word) => !word.startsWith("-"))].join(" "),
    needsFile: true
  },
  tail: {
    option: new RegExp(`${letters.source}|^--follow(?:=(?:name|descriptor))?$`),
    named: "tail -f",
    instead: (words) => ["tail", ...words.filter((word) => word !== "--retry")].join(" "),
    ending: /^(?:--pid|--help|--version|-s|--sleep-interval)/,
    needsFile: true
  }
}

/**
 * Returns what is wrong with a call of such a program as the last command of a text; undefined where something ends it, or
 * anything of the text is redirected or piped.
 *
 * @since 0.1.0
 */
export const find = (text: string): Endless | undefined => {
  if (!/\b(?:tail|journalctl|dmesg|less)\b/.test(text) || text.length > LastCommand.longestRead) return undefined
  const [program, ...operands] = LastCommand.words(text)
  if (program === undefined || program.quoted || !Object.hasOwn(followers, program.value)) return undefined
  const { ending, instead, named, needsFile, option } = followers[program.value] as Follower
  const isOption = ({ quoted, value }: Word) => !quoted && option.test(value)
  const others = operands.filter((word) => !isOption(word))
  const hasFile = others.some(({ value }) => !value.startsWith("-"))
  const ends = operands.some(({ value }) => ending?.test(value) === true)
  if (others.length === operands.length || ends || (needsFile === true && !hasFile)) return undefined
  const kept = operands.flatMap((word) => {
    const rest = isOption(word) ? restOf(word.value) : text.slice(word.start, word.end)
    return rest === "" ? [] : [rest]
  })
  return {
    program: program.value,
    reason: `${named} does not end by itself; to see what comes in some time, give timeout=<ms>`,
    instead: operands.every(({ closed }) => closed)
      ? `${text.slice(0, program.start).trimStart()}${instead(kept)}`
      : undefined
  }
}

/** Returns what other letters stand in the word of the option that follows. */
const restOf = (word: string): string => {
  const rest = letters.test(word) ? word.replace(/[fF]/, "") : ""
  return rest === "-" ? "" : rest
}

/** Tests whether there may be something to tell of a result: a denial is told by itself. */
const mayHelp = ({ blocked, exitCode }: CommandResult): boolean => blocked !== true && exitCode !== ExitCode.success

/**
 * Returns what probably went wrong (`did you mean git?`); undefined where that is not known, or where the exit code was
 * an answer, as of `grep`.
 */
const of = (facts: Facts): string | undefined =>
  CurlyQuotes.remark(facts.command, CommandLine.parse(facts.command).tokens, facts.result) ??
  Remark.meaningOf(Culprit.lineOf(facts.command), facts, () => undefined)

/**
 * Returns a hint for a person on a command that failed in the shell; undefined where there is none.
 *
 * @since 0.1.0
 * @internal
 */
export const hintForPerson = (
  command: string,
  result: CommandResult
): Effect.Effect<string | undefined, never, SandboxManager> =>
  Effect.flatMap(SandboxManager, (sandbox) =>
    mayHelp(result)
      ? Effect.zipWith(sandbox.cwd, sandbox.surroundings, (cwd, around) =>
          of({
            command,
            result,
            cwd,
            around,
            commands: ["bash", ...ReservedName.callable],
            isOffline: sandbox.conditions().confinement._tag !== "Open",
            extensions: () => []
          })
        )
      : none
  )

/**
 * Makes the error about a text that is no command.
 *
 * @param meant the command that was probably meant, where that is known
 */
const notRun = (reason: string, meant: unknown): InvalidUsage =>
  new InvalidUsage({
    reason: `Not run: ${reason}.`,
    advice: typeof meant === "string" && isShort(meant) ? [Advice.line`Did you mean ${Advice.run(meant)}?`] : []
  })

/** Tests whether a command can be named within a line. */
const isShort = (command: string): boolean => command.length <= 200 && !/\p{Cc}/u.test(command)

/**
 * The tool `Bash` as a service.
 *
 * @since 0.1.0
 * @category tags
 */
export class BashTool extends Context.Tag("synapse/BashTool")<BashTool, Tool.Tool>() {}

const missing = "command parameter is required"

/**
 * Makes a parameter optional without allowing `undefined`, which JSON does not have, and which errors would mention.
 */
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

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
      description: "Start a new shell first: its directory, variables and background jobs are gone then."
    })
  ),
  timeout: optional(
    Schema.Number.pipe(
      Schema.filter(
        (timeout) =>
          (Number.isInteger(timeout) && timeout >= 1 && timeout <= Timeout.longest) ||
          `must be a whole number of milliseconds from 1 to ${Timeout.longest}`,
        {
          jsonSchema: {
            type: "integer",
            description: "Milliseconds after which the command is ended.",
            minimum: 1,
            maximum: Timeout.longest
          }
        }
      )
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
    const settings = yield* DescriptionSettings
    const told = new Diagnostic.ToldDenials()
    const isOurs = (name: string) => registry.find(name) !== undefined
    const commandOf = (params: unknown) => textOf(params, isOurs)
    const isOffline = () => sandbox.conditions().confinement._tag !== "Open"

    /** Makes the line on a result, or on an error that has more to say than its own text. */
    const remark = (params: unknown, exit: Exit.Exit<CommandResult, CommandError>) =>
      Effect.withFiberRuntime<string | undefined>((fiber) => {
        const { audience, onHint } = fiber.getFiberRef(CommandListener.current)
        if (audience === undefined) return remarkForModel(params, exit)
        return onHint === undefined ? none : tellHint(params, exit, onHint)
      })

    /** Tells the listener the hint on a failed command, in words for a person; the output that a person sees has no remark. */
    const tellHint = (
      params: unknown,
      exit: Exit.Exit<CommandResult, CommandError>,
      onHint: (hint: string) => void
    ): Effect.Effect<undefined> => {
      if (Exit.isFailure(exit) || !mayHelp(exit.value)) return none
      return Effect.map(factsOf(commandOf(params), exit.value), (facts) => {
        const hint = of(facts)
        if (hint !== undefined) onHint(hint)
        return undefined
      })
    }

    const factsOf = (command: string, result: CommandResult): Effect.Effect<Facts> =>
      Effect.zipWith(sandbox.cwd, sandbox.surroundings, (cwd, around) => ({
        command,
        result,
        cwd,
        around,
        commands: registry.listed().map(({ name }) => name),
        isOffline: isOffline(),
        extensions: () => extensionsOf(registry)
      }))

    const remarkForModel = (params: unknown, exit: Exit.Exit<CommandResult, CommandError>) =>
      Exit.matchEffect(exit, {
        onSuccess: (result) => {
          const { blocked, blockedReason, denied, exitCode, movedTo, pipeline, stderr } = result
          if (blocked === true) {
            return Effect.sync(() => (denied === undefined ? blockedReason : told.text(denied)))
          }
          if (exitCode === ExitCode.success && movedTo === undefined && pipeline === undefined && stderr === "")
            return none
          const command = commandOf(params)
          return Slices.pass(command, Effect.map(factsOf(command, result), Remark.make))
        },
        onFailure: (cause) =>
          Effect.sync(() =>
            Option.getOrUndefined(Option.map(Cause.failureOption(cause), (error) => ofError(commandOf(params), error)))
          )
      })
    const ofError = (command: string, error: CommandError): string | undefined =>
      error._tag === "Blocked"
        ? error.denied === undefined
          ? error.message
          : told.text(error.denied)
        : // Whose limit is another's than the tool's own says itself what helps.
          error._tag === "ExecutionFailed" && error.kind === "timeout" && error.advice.length === 0
          ? `${error.message}. ${longer(command)}`
          : undefined

    return Tool.make({
      name: "Bash",
      description: () => Description.make(registry.listed(), sandbox.conditions(), settings),
      parameters: Parameters,
      example: BashArguments.form,
      exampleFor: BashArguments.example,
      prepare: BashArguments.prepare,
      run: (params) =>
        ran(
          Effect.suspend(() => {
            if (params.restart === true) {
              told.forget()
            }
            const running = run(router, params, isOurs)
            const noSkill = (command: string) => noSkillProgram(params, command)
            return ExtensionName.mayBeSkillProgram(params.command)
              ? Effect.flatMap(skillsOf(registry), (skills) =>
                  Option.match(ExtensionName.ofSkillProgram(params.command, skills), {
                    onNone: () => running,
                    onSome: noSkill
                  })
                )
              : running
          })
        ),
      remark,
      hint: (params, result, remark) => {
        const advice = adviceFor(commandOf(params), result, remark, (command) => offers(registry, command))
        return advice === undefined ? undefined : Advice.render([advice], Advice.model)
      },
      category: (params, result) => category(commandOf(params), result),
      replace: (name, params) => {
        const advice = ForeignTool.advise(name, params, (command) => offers(registry, command), isOffline())
        return advice === undefined ? undefined : Advice.render([advice], Advice.model)
      }
    })
  })
)

/** Returns the names of the commands that are known under prefixes. */
const extensionsOf = (registry: Context.Tag.Service<CommandRegistry>): ReadonlyArray<string> =>
  registry.list().flatMap(({ known }) => (known?.() ?? []).map(({ name }) => name))

/** Finds the names of the skills. */
const skillsOf = (registry: Context.Tag.Service<CommandRegistry>): Effect.Effect<ReadonlyArray<string>> => {
  const { known, look } = registry.find("skill:load") ?? {}
  const names = Effect.sync(() =>
    (known?.() ?? []).flatMap(({ name }) => /^skill:load ([\w.-]+)/.exec(name)?.[1] ?? [])
  )
  return look === undefined ? names : Effect.zipRight(look({ refresh: false }), names)
}

const noSkillProgram = (params: typeof Parameters.Type, command: string) =>
  Effect.fail(
    Tool.invalidParameters(
      "Bash",
      ["command: skill is a program that sends signals to processes; not run"],
      BashArguments.example({ ...params, command })
    )
  )

/** Tests whether the registry has a command, and its usage every word behind the name. */
const offers = (registry: Context.Tag.Service<CommandRegistry>, command: string): boolean => {
  const [name = "", ...options] = command.split(" ")
  const handler = registry.find(name)
  return (
    handler !== undefined &&
    registry.listed().includes(handler) &&
    options.every((option) => handler.usage.includes(option))
  )
}

const ran = Span.within("BashTool.run")

/** No remark. */
const none = Effect.sync(() => undefined)

const run = (
  router: Context.Tag.Service<BashRouter>,
  params: typeof Parameters.Type,
  isOurs: (name: string) => boolean
) => {
  const { restart, timeout } = params
  const notices = BashArguments.isRestartAlone(params) ? ["The shell was restarted."] : []
  const route = (command: string, notices: ReadonlyArray<string>) => {
    const running = noticed(router.route(command, { restart, timeout }), notices)
    const endless = timeout === undefined ? find(command) : undefined
    if (endless === undefined || isOurs(endless.program)) return running
    const { instead, reason } = endless
    // A person sees what comes, and ends it by a key.
    return Effect.flatMap(FiberRef.get(CommandListener.current), ({ audience }) =>
      audience === undefined ? refused(params, reason, instead === undefined ? {} : { command: instead }) : running
    )
  }
  return CommandText.CommandText.$match(CommandText.read(params.command, isOurs), {
    Command: ({ command }) => route(command, notices),
    Wrapped: ({ command, notice }) => route(command, [...notices, notice]),
    NoCommand: ({ meant, reason }) => refused(params, reason, meant)
  })
}

/** Refuses a text, with the call that was meant. */
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

/** Puts notices before those of a result, or of an error that holds output. */
const noticed = (
  running: Effect.Effect<CommandResult, CommandError>,
  notices: ReadonlyArray<string>
): Effect.Effect<CommandResult, CommandError> =>
  notices.length === 0
    ? running
    : Effect.mapBoth(running, {
        onSuccess: (result) => ({ ...result, notices: [...notices, ...(result.notices ?? [])] }),
        onFailure: (error) =>
          error._tag === "ExecutionFailed"
            ? new ExecutionFailed({ ...error, notices: [...notices, ...error.notices] })
            : error
      })

/** Returns the command that a call's parameters ran. */
const textOf = (params: unknown, isOurs: (name: string) => boolean): string => {
  const text = CommandText.read((params as typeof Parameters.Type).command, isOurs)
  return text._tag === "NoCommand" ? "" : text.command
}

const adviceFor = (
  command: string,
  result: CommandResult,
  remark: string | undefined,
  offers: ForeignTool.Offers
): Advice.Advice | undefined => {
  const name = Culprit.find(Culprit.lineOf(command), result)
  // Our own commands have named their help themselves.
  if (name === undefined || result.stderr.includes(`"${name} --help"`)) return undefined
  if (result.exitCode !== ExitCode.notFound || !MissingCommand.isMissing(name, result)) return Hint.forFailed(name)
  const meant = MissingCommand.meantBy(remark)
  if (meant !== undefined) return Hint.forMeant(name, meant.name, meant.isSure)
  const own = ForeignToolCall.ownFor(name, offers)
  return own === undefined ? Hint.forMissing(name, offers("command:search")) : Hint.forForeign(name, own)
}

/** Tells how to go on where the tool's own time limit ended a command. Behind a list, `&` is that of its last part. */
const longer = (command: string): string => {
  const text = command.trim()
  const { tokens } = CommandLine.parse(text)
  const isList = /[;\n]|&&|\|\|/.test(text)
  // Behind a here-document or a comment, and after `&`, no `; }` can follow.
  const needsLines =
    /[;&\n]/.test(text.slice(-1)) || tokens.some(({ _tag }) => _tag === "HereDocument" || _tag === "Comment")
  const form =
    !isList && !needsLines
      ? "end the command with:"
      : needsLines
        ? "put it between a line { and a line }"
        : "run it as: { …; }"
  return `To run longer, give timeout=<ms>, or ${form} >log 2>&1 &`
}

/**
 * Returns the category of a failure. Where bash did not find a path, or the program of an `exec`, only the exit code
 * tells it.
 */
const category = (command: string, { category, exitCode }: CommandResult): FailureCategory | undefined => {
  if (category !== undefined) return category
  if (exitCode !== ExitCode.notFound) return undefined
  const line = CommandLine.parse(command)
  const isSaid = line.simple && (line.name.includes("/") || line.name === "exec")
  return isSaid && Hint.missing(line) !== undefined ? "command_not_found" : undefined
}
