/**
 * Makes the commands of the registry callable anywhere in a shell line.
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
import * as CommandLookup from "./CommandLookup.js"
import * as Stub from "./Stub.js"

/**
 * A layer of the bridge to the commands of the registry, as they are registered at the time of each call.
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
      open: (directory, around) => new CallServer.CallServer(directory, commands, around),
      definitions: (directory) => Stub.functions(directory, commands.names()),
      enterPath: CommandLookup.enterPath,
      changePath: CommandLookup.changePath,
      onNotFound: () => CommandLookup.onNotFound(commands),
      takeEnding: commands.takeEnding,
      takeImages: commands.takeImages
    }
    return bridge
  })
)
