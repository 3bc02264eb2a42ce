/**
 * Asks the person at the controlling terminal, whatever stdin and stdout are connected to.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as Permission from "./Permission.js"
import * as TerminalQuestion from "./TerminalQuestion.js"

/** How many characters of a text are shown. */
const longest = 600

/** The answers as words, with the letter that stands for each in brackets. */
const words: Readonly<Record<Permission.Answer, string>> = {
  allow_once: "[o]nce",
  allow_session: "[s]ession",
  allow_permanent: "permanently",
  deny: "[N]o"
}

/**
 * Makes a model's text harmless for a terminal: control characters, and characters that reorder or hide others, become
 * code points, and the middle of a long text is cut.
 *
 * @since 0.1.0
 * @category printing
 */
export const printable = (text: string): string => {
  const half = longest / 2
  const cut =
    text.length > longest ? `${text.slice(0, half)} … ${text.length - longest} more … ${text.slice(-half)}` : text
  // A run of blanks would push the rest to the start of a terminal line, where it could pass for a line of its own.
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
export const effectOf = (answer: Permission.Answer, request: Permission.PermissionRequest): string => {
  const { access, hasRun, resource, task } = request
  if (access === "open") {
    return answer === "deny" ? "it stays closed" : `you reach it at http://${resource} until this session ends`
  }
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

/**
 * Describes what was denied, by which rule, and to which command, as lines.
 *
 * @since 0.1.0
 * @category printing
 */
export const describe = (request: Permission.PermissionRequest): ReadonlyArray<string> => {
  const { access, command, reason, resource, rule, task } = request
  // Another command, in the background, may have caused what is noticed meanwhile.
  const relation = access === "open" ? "after:   " : access === "network" ? "during:  " : "command: "
  return [
    access === "open"
      ? `A server in the sandbox could be opened at ${printable(resource)}`
      : `The sandbox denied to ${access === "network" ? "reach" : access} ${printable(resource)}`,
    `  rule:    ${printable(rule.pattern)}: ${printable(reason)}`,
    ...(command === "" ? [] : [`  ${relation}${printable(command)}`]),
    ...(task === undefined ? [] : [`  task:    Task(${printable(`${task.type}: ${task.description}`)})`])
  ]
}

/**
 * Formats the question: one line for each offered answer, with what it would allow.
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

/**
 * Permanent permission needs the whole word: a single letter may have been meant for a question of the command's own.
 */
const letterOf = (answer: Permission.Answer): string | undefined => /\[(.)\]/.exec(words[answer])?.[1]

const prompt = (offered: ReadonlyArray<Permission.Answer>): string =>
  `[${offered.map((answer) => letterOf(answer) ?? words[answer]).join("/")}] `

/** Parses a line as an offered answer, by its word or letter; undefined for anything else. */
const toAnswer = (line: string, offered: ReadonlyArray<Permission.Answer>): Permission.Answer | undefined => {
  const said = line.trim().toLowerCase()
  if (["", "d", "deny"].includes(said)) return "deny"
  const spelled = (answer: Permission.Answer) => words[answer].replace(/[[\]]/g, "").toLowerCase()
  return offered.find((answer) => said === spelled(answer) || said === letterOf(answer)?.toLowerCase())
}

/** Asks until there is an answer. An invalid word such as `yes` is asked about once more, then counts as a denial. */
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
  /** Keeps the terminal free for a question, as `TerminalRenderer.suspended` does. It may also answer the question. */
  readonly hold?: (question: Effect.Effect<Permission.Answer>) => Effect.Effect<Permission.Answer>
  /** Wraps the lines of a question to the terminal's width. */
  readonly wrap?: (question: string) => string
  /**
   * True if the session ends with its command. Then nothing is offered for the session, or for a command that has
   * already run, except to a sub-agent.
   */
  readonly endsAtOnce?: boolean
}

/**
 * A layer which asks at the terminal, as `layer` does, while `hold` keeps the terminal free.
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
 * A layer which asks at the terminal, one question at a time. It denies if there is no terminal, at the end of input,
 * and for every invalid word.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Permission.Permission> = layerWithin({})
