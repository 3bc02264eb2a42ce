/**
 * A conversation with `synapse call`: the lines of it, and what must hold of the answers, whenever they come.
 */
import { assert } from "@effect/vitest"
import * as Array from "effect/Array"

export interface Call {
  readonly id: string
  readonly command: string
  readonly restart?: boolean
  /** Another tool than the one there is. */
  readonly name?: string
}

/** A line: a call, or the id of one to cancel. */
export type Line = Call | string

interface Answer {
  readonly toolCallId: string | null
  readonly output: string
  readonly message: string
  readonly extras: { readonly exitCode: number; readonly interrupted?: true }
}

const idOf = (line: Line) => (isCall(line) ? line.id : line)

export const isCall = (line: Line): line is Call => typeof line !== "string"

export const write = (line: Line): string => {
  if (!isCall(line)) return `${JSON.stringify({ cancel: line })}\n`
  const { id, name = "Bash", ...params } = line
  return `${JSON.stringify({ id, name, arguments: params })}\n`
}

export const read = (stdout: string): ReadonlyArray<Answer> =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** How often each kind of answer came; a test looks at it, so that its conversations have them all. */
export interface Kinds {
  completed: number
  cancelled: number
  notRun: number
  refused: number
  late: number
  unknown: number
}

/**
 * Asserts that each call has one answer, that 130 is for what was cancelled, and that a cancellation of a call that is
 * not there any more, or not yet, has an answer of its own, without an id.
 */
export const check = (lines: ReadonlyArray<Line>, answers: ReadonlyArray<Answer>): Kinds => {
  const kinds: Kinds = { completed: 0, cancelled: 0, notRun: 0, refused: 0, late: 0, unknown: 0 }
  const linesOf = Array.groupBy(lines, idOf)
  const [others, named] = Array.partition(answers, ({ toolCallId }) => toolCallId !== null)
  const said = Array.groupBy(named, ({ toolCallId }) => `${toolCallId}`)
  assert.deepStrictEqual(
    Object.keys(said).filter((id) => linesOf[id] === undefined),
    [],
    "ids that nobody gave"
  )
  const withoutId = others.map(({ message }) => message)
  for (const [id, own] of Object.entries(linesOf)) {
    const given = said[id] ?? []
    assert.strictEqual(given.length, own.filter(isCall).length, `answers to ${id}: ${JSON.stringify(given)}`)
    // A call of another tool is never running.
    const first = own.findIndex((line) => isCall(line) && line.name === undefined)
    const early = own.slice(0, first < 0 ? own.length : first).filter((line) => !isCall(line)).length
    const cancels = own.filter((line) => !isCall(line)).length - early
    const told = withoutId.filter((message) => message === `No call with the id ${id} is running.`).length
    const late = told - early
    const interrupted = given.filter(({ extras }) => extras.interrupted === true)
    assert.isAtLeast(late, 0, `cancellations of ${id} before it came`)
    assert.isAtMost(late + interrupted.length, cancels, `cancellations of ${id}`)
    for (const { extras, message, toolCallId } of given) {
      assert.strictEqual(extras.exitCode === 130, extras.interrupted === true, `${toolCallId}: ${message}`)
    }
    kinds.unknown += early
    kinds.late += late
    kinds.cancelled += interrupted.length
    kinds.notRun += interrupted.filter(({ output }) => output.includes("it was not run")).length
    kinds.refused += given.filter(({ message }) => message.includes("is still running")).length
    kinds.completed += given.filter(({ extras }) => extras.exitCode === 0).length
  }
  assert.strictEqual(withoutId.length, kinds.unknown + kinds.late, withoutId.join("; "))
  return kinds
}
