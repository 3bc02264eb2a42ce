/** A bridge that loads the commands with the first call: most lines call none. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { Described } from "../command/CommandHandler.js"
import type { ShellBridge } from "../session/ShellBridge.js"
import * as Nesting from "../session/ShellBridge.js"
import type { BridgeCommands } from "./internal/BridgeCall.js"
import * as CallServer from "./internal/CallServer.js"

/** Marks the effect of a call, for `Nesting`. */
export type Within = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The commands that a shell can call, of which only the names are known until one is called. */
interface LateCommands {
  readonly names: ReadonlyArray<string>
  readonly prefixed: ReadonlyArray<Described>
  /** Tests whether there are servers or skills, whose commands programs in the shell find once they are loaded. */
  readonly hasExtensions: () => boolean
  /** Loads the commands; run once. */
  readonly load: (within: Within) => Effect.Effect<BridgeCommands, never, Scope.Scope>
}

/** Makes a bridge whose commands are loaded with the first call. */
export const make = ({
  hasExtensions,
  load,
  names,
  prefixed
}: LateCommands): Effect.Effect<Context.Tag.Service<ShellBridge>, never, Scope.Scope> =>
  Effect.map(Effect.runtime<Scope.Scope>(), (runtime) => {
    let loaded: BridgeCommands | undefined
    let loading: Promise<BridgeCommands> | undefined
    const loadOnce = () => {
      loading ??= Runtime.runPromise(runtime)(load(Nesting.within(bridge))).then((commands) => {
        loaded = commands
        return commands
      })
      return loading
    }
    const side = CallServer.make({
      names: () => loaded?.names() ?? names,
      prefixed: () => loaded?.prefixed() ?? prefixed,
      run: (call, request, around, output) =>
        void loadOnce().then(
          (commands) => commands.run(call, request, around, output),
          (error: unknown) => void call.finish("", `${request.name}: ${String(error)}\n`, 1)
        ),
      takeCalls: (mark) => loaded?.takeCalls(mark) ?? { called: undefined, images: [] }
    })
    const bridge: Context.Tag.Service<ShellBridge> = {
      ...side,
      open: (directory, around) => {
        const open = side.open(directory, around)
        // Without them, each call says itself what is wrong.
        if (hasExtensions())
          void loadOnce().then(
            () => open.offer(""),
            () => {}
          )
        return open
      }
    }
    return bridge
  })
