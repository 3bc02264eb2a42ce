/**
 * Commands of the registry, callable anywhere in a shell line.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CommandRegistry } from "../command/CommandRegistry.js"
import * as Nesting from "../session/Nesting.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as CallRunner from "./CallRunner.js"
import * as CallServer from "./CallServer.js"
import * as ShellFunctions from "./ShellFunctions.js"

/**
 * A bridge to the commands of the registry, as they are whenever one is called.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ShellBridge, never, CommandRegistry> = Layer.effect(
  ShellBridge,
  Effect.gen(function* () {
    const commands = yield* CallRunner.make((call) => Nesting.within(bridge)(call))
    const bridge: Context.Tag.Service<ShellBridge> = {
      fifos: CallServer.fifos,
      open: (directory, input) => new CallServer.CallServer(directory, commands, input),
      definitions: (directory) => ShellFunctions.functions(directory, commands.names()),
      enterPath: ShellFunctions.enterPath,
      changePath: ShellFunctions.changePath,
      onNotFound: () => ShellFunctions.onNotFound(commands),
      takeEnding: commands.takeEnding
    }
    return bridge
  })
)
