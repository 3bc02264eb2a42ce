/** The services of the shell at the terminal: the terminal's own, and the app whose session it is the face of. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CommandRegistry } from "../../command/CommandRegistry.js"
import type { SandboxManager } from "../../sandbox/SandboxManager.js"
import type { Terminal } from "../../terminal/Terminal.js"
import type { TerminalRenderer } from "../../terminal/TerminalRenderer.js"
import type { Toolset } from "../../toolset/Toolset.js"
import type * as Interruption from "./Interruption.js"
import type { PersonTerminal } from "./PersonTerminal.js"
import type { ShownTasks } from "./ShownTasks.js"

export type Services = CommandRegistry | SandboxManager | Toolset

export interface ShellApp {
  readonly terminal: Context.Tag.Service<Terminal>
  readonly renderer: Context.Tag.Service<TerminalRenderer>
  readonly interruption: Interruption.Interruption
  readonly screen: PersonTerminal
  readonly tasks: ShownTasks
  readonly services: Context.Context<Services>
  /** The directory that the session started in, whose sandbox it has. */
  readonly directory: string
  /** The person's home directory. */
  readonly home: string
  /** The most milliseconds of a command; undefined for no limit. */
  readonly timeout: number | undefined
  /** Runs an effect that uses the whole terminal; questions are shown within it. */
  readonly whole: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Asks the person by a question of the program's own; true for yes. */
  readonly confirm: (question: string) => Effect.Effect<boolean>
}

/** Returns one of the app's services. */
export const service = <Id extends Services, A>({ services }: ShellApp, tag: Context.Tag<Id, A>): Effect.Effect<A> =>
  Effect.sync(() => Context.get(services, tag))
