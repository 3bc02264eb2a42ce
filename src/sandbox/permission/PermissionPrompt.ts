/**
 * Asks the person at the controlling terminal, whatever stdin and stdout are connected to.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Tty from "node:tty"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ForeignText from "../../domain/ForeignText.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as Permission from "./Permission.js"

/** The number of characters of a text that are shown. */
const longest = 600

const labels: Readonly<Record<Permission.Answer, string>> = {
  allow_once: "[o]nce",
  allow_session: "for this [s]ession",
  allow_permanent: "[p]ermanently",
  deny: "[D]eny"
}

const letters: Readonly<Record<string, Permission.Answer>> = {
  o: "allow_once",
  once: "allow_once",
  s: "allow_session",
  session: "allow_session",
  p: "allow_permanent",
  permanently: "allow_permanent"
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
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ForeignText.escaped)
}

/**
 * Formats the question, with the answers that are offered.
 *
 * @since 0.1.0
 * @category printing
 */
export const question = (
  { access, command, reason, resource, rule }: Permission.PermissionRequest,
  offered: ReadonlyArray<Permission.Answer>
): string =>
  [
    "",
    `The sandbox denied to ${access === "network" ? "reach" : access} ${printable(resource)}`,
    `  rule:    ${printable(rule.pattern)} (${PolicyDecision.describeSource(rule.source)}): ${printable(reason)}`,
    `  command: ${printable(command)}`,
    `Allow it? ${offered.map((answer) => labels[answer]).join(", ")}: `
  ].join("\n")

/** Reads a line as an answer: everything but a clear yes is `deny`. */
const toAnswer = (line: string): Permission.Answer => {
  const word = line.trim().toLowerCase()
  return Object.hasOwn(letters, word) ? (letters[word] ?? "deny") : "deny"
}

/**
 * Returns whether this process is in the background of its terminal, where reading would stop it. On Linux `/proc`
 * tells; elsewhere it is not known.
 */
const isInBackground = (): boolean => {
  try {
    const stat = Fs.readFileSync("/proc/self/stat", "utf8")
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return group !== foreground
  } catch {
    return false
  }
}

/**
 * Asks for one line at the terminal: empty at the end of its input, none where there is no terminal.
 *
 * @since 0.1.0
 * @internal
 */
export const ask = (prompt: string): Effect.Effect<Option.Option<string>> =>
  Effect.async((resume) => {
    let stream: Tty.ReadStream
    try {
      if (isInBackground()) return resume(Effect.succeedNone)
      const fd = Fs.openSync("/dev/tty", "r+")
      stream = new Tty.ReadStream(fd)
      Fs.writeSync(fd, prompt)
    } catch {
      return resume(Effect.succeedNone)
    }
    let text = ""
    const end = (line: string) => {
      stream.destroy()
      resume(Effect.succeedSome(line))
    }
    stream.setEncoding("utf8")
    stream.on("data", (chunk: string) => {
      text += chunk
      if (text.includes("\n")) end(text.slice(0, text.indexOf("\n")))
    })
    stream.once("end", () => end(""))
    stream.once("error", () => end(""))
    return Effect.sync(() => stream.destroy())
  })

/**
 * A layer which asks at the terminal, one question at a time. It denies where there is no terminal, at the end of its
 * input, and for every word that is none of the answers.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Permission.Permission> = Layer.effect(
  Permission.Permission,
  Effect.map(Effect.makeSemaphore(1), (turn) =>
    Permission.make((request, offered) =>
      turn.withPermits(1)(
        Effect.map(ask(question(request, offered)), (line) => toAnswer(Option.getOrElse(line, () => "")))
      )
    )
  )
)
