/**
 * A list of tasks, and its limits.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * The schema of a task's status.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Status = Schema.Literal("pending", "in_progress", "completed")

/**
 * The status of a task.
 *
 * @since 0.1.0
 * @category models
 */
export type Status = typeof Status.Type

/**
 * A task in a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Todo {
  /** The task in the imperative: `Run the tests`. */
  readonly content: string
  /** The words shown while the task is being done: `Running the tests`. */
  readonly activeForm: string
  readonly status: Status
}

/**
 * The limits of a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  readonly maxItems: number
  /** The most Unicode code points of `content` and of `activeForm`. */
  readonly maxContentLength: number
}

/**
 * The default limits.
 *
 * @since 0.1.0
 */
export const defaultLimits: Limits = { maxItems: 50, maxContentLength: 200 }

/**
 * A problem with a list, and its place.
 *
 * @since 0.1.0
 * @category models
 */
export interface Problem {
  /** The path with dots, as `todos.0.content`, or `input` for the whole input. */
  readonly path: string
  readonly message: string
}

/**
 * Makes the schema of TodoWrite's input: `{"todos":[{"content","activeForm","status"}]}`. To refuse other keys, decode
 * it with `onExcessProperty: "error"`, as `decode` does.
 *
 * @since 0.1.0
 * @category schemas
 */
export const schema = (limits: Limits = defaultLimits) => {
  const text = expecting(Schema.String, "a string").pipe(Schema.filter((value) => problemOfText(value, limits)))
  const todo = expecting(
    Schema.Struct({ content: text, activeForm: text, status }),
    "an object with content, activeForm and status"
  )
  const todos = expecting(Schema.Array(todo), "a list").pipe(Schema.filter((todos) => problemsOfList(todos, limits)))
  return expecting(Schema.Struct({ todos }), 'an object with the key "todos"')
}

/** Words the error with the kind of the actual value only, because the value may be long. */
const expecting = <S extends Schema.Annotable.All>(self: S, expected: string): Schema.Annotable.Self<S> =>
  self.annotations({ message: ({ actual }) => `Expected ${expected}, got ${kindOf(actual)}` })

const status = Status.annotations({
  message: ({ actual }) => ({
    message: `Expected one of ${Status.literals.join(", ")}, got ${Predicate.isString(actual) ? quoted(actual) : kindOf(actual)}`,
    // Otherwise the message repeats for each literal.
    override: true
  })
})

const quoted = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "a list"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const problemOfText = (text: string, { maxContentLength }: Limits): string | undefined => {
  if (text.trim() === "") return "Must not be blank"
  const length = lengthOf(text)
  return length > maxContentLength ? `Too long: at most ${maxContentLength} characters, got ${length}` : undefined
}

const problemsOfList = (todos: ReadonlyArray<unknown>, { maxItems }: Limits): ReadonlyArray<string> => {
  const active = todos.filter((todo) => Predicate.hasProperty(todo, "status") && todo.status === "in_progress").length
  return [
    ...(todos.length > maxItems ? [`Too many items: at most ${maxItems}, got ${todos.length}`] : []),
    ...(active > 1 ? [`Only one item may be in_progress, got ${active}`] : [])
  ]
}

const lengthOf = (text: string): number => {
  let length = 0
  for (const _ of text) length++
  return length
}

/**
 * Decodes a list of tasks, or returns all of its problems on the left. Tasks beyond the limit are not checked one by
 * one.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (
  input: unknown,
  limits: Limits = defaultLimits
): Either.Either<ReadonlyArray<Todo>, ReadonlyArray<Problem>> => {
  const list = withoutOthers(input, "input", listKeys)
  const todos = Predicate.isReadonlyRecord(input) && Array.isArray(input["todos"]) ? input["todos"] : []
  const each = todos.slice(0, limits.maxItems).map((todo, at) => withoutOthers(todo, `todos.${at}`, todoKeys))
  const looked =
    todos.length > limits.maxItems || each.some(({ others }) => others.length > 0)
      ? { ...Object(list.value), todos: each.map(({ value }) => value) }
      : list.value
  const ofList = problemsOfList(todos, limits).map((message) => ({ path: "todos", message }))
  const decoded = ParseResult.decodeUnknownEither(schema(limits), { onExcessProperty: "error", errors: "all" })(looked)
  const ofDecoding = Either.isRight(decoded)
    ? []
    : // A filter of Schema is not run where the filtered value has problems itself, so `ofList` has its problems.
      problemsOf(decoded.left).filter(({ path }) => ofList.length === 0 || path !== "todos")
  const problems = [
    ...ofList,
    ...list.others,
    ...[...each.flatMap(({ others }) => others), ...ofDecoding].sort((a, b) => indexOf(a) - indexOf(b))
  ]
  return Either.isRight(decoded) && problems.length === 0 ? Either.right(decoded.right.todos) : Either.left(problems)
}

const listKeys = new Set(["todos"])
const todoKeys = new Set(["content", "activeForm", "status"])

/** Returns the index of the task that a problem is about, or -1. */
const indexOf = ({ path }: Problem): number => Number(/^todos\.(\d+)/.exec(path)?.[1] ?? -1)

/** Splits off unknown keys, because Schema takes microseconds for each. */
const withoutOthers = (value: unknown, path: string, known: ReadonlySet<string>) => {
  const others = Predicate.isReadonlyRecord(value) ? Object.keys(value).filter((key) => !known.has(key)) : []
  if (others.length === 0) return { value, others: [] }
  // The path does not name the key, because the caller's key may be any text.
  return {
    value: Object.fromEntries(Object.entries(Object(value)).filter(([key]) => known.has(key))),
    others: others.map((key): Problem => ({ path, message: `Unrecognized key ${quoted(key)}` }))
  }
}

const problemsOf = (issue: ParseResult.ParseIssue): ReadonlyArray<Problem> =>
  ParseResult.ArrayFormatter.formatIssueSync(issue).map(({ _tag, message, path }) => ({
    path: dotted(path),
    message: _tag === "Missing" ? "Required" : message
  }))

const dotted = (path: ReadonlyArray<PropertyKey>): string => (path.length === 0 ? "input" : path.join("."))

/**
 * Counts the tasks of each status.
 *
 * @since 0.1.0
 */
export const count = (todos: ReadonlyArray<Todo>): Readonly<Record<Status, number>> => {
  const counts = { pending: 0, in_progress: 0, completed: 0 }
  for (const { status } of todos) counts[status]++
  return counts
}
