/** The services of the shell at the terminal: the terminal's own, and the app whose session it is the face of. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CommandRegistry } from "../../command/CommandRegistry.js"
import type { TodoStore } from "../../extension/TodoStore.js"
import type { SandboxManager } from "../../sandbox/SandboxManager.js"
import type { Keyboard } from "../../terminal/Keyboard.js"
import type { Terminal } from "../../terminal/Terminal.js"
import type { TerminalRenderer } from "../../terminal/TerminalRenderer.js"
import type { Toolset } from "../../toolset/Toolset.js"
import type { ShownTasks } from "./ShownTasks.js"
import type { TerminalHint } from "./TerminalHint.js"

export type Services = CommandRegistry | SandboxManager | TodoStore | Toolset

export interface ShellApp {
  readonly terminal: Context.Tag.Service<Terminal>
  readonly keyboard: Context.Tag.Service<Keyboard>
  readonly renderer: Context.Tag.Service<TerminalRenderer>
  readonly tasks: ShownTasks
  /** Waits until the app is there. */
  readonly services: Effect.Effect<Context.Context<Services>>
  /** The directory that the session started in, whose sandbox it has. */
  readonly directory: string
  /** The person's home directory. */
  readonly home: string
  readonly terminalHint: TerminalHint
  /** The most milliseconds of a command; undefined for no limit. */
  readonly timeout: number | undefined
}

/** Waits for the app, and returns one of its services. */
export const service = <Id extends Services, A>({ services }: ShellApp, tag: Context.Tag<Id, A>): Effect.Effect<A> =>
  Effect.map(services, (context) => Context.get(context, tag))
