/** `TodoWrite <json>`: replaces the list of tasks. `TodoWrite --show` prints it. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import * as Collect from "../../domain/Collect.js"
import type { CommandError } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as JsonText from "../../domain/JsonText.js"
import * as Setting from "../../domain/Setting.js"
import * as Todo from "../../domain/Todo.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as Yield from "../../domain/Yield.js"
import { TodoStore } from "../../extension/TodoStore.js"

/** Matches the beginning of JSON, which may have lost its quotes. */
const jsonLike = /^\s*['"{[]/

/** Tests whether words are plain text rather than unquoted JSON. */
const isText = (words: ReadonlyArray<string>): boolean =>
  words.some((word) => word.trim() !== "") && !words.some((word) => jsonLike.test(word) || word.includes("="))

export const usageText = `USAGE
  TodoWrite '{"todos":[{"content":"Run the tests","activeForm":"Running the tests","status":"pending"}]}'

  TodoWrite <<'EOF'
  {"todos":[{"content":"Don't stop","activeForm":"Going on","status":"in_progress"}]}
  EOF
`

export const help = `TodoWrite - replace the list of tasks

${usageText}
ARGUMENTS
  <json>        {"todos":[<task>, ...]}: the whole list, in its order. What is not in it is gone.
  <task>        {"content":"...","activeForm":"...","status":"..."}: these three keys, and no others.
    content     What is to be done: "Run the tests".
    activeForm  The same while it is being done: "Running the tests"; the content where it is left out.
    status      pending, in_progress or completed.

OPTIONS
  --show        The list as it is; nothing is changed.

INPUT
  cat todos.json | TodoWrite   Standard input, where there is no argument: UTF-8, at most 1 MiB.
  TodoWrite {"todos":[]}       Without quotes: only where it is all that follows on the line.

LIMITS
  50 tasks; SYNAPSE_TODO_MAX_ITEMS sets another limit.
  200 characters (Unicode code points) in content and in activeForm; SYNAPSE_TODO_MAX_CONTENT_LENGTH sets another limit.
  Neither may be blank, and only one task may be in_progress.

EXAMPLES
  TodoWrite '{"todos":[]}'     clears the list
  TodoWrite "$(cat todos.json)" && echo done

OUTPUT
  How many tasks there are of each status, then one line for each: [x] completed, [>] in progress, [ ] pending.

EXIT CODE
  0 where the list was replaced. 1 where it was not: the list is as it was, and standard error names every problem.
`

/** Allows any number of words, because unquoted JSON needs a better error than one about too many words. */
const grammar = CommandGrammar.make({
  name: "TodoWrite",
  summary: "Replaces the list of tasks: what is done, what is being done, what is still to do.",
  usage: `TodoWrite '{"todos":[{"content":"...","activeForm":"...","status":"pending|in_progress|completed"}]}'`,
  help,
  config: { words: Parameter.repeated(Parameter.operand("json")), show: Parameter.flag("show") }
})

/** Makes the handler of `TodoWrite`. Invalid input leaves the list unchanged and gives a result with exit code 1. */
export const make: Effect.Effect<CommandHandler, never, TodoStore> = Effect.gen(function* () {
  const store = yield* TodoStore

  const write = Effect.fnUntraced(
    function* (words: ReadonlyArray<string>, stdin: CommandCall["stdin"]) {
      const bounds = yield* limits
      if (isText(words)) {
        return yield* Effect.fail(
          `Invalid JSON format\n- input: it is text; the whole list is expected, as JSON\nCorrect: ${grammar.usage.replace(/\|[^"]+/, "")}`
        )
      }
      const given = words.length === 0 && stdin !== undefined ? yield* readAll(stdin) : yield* onlyWord(words)
      // Accepts `todos=[…]` as the list.
      const text = given.replace(/^todos=(?=\s*\[)/, "")
      if (text.trim() === "") return yield* Effect.fail(missing)
      const parsed = yield* Yield.run(() => JsonText.steps(text))
      const value = meant(yield* toValue(parsed, words.length > 0 && !isQuoted(text)))
      const todos = yield* Either.mapLeft(Todo.decode(value, bounds), notValid)
      yield* store.set(todos)
      return CommandResult.make({ stdout: summaryOf(todos) })
    },
    Effect.catchIf(Predicate.isString, (reason) =>
      Effect.succeed(
        CommandResult.make({ stderr: `${reason}\n`, exitCode: ExitCode.failure, category: "invalid_usage" })
      )
    )
  )

  const shown = Effect.map(store.get, ({ todos }) => CommandResult.make({ stdout: listOf(todos) }))

  return CommandGrammar.toHandler(
    grammar,
    ({ show, words }, { stdin }): Effect.Effect<CommandResult.CommandResult, CommandError> => {
      if (!show) return write(words, stdin)
      return words.length > 0 ? CommandGrammar.misuse(grammar, "--show stands alone.") : shown
    },
    { takesBare: (rest) => rest.startsWith("{") && rest.trimEnd().endsWith("}") }
  )
})

/** Accepts a bare list, and a list in a JSON string. A task without `activeForm` gets its content. */
const meant = (value: unknown): unknown => {
  if (Array.isArray(value)) return { todos: value.map(named) }
  if (!Predicate.hasProperty(value, "todos")) return value
  const { todos } = value
  const list = Predicate.isString(todos) ? Option.getOrUndefined(Either.getRight(JsonText.parse(todos))) : todos
  return Array.isArray(list) ? { ...value, todos: list.map(named) } : value
}

const named = (todo: unknown): unknown =>
  Predicate.isReadonlyRecord(todo) && /\S/.test(String(todo["content"] ?? "")) && !("activeForm" in todo)
    ? { ...todo, activeForm: todo["content"] }
    : todo

/** Tests whether a word still has its double quotes. Without quotes around it, bash removes them. */
const isQuoted = (text: string): boolean => /^\s*[{[][\s\S]*"[\s\S]*[}\]]\s*$/.test(text)

const missing = `Missing JSON parameter\n\n${usageText.trimEnd()}`

const howToQuote = `Put the JSON in single quotes: TodoWrite '{"todos":[...]}'
or, where it has single quotes itself, in a heredoc:
TodoWrite <<'EOF'
{"todos":[...]}
EOF`

const notMatching = `The quotes do not match: an apostrophe within '...' ends it. In a heredoc, nothing needs quotes:
TodoWrite <<'EOF'
{"todos":[...]}
EOF`

const onlyWord = (words: ReadonlyArray<string>): Either.Either<string, string> => {
  const [word = "", ...more] = words
  if (more.length > 0)
    return Either.left(`Expected one argument, got ${words.length}: the JSON was probably not quoted.\n${howToQuote}`)
  if (word.startsWith("'")) return Either.left(notMatching)
  // Lone surrogates stand for bytes that are not UTF-8 (`ShellText`).
  return /\p{Cs}/u.test(word) ? Either.left(notUtf8) : Either.right(word)
}

const notUtf8 = "Invalid JSON format\n- input: it is no UTF-8"

const megabytes = 1

const readAll = Effect.fnUntraced(function* (stdin: NonNullable<CommandCall["stdin"]>) {
  const bytes = yield* Collect.bytes(stdin, megabytes * 1024 ** 2)
  return bytes === undefined
    ? yield* Effect.fail(`Input too large: standard input has more than ${megabytes} MiB.`)
    : yield* Either.mapLeft(Collect.toText(bytes), () => notUtf8)
})

const toValue = (
  parsed: Either.Either<unknown, JsonText.Flaw>,
  mayBeUnquoted: boolean
): Either.Either<unknown, string> =>
  Either.mapLeft(parsed, ({ path, reason }) => {
    const problem = `Invalid JSON format\n${line({ path: path === "" ? "input" : path, message: reason })}`
    return mayBeUnquoted && path === "" ? `${problem}\n${howToQuote}` : problem
  })

const positive = (name: string, fallback: number): Effect.Effect<number> =>
  Effect.orElseSucceed(Setting.wholeNumber(name, 1), () => fallback)

/** The limits, read from the environment at each run. Invalid values are ignored. */
const limits: Effect.Effect<Todo.Limits> = Effect.all({
  maxItems: positive("SYNAPSE_TODO_MAX_ITEMS", Todo.defaultLimits.maxItems),
  maxContentLength: positive("SYNAPSE_TODO_MAX_CONTENT_LENGTH", Todo.defaultLimits.maxContentLength)
})

const mostProblems = 50

const notValid = (problems: ReadonlyArray<Todo.Problem>): string => {
  const more = problems.length - mostProblems
  const lines = problems.slice(0, mostProblems).map(line)
  const rest = more > 0 ? [`... and ${more} more problems`] : []
  return ["Validation failed", ...lines, ...rest].join("\n")
}

const line = ({ message, path }: Todo.Problem): string =>
  `- ${UntrustedText.escape(cut(path))}: ${UntrustedText.escape(cut(message))}`

const cut = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}...` : text)

const marks: Readonly<Record<Todo.Status, string>> = { completed: "[x]", in_progress: "[>]", pending: "[ ]" }

const summaryOf = (todos: ReadonlyArray<Todo.Todo>): string => `Todo list updated: ${listOf(todos)}`

const listOf = (todos: ReadonlyArray<Todo.Todo>): string => {
  const { completed, in_progress, pending } = Todo.count(todos)
  return [
    `${completed} completed, ${in_progress} in progress, ${pending} pending`,
    ...todos.map(({ content, status }) => `${marks[status]} ${UntrustedText.escape(content)}`),
    ""
  ].join("\n")
}
