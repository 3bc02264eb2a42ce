/// <reference lib="esnext.disposable" preserve="true" />
/** The interface of Synapse for programs without Effect, in types that need no Effect. */
import type { Command } from "./Command.js"
import type { Result } from "./Result.js"

/** A model's call of a tool. The arguments are JSON text, or the object itself. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string | { readonly [parameter: string]: unknown }
}

/** A piece of a command's output. A character is never split, however the bytes come. */
export interface Output {
  readonly stream: "stdout" | "stderr"
  readonly text: string
}

/** The options of `handle`. */
export interface HandleOptions {
  /** Called with the output as it comes. Where it returns a promise, the command waits until that is settled. */
  readonly onOutput?: ((output: Output) => void | Promise<void>) | undefined
  /** An AbortSignal: when it aborts, the call ends as with `cancel()`. */
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
 * A loop over it that begins in the same turn of the event loop as `handle` gets all output, and ends when the call
 * does; the command waits for a slower loop. Leaving the loop does not end the call, and its later output is dropped;
 * `cancel()` ends the call.
 */
export interface Pending extends Promise<Result>, AsyncIterable<Output> {
  /** Ends the call: the promise then resolves with exit code 130 and the output so far. */
  readonly cancel: () => void
}

/** The definition of a tool in a model's tool list; `parameters` is a JSON schema. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: { readonly [key: string]: unknown }
}

/**
 * The forms of a tool in the tool lists of APIs: Anthropic's Messages API, OpenAI's Chat Completions API and all APIs
 * compatible with it, and the Model Context Protocol.
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

/** A task in the model's list. */
export interface Todo {
  /** The task: `Run the tests`. */
  readonly content: string
  /** The words for the task while it is being done: `Running the tests`. */
  readonly activeForm: string
  readonly status: "pending" | "in_progress" | "completed"
}

/** The list of tasks that the model keeps with `TodoWrite`. */
export interface Todos {
  readonly get: () => ReadonlyArray<Todo>
  /** Replaces the list; throws InvalidUsage for an invalid one. */
  readonly set: (todos: ReadonlyArray<Todo>) => void
  /** Calls the listener at once with the current list, then with each new one. Returns a function which ends that. */
  readonly onChange: (listener: (todos: ReadonlyArray<Todo>) => void) => () => void
}

/** A toolset with a shell of its own. */
export interface Synapse {
  /** The definitions of the tools, for a model's tool list. */
  readonly tools: ReadonlyArray<ToolDefinition>
  /** Returns the definitions in the form that an API takes: `toolsFor("anthropic")`. */
  readonly toolsFor: <Format extends keyof ToolFormats>(format: Format) => ReadonlyArray<ToolFormats[Format]>
  /**
   * Runs a call. The promise never rejects: a failure is a result with `isError`, and so is the answer to an invalid
   * call.
   */
  readonly handle: (call: Call, options?: HandleOptions) => Pending
  /** Ends the running call of that id, as its `cancel()` does; `false` where there is none. */
  readonly cancel: (id: string) => Promise<boolean>
  /**
   * Adds a command; throws InvalidUsage where its name is taken, or where no command can have it. Returns a function
   * which removes it.
   */
  readonly addCommand: (command: Command) => () => void
  readonly todos: Todos
  /**
   * Ends all calls, the shell, and what it started; later calls get an error. It may be called repeatedly. A program
   * that does not call it still exits when it has nothing left to do, and the shell ends with it.
   */
  readonly dispose: () => Promise<void>
  /** `dispose`, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
