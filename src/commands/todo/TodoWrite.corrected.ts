/**
 * Writes a list of tasks that is not as it must be as the call that was meant, made of the values given.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Quote from "../../bash/Quote.js"
import * as Todo from "../../domain/Todo.js"

/** The names that other lists have for the text of a task. */
const texts = ["content", "task", "title", "step", "text", "description", "name"]

/** The words that other lists have for a status, in lower case and without what is no letter. */
const statuses: ReadonlyMap<string, Todo.Status> = new Map(
  (
    [
      ["pending", "pending todo open new notstarted planned"],
      ["in_progress", "inprogress doing active started current ongoing"],
      ["completed", "completed complete done finished closed"]
    ] as const
  ).flatMap(([status, words]) => words.split(" ").map((word): [string, Todo.Status] => [word, status]))
)

/** The most characters of a call that is written. */
const longest = 1000

/**
 * Returns the call; undefined where the values do not make one that would be taken.
 *
 * @since 0.1.0
 */
export const of = (input: unknown, limits: Todo.Limits): string | undefined => {
  const todos = listIn(input)
    ?.slice(0, limits.maxItems + 1)
    .map(toTodo)
  return todos === undefined || todos.length === 0 ? undefined : callOf(todos, limits)
}

/** Returns the list; what stands beside it may change its meaning. */
const listIn = (input: unknown): ReadonlyArray<unknown> | undefined =>
  Predicate.hasProperty(input, "todos") && Array.isArray(input.todos) && Object.keys(input).length === 1
    ? input.todos
    : Todo.misplaced(input)

const callOf = (todos: ReadonlyArray<unknown>, limits: Todo.Limits): string | undefined => {
  if (Either.isLeft(Todo.decode({ todos }, limits))) return undefined
  const json = JSON.stringify({ todos })
  const call = json.includes("'") ? `TodoWrite ${Quote.hereDocument(`${json}\n`)}` : `TodoWrite ${Quote.quote(json)}`
  return call.length > longest ? undefined : call
}

const toTodo = (item: unknown): unknown => {
  const given = Predicate.isReadonlyRecord(item) ? item : { content: item }
  const content = texts.map((name) => given[name]).find(Predicate.isString)
  const { activeForm = content, status = "pending" } = given
  return {
    content,
    activeForm,
    status: statuses.get(
      String(status)
        .toLowerCase()
        .replace(/[^a-z]/g, "")
    )
  }
}

/** Matches a word that JSON begins with, perhaps without its quotes. */
const jsonLike = /^\s*['"{[]/

/** Words that ask for the list, and that add to it. */
const showing = /^(?:get|list|ls|print|read|show|view)$/i
const adding = /^(?:add|append|create|new)$/i

/**
 * Tests whether words are text, and no JSON that was not quoted.
 *
 * @since 0.1.0
 */
export const isText = (words: ReadonlyArray<string>): boolean =>
  words.some((word) => word.trim() !== "") && !words.some((word) => jsonLike.test(word) || word.includes("="))

/**
 * Returns the call for a text in the place of JSON: one more task behind those that there are; undefined where it is not
 * certain.
 *
 * @since 0.1.0
 */
export const ofText = (
  words: ReadonlyArray<string>,
  current: ReadonlyArray<Todo.Todo>,
  limits: Todo.Limits
): string | undefined => {
  const [first = "", ...others] = words
  if (others.length === 0 && showing.test(first)) return "TodoWrite --show"
  const said = adding.test(first) ? others : words
  const isOne =
    said.length === 1 ? /\s/.test(said[0] as string) || said !== words : !said.some((word) => /\s/.test(word))
  if (!isOne || said.length === 0) return undefined
  return callOf([...current, toTodo(said.join(" "))], limits)
}

/** Matches a string in either kind of quotes, and the other words of a literal of Python. */
const literal = /'((?:[^'\\]|\\[\s\S])*)'|"(?:[^"\\]|\\[\s\S])*"|\b(?:True|False|None)\b/g
const constants: Readonly<Record<string, string>> = { False: "false", None: "null", True: "true" }

/**
 * Returns the call for a list whose strings stand in single quotes, as Python writes them; undefined where it is none.
 *
 * @since 0.1.0
 */
export const ofPython = (text: string, limits: Todo.Limits): string | undefined => {
  if (text.length > longest * 10 || !/^\s*[{[]/.test(text) || !text.includes("'")) return undefined
  const json = text.replace(literal, (each, inner: string | undefined) =>
    inner === undefined ? (constants[each] ?? each) : JSON.stringify(inner.replace(/\\'/g, "'"))
  )
  try {
    return of(JSON.parse(json), limits)
  } catch {
    return undefined
  }
}
