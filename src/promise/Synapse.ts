/// <reference lib="esnext.disposable" preserve="true" />
/** The interface of Synapse for programs without Effect. Its types do not need Effect. */
import type { Command } from "./Command.js"
import type { Result } from "./Result.js"

/** A model's tool call. The arguments are JSON text or an object. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string | { readonly [parameter: string]: unknown }
}

/** A piece of a command's output, which never splits a character. */
export interface Output {
  readonly stream: "stdout" | "stderr"
  readonly text: string
}

/** The options of `handle`. */
export interface HandleOptions {
  /** Called with the output as it comes. If it returns a promise, the command waits for it. */
  readonly onOutput?: ((output: Output) => void | Promise<void>) | undefined
  /** An AbortSignal. When it aborts, the call ends as with `cancel()`. */
  readonly signal?: Signal | undefined
}

/** The part of an AbortSignal that Synapse uses. */
export interface Signal {
  readonly aborted: boolean
  readonly addEventListener: (type: "abort", listener: () => void) => void
  readonly removeEventListener: (type: "abort", listener: () => void) => void
}

/**
 * A running call: a promise of its result, and an async iterable of its output.
 *
 * A loop over it gets all output if it starts in the same event loop turn as `handle`. It ends with the call, and the
 * command waits for a slow loop. Leaving the loop drops later output, but only `cancel()` ends the call.
 */
export interface Pending extends Promise<Result>, AsyncIterable<Output> {
  /** Ends the call. The promise then resolves with exit code 130 and the output so far. */
  readonly cancel: () => void
}

/** The definition of a tool in a model's tool list; `parameters` is a JSON schema. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: { readonly [key: string]: unknown }
}

/**
 * The forms of a tool in the tool lists of APIs: Anthropic's Messages API, OpenAI's Chat Completions API and compatible
 * APIs, and the Model Context Protocol.
 */
export interface ToolFormats {
  readonly anthropic: {
    readonly name: string
    readonly description: string
    readonly input_schema: ToolDefinition["parameters"] & { readonly type: "object" }
  }
  readonly openai: { readonly type: "function"; readonly function: ToolDefinition }
  readonly mcp: {
    readonly name: string
    readonly description: string
    readonly inputSchema: ToolDefinition["parameters"]
  }
}

/** A task in the model's todo list. */
export interface Todo {
  /** The task: `Run the tests`. */
  readonly content: string
  /** The task's name while it is being done: `Running the tests`. */
  readonly activeForm: string
  readonly status: "pending" | "in_progress" | "completed"
}

/** The todo list that the model keeps with `TodoWrite`. */
export interface Todos {
  readonly get: () => ReadonlyArray<Todo>
  /** Replaces the list. Throws InvalidUsage for an invalid one. */
  readonly set: (todos: ReadonlyArray<Todo>) => void
  /**
   * Calls the listener at once with the current list, then with each new one. Returns a function that removes the
   * listener.
   */
  readonly onChange: (listener: (todos: ReadonlyArray<Todo>) => void) => () => void
}

/** A toolset with its own shell. */
export interface Synapse {
  /** The definitions of the tools, for a model's tool list. */
  readonly tools: ReadonlyArray<ToolDefinition>
  /** Returns the definitions in an API's form: `toolsFor("anthropic")`. */
  readonly toolsFor: <Format extends keyof ToolFormats>(format: Format) => ReadonlyArray<ToolFormats[Format]>
  /** Runs a call. The promise never rejects: failures and answers to invalid calls are results with `isError`. */
  readonly handle: (call: Call, options?: HandleOptions) => Pending
  /** Ends the running call with this id, like its `cancel()`. Resolves to `false` if there is none. */
  readonly cancel: (id: string) => Promise<boolean>
  /** Adds a command. Throws InvalidUsage if its name is invalid or taken. Returns a function that removes it. */
  readonly addCommand: (command: Command) => () => void
  readonly todos: Todos
  /**
   * Ends all calls, the shell, and everything that it started; later calls get an error. Repeated calls are harmless.
   * Without it, the program still exits when it has nothing left to do, and the shell ends with it.
   */
  readonly dispose: () => Promise<void>
  /** `dispose`, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
