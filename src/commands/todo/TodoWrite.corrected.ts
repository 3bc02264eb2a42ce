/**
 * Writes a list of tasks that does not stand under `todos` as the call that was meant, made of the values given.
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
  const todos = Todo.misplaced(input)
    ?.slice(0, limits.maxItems + 1)
    .map(toTodo)
  if (todos === undefined || todos.length === 0 || Either.isLeft(Todo.decode({ todos }, limits))) return undefined
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
