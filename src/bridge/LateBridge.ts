/** A bridge that loads the commands only with the first call, since most lines call none. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ShellBridge } from "../session/ShellBridge.js"
import type { BridgeCommands, Callable } from "./internal/BridgeCall.js"
import * as CallServer from "./internal/CallServer.js"

/** The commands that a shell can call. Only their names are known until the first call. */
interface LateCommands {
  readonly callable: Callable
  /** Tests for MCP servers or skills. Programs in the shell find their commands only once they are loaded. */
  readonly hasExtensions: () => boolean
  /** Loads the commands. Called once. */
  readonly load: Effect.Effect<BridgeCommands, never, Scope.Scope>
}

export const make = ({
  callable,
  hasExtensions,
  load
}: LateCommands): Effect.Effect<Context.Tag.Service<ShellBridge>, never, Scope.Scope> =>
  Effect.map(Effect.runtime<Scope.Scope>(), (runtime) => {
    let loaded: BridgeCommands | undefined
    let loading: Promise<BridgeCommands> | undefined
    const loadOnce = () => {
      loading ??= Runtime.runPromise(runtime)(load).then((commands) => {
        loaded = commands
        return commands
      })
      return loading
    }
    const side = CallServer.make({
      callable: () => loaded?.callable() ?? callable,
      run: (call, request, around, output) =>
        void loadOnce().then(
          (commands) => commands.run(call, request, around, output),
          (error: unknown) => void call.finish("", `${request.name}: ${String(error)}\n`, 1)
        ),
      takeCalls: (mark) => loaded?.takeCalls(mark) ?? CallServer.noCalls
    })
    const bridge: Context.Tag.Service<ShellBridge> = {
      ...side,
      open: (directory, around) => {
        const open = side.open(directory, around)
        // If loading fails, each call reports the error itself.
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
