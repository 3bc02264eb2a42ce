/**
 * Asks the person at the controlling terminal, whatever stdin and stdout are connected to.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { Rule } from "../policy/SandboxPolicy.js"
import * as Permission from "./Permission.js"
import * as TerminalQuestion from "./TerminalQuestion.js"

/** The number of characters of a text that are shown. */
const longest = 600

/** The letter of each answer, in its word. */
const words: Readonly<Record<Permission.Answer, string>> = {
  allow_once: "[o]nce",
  allow_session: "[s]ession",
  allow_permanent: "permanently",
  deny: "[N]o"
}

/**
 * Makes a text that a model wrote harmless for a terminal: control characters, and characters that reorder or hide
 * others, are written as their code points, and the middle of a long text is left out.
 *
 * @since 0.1.0
 * @category printing
 */
export const printable = (text: string): string => {
  const half = longest / 2
  const cut =
    text.length > longest ? `${text.slice(0, half)} … ${text.length - longest} more … ${text.slice(-half)}` : text
  // A run of blanks would push what follows to the beginning of a line of the terminal.
  return UntrustedText.replaceInvisible(cut, UntrustedText.escaped)
    .replace(/[\p{C}\p{Zl}\p{Zp}\u2800]/gu, UntrustedText.escaped)
    .replace(/\p{Zs}{4,}/gu, (blanks) => `[${blanks.length} blanks]`)
}

/**
 * Says what an answer allows, and to whom.
 *
 * @since 0.1.0
 * @category printing
 */
export const effectOf = (answer: Permission.Answer, { access, hasRun, task }: Permission.PermissionRequest): string => {
  const it = `may ${access === "network" ? "reach" : access} it`
  switch (answer) {
    case "allow_once":
      return `this command ${it}${hasRun === true ? " when it is run again" : ""}`
    case "allow_session":
      return task === undefined
        ? `every command ${it} until this session ends`
        : `every command of this task ${it} until the task ends`
    case "allow_permanent":
      return `every command ${it} from now on: sandbox.json will allow it`
    case "deny":
      return "it stays denied"
  }
}

/** Tells where a rule comes from, unless the reason does. */
const sourceOf = ({ source }: Rule, reason: string): string => {
  const said = PolicyDecision.describeSource(source)
  return reason.includes(said) ? "" : ` (${said})`
}

/**
 * Describes what was denied, by which rule, and to which command, in lines.
 *
 * @since 0.1.0
 * @category printing
 */
export const describe = (request: Permission.PermissionRequest): ReadonlyArray<string> => {
  const { access, command, reason, resource, rule, task } = request
  return [
    `The sandbox denied to ${access === "network" ? "reach" : access} ${printable(resource)}`,
    `  rule:    ${printable(rule.pattern)}${sourceOf(rule, reason)}: ${printable(reason)}`,
    `  command: ${printable(command)}`,
    ...(task === undefined ? [] : [`  task:    Task(${printable(`${task.type}: ${task.description}`)})`])
  ]
}

/**
 * Formats the question: each answer that is offered stands on a line, with what it would allow.
 *
 * @since 0.1.0
 * @category printing
 */
export const question = (request: Permission.PermissionRequest, offered: ReadonlyArray<Permission.Answer>): string =>
  [
    "",
    ...describe(request),
    ...offered.map((answer) => `  ${words[answer].padEnd(14)} ${effectOf(answer, request)}`),
    `Allow it? ${prompt(offered)}`
  ].join("\n")

/** To allow for good takes the whole word: one letter may have been meant for a question of the command's own. */
const letterOf = (answer: Permission.Answer): string | undefined => /\[(.)\]/.exec(words[answer])?.[1]

/** Names what can be typed. */
const prompt = (offered: ReadonlyArray<Permission.Answer>): string =>
  `[${offered.map((answer) => letterOf(answer) ?? words[answer]).join("/")}] `

/** Reads a line as one of the answers, by its word or letter; undefined for anything else. */
const toAnswer = (line: string, offered: ReadonlyArray<Permission.Answer>): Permission.Answer | undefined => {
  const said = line.trim().toLowerCase()
  if (["", "d", "deny"].includes(said)) return "deny"
  const spelled = (answer: Permission.Answer) => words[answer].replace(/[[\]]/g, "").toLowerCase()
  return offered.find((answer) => said === spelled(answer) || said === letterOf(answer)?.toLowerCase())
}

/** Asks until there is an answer: a word that is none, such as `yes`, is asked about once more, then it is no. */
const answerTo = (text: string, offered: ReadonlyArray<Permission.Answer>): Effect.Effect<Permission.Answer> => {
  const read = (text: string) =>
    Effect.map(TerminalQuestion.ask(text), (line) =>
      toAnswer(
        Option.getOrElse(line, () => ""),
        offered
      )
    )
  return Effect.flatMap(read(text), (answer) =>
    answer === undefined
      ? Effect.map(read(`Any other word means no. Type one of ${prompt(offered)}`), (again) => again ?? "deny")
      : Effect.succeed(answer)
  )
}

/**
 * The options of `layerWithin`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Keeps the terminal free for a question, as `TerminalRenderer.suspended` does; it may answer it too. */
  readonly hold?: (question: Effect.Effect<Permission.Answer>) => Effect.Effect<Permission.Answer>
  /** Breaks the lines of a question, so that they fit the terminal. */
  readonly wrap?: (question: string) => string
  /**
   * True where the session ends with its command: then, nothing is allowed for the session, nor for a command that has run,
   * but to a sub-agent.
   */
  readonly endsAtOnce?: boolean
}

/**
 * A layer which asks at the terminal, as `layer` does, in a hold of the terminal.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWithin = ({
  endsAtOnce = false,
  wrap = (question) => question,
  hold = (effect) => effect
}: Options): Layer.Layer<Permission.Permission> =>
  Layer.effect(
    Permission.Permission,
    Effect.map(Effect.makeSemaphore(1), (turn) =>
      Permission.make((request, choices) => {
        const isOver = endsAtOnce && request.task === undefined
        const late = request.hasRun === true ? ["allow_session", "allow_once"] : ["allow_session"]
        const offered = isOver ? choices.filter((answer) => !late.includes(answer)) : choices
        if (offered.length === 1) return Effect.succeed("deny")
        return turn.withPermits(1)(hold(answerTo(wrap(question(request, offered)), offered)))
      })
    )
  )

/**
 * A layer which asks at the terminal, one question at a time. It denies where there is no terminal, at the end of its
 * input, and for every word that is none of the answers.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Permission.Permission> = layerWithin({})
