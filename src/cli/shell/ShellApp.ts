/** The services of `synapse shell`: those of the terminal, and the app whose session it shows. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CommandRegistry } from "../../command/CommandRegistry.js"
import type { SandboxManager } from "../../sandbox/SandboxManager.js"
import type { Terminal } from "../../terminal/Terminal.js"
import type { TerminalRenderer } from "../../terminal/TerminalRenderer.js"
import type { Toolset } from "../../toolset/Toolset.js"
import type * as Interruption from "./Interruption.js"
import type { PersonTerminal } from "./PersonTerminal.js"
import type { ShownTasks } from "./ShownTasks.js"

export type Services = CommandRegistry | SandboxManager | ShellApp | Toolset

export class ShellApp extends Context.Tag("synapse/ShellApp")<
  ShellApp,
  {
    readonly terminal: Context.Tag.Service<Terminal>
    readonly renderer: Context.Tag.Service<TerminalRenderer>
    readonly interruption: Interruption.Interruption
    readonly screen: PersonTerminal
    readonly tasks: ShownTasks
    /** The directory that the session started in, which its sandbox is for. */
    readonly directory: string
    readonly home: string
    /** The timeout of commands in milliseconds, if any. */
    readonly timeout: number | undefined
    /** Runs an effect that uses the whole terminal. Questions are shown within it. */
    readonly whole: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Asks the person a question of the program. Returns true for yes. */
    readonly confirm: (question: string) => Effect.Effect<boolean>
  }
>() {}
