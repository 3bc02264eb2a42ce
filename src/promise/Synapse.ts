/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What a program without Effect holds of Synapse, in types that need no Effect.
 *
 * @since 0.1.0
 */
import type { Command } from "./Command.js"
import type { Result } from "./Result.js"

/**
 * A model's call of a tool. The arguments may be the object itself in place of its JSON text.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string | { readonly [parameter: string]: unknown }
}

/**
 * A piece of what a command puts out. Characters are never torn apart, however the bytes come.
 *
 * @since 0.1.0
 * @category models
 */
export interface Output {
  readonly stream: "stdout" | "stderr"
  readonly text: string
}

/**
 * What `handle` takes beside the call.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandleOptions {
  /** Hears the output as it comes. Where it returns a promise, the command waits until that is settled. */
  readonly onOutput?: ((output: Output) => void | Promise<void>) | undefined
  /** An AbortSignal: when it aborts, the call ends as with `cancel()`. */
  readonly signal?: Signal | undefined
}

/**
 * What is asked of an AbortSignal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Signal {
  readonly aborted: boolean
  readonly addEventListener: (type: "abort", listener: () => void) => void
  readonly removeEventListener: (type: "abort", listener: () => void) => void
}

/**
 * A call on its way: a promise of its result, and an async iterable of its output.
 *
 * A loop over it that begins in the same turn as `handle` misses nothing, and ends when the call does; the command waits for a loop
 * that is slower than it. Leaving the loop does not end the call, whose later output then goes to nobody: `cancel()` ends it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pending extends Promise<Result>, AsyncIterable<Output> {
  /** Ends the call: the promise is then fulfilled with exit code 130 and the output so far. */
  readonly cancel: () => void
}

/**
 * What a model's tool list says of a tool; `parameters` is a JSON schema.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: { readonly [key: string]: unknown }
}

/**
 * A tool in the form that each API takes in its list of tools: Anthropic's Messages API, OpenAI's Chat Completions API and whatever
 * is compatible with it, the same with structured outputs, and the Model Context Protocol.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolFormats {
  readonly anthropic: {
    readonly name: string
    readonly description: string
    readonly input_schema: ToolDefinition["parameters"] & { readonly type: "object" }
  }
  readonly openai: { readonly type: "function"; readonly function: ToolDefinition & { readonly strict?: boolean } }
  readonly "openai-strict": ToolFormats["openai"]
  readonly mcp: {
    readonly name: string
    readonly description: string
    readonly inputSchema: ToolDefinition["parameters"]
  }
}

/**
 * A task of the model's list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Todo {
  /** What is to be done: `Run the tests`. */
  readonly content: string
  /** The same while it is being done: `Running the tests`. */
  readonly activeForm: string
  readonly status: "pending" | "in_progress" | "completed"
}

/**
 * The list of tasks that the model keeps with `TodoWrite`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Todos {
  readonly get: () => ReadonlyArray<Todo>
  /** Replaces the list; throws InvalidUsage where it is none. */
  readonly set: (todos: ReadonlyArray<Todo>) => void
  /** Calls the listener at once with the list as it is, then with each one that is set. Answers how to end that. */
  readonly onChange: (listener: (todos: ReadonlyArray<Todo>) => void) => () => void
}

/**
 * Synapse over a shell of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Synapse {
  /** The definitions of the tools, for a model's tool list. */
  readonly tools: ReadonlyArray<ToolDefinition>
  /** The same in the form that an API takes: `toolsFor("anthropic")`. */
  readonly toolsFor: <Format extends keyof ToolFormats>(format: Format) => ReadonlyArray<ToolFormats[Format]>
  /** Runs a call. The promise is never rejected: a failure is a result with `isError`, and so is what is no call. */
  readonly handle: (call: Call, options?: HandleOptions) => Pending
  /** Ends the running call of that id, as its `cancel()` does; `false` where there is none. */
  readonly cancel: (id: string) => Promise<boolean>
  /** Adds a command; throws InvalidUsage where its name is taken. Answers how to take it away again. */
  readonly addCommand: (command: Command) => () => void
  readonly todos: Todos
  /**
   * Ends all calls, the shell, and what it started; calls from then on are answered with an error. May be called again. A program
   * that forgets it exits all the same when nothing else is left to do, and the shell with it.
   */
  readonly dispose: () => Promise<void>
  /** `dispose`, for `await using`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
