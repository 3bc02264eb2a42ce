/** Calls of TodoWrite, on a store that has a list in it. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CommandCall } from "../../../src/command/CommandHandler.js"
import * as TodoWrite from "../../../src/commands/todo/TodoWrite.js"
import type { Todo } from "../../../src/domain/Todo.js"
import * as TodoStore from "../../../src/extension/TodoStore.js"

export const todo = (fields: object = {}) => ({
  content: "Run it",
  activeForm: "Running it",
  status: "pending",
  ...fields
})
export const before: ReadonlyArray<Todo> = [{ content: "Old", activeForm: "Growing old", status: "in_progress" }]
export const empty = "Todo list updated: 0 completed, 0 in progress, 0 pending\n"

export type Input = Pick<Partial<CommandCall>, "args" | "stdin">

export const made = Effect.gen(function* () {
  const store = yield* TodoStore.make
  yield* store.set(before)
  const handler = yield* Effect.provideService(TodoWrite.make, TodoStore.TodoStore, store)
  const run = ({ args = [], stdin }: Input) =>
    handler.run(
      {
        name: "TodoWrite",
        args,
        cwd: "/",
        stdin,
        write: () => Effect.void,
        files: {
          read: () => Stream.dieMessage("read"),
          write: () => Effect.dieMessage("write"),
          writeAll: () => Effect.never,
          exit: () => Effect.never,
          mode: () => Effect.never,
          exclusive: () => Effect.dieMessage("exclusive")
        }
      },
      {}
    )
  return { handler, run, todos: Effect.map(store.get, ({ todos }) => todos) }
})

/** Runs one call on a store with `before` in it. */
export const write = (input: Input, environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const { run, todos } = yield* made
    const result = yield* Effect.withConfigProvider(
      run(input),
      ConfigProvider.fromMap(new Map(Object.entries(environment)))
    )
    return { result, todos: yield* todos }
  }).pipe(Effect.scoped)

export const writeJson = (value: unknown, environment?: Readonly<Record<string, string>>) =>
  write({ args: [JSON.stringify(value)] }, environment)

export const refused = (...lines: ReadonlyArray<string>) => ({
  result: { stdout: "", stderr: `${lines.join("\n")}\n`, exitCode: 1, category: "invalid_usage" as const },
  todos: before
})

export const written = (todos: ReadonlyArray<unknown>, stdout: string) => ({
  result: { stdout, stderr: "", exitCode: 0 },
  todos
})

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const quoting = [
  `Put the JSON in single quotes: TodoWrite '{"todos":[...]}'`,
  "or, where it has single quotes itself, in a heredoc:",
  "TodoWrite <<'EOF'",
  '{"todos":[...]}',
  "EOF"
]
