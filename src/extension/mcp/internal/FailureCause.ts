/**
 * The parts of an error about an MCP server that come from elsewhere: the client's errors, and what the server said.
 */
import { ExecutionFailed } from "../../../domain/CommandError.js"
import * as ForeignText from "../../../domain/ForeignText.js"

/** Makes the error for a failure without a category of its own. */
export const failed = (reason: string, cause?: unknown): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason, ...(cause === undefined ? {} : { cause }) })

/** The most of what a server wrote to its standard error. */
const mostWords = { characters: 2000, lines: 10 }

/** Returns a text of a server's, or about one, as a line of at most 300 characters. */
export const shown = (text: string): string => ForeignText.line(text, 300)

/** Adds the last lines that a server wrote to its standard error. */
export const withWords = (reason: string, words: string): string => {
  const last = ForeignText.tail(words, "  ", mostWords)
  return last.length === 0 ? reason : [reason, "Its last words:", ...last].join("\n")
}

/** The sentences that stand in the place of a server's, which gives no answer, or none that can be read. */
export const own = {
  noAnswer: "the connection ended without an answer, and it may have had its effect",
  noResult: "answered with something that is no result"
} as const

const ownTexts: ReadonlySet<string> = new Set(Object.values(own))

/**
 * Returns the texts of an error and of its causes, as a line: `fetch failed` alone tells nothing. It is quoted, for a server
 * may have written any of it, unless it is one of `own`.
 */
export const messageOf = (cause: unknown): string => {
  const texts: Array<string> = []
  for (let at = cause; at instanceof Error && texts.length < 3; at = at.cause) {
    const text = at.message || ("code" in at ? String(at.code) : "")
    if (text !== "" && !texts.some((other) => other.includes(text))) texts.push(text)
  }
  const text = texts.length === 0 ? String(cause) : texts.join(": ")
  return ownTexts.has(text) ? text : ForeignText.quoted(text, 1000)
}

/** Returns the code of an error of the client's, and the status of an HTTP answer, with its text as it is quoted. */
export const httpOf = (cause: unknown): { code?: unknown; status?: number | undefined; answer: string } => {
  if (!(cause instanceof Error)) return { answer: "" }
  const status = "status" in cause && typeof cause.status === "number" ? cause.status : undefined
  const data = "data" in cause ? cause.data : undefined
  const text = typeof data === "object" && data !== null && "text" in data ? data.text : undefined
  return {
    code: "code" in cause ? cause.code : undefined,
    status,
    answer:
      status === undefined
        ? ""
        : `HTTP ${status}${typeof text === "string" && text.trim() !== "" ? `: ${ForeignText.quoted(text, 200)}` : ""}`
  }
}
