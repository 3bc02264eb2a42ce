/** The sandbox of a house: the manager over the platform of this machine, and its configuration. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LocalSkillStore from "./extension/skill/LocalSkillStore.js"
import type { Options } from "./Synapse.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import * as LocalSandboxProvider from "./sandbox/LocalSandboxProvider.js"
import * as LinuxPlatform from "./sandbox/platform/linux/LinuxPlatform.js"
import * as MacOsPlatform from "./sandbox/platform/macos/MacOsPlatform.js"
import * as SandboxManager from "./sandbox/SandboxManager.js"
import * as SandboxProvider from "./sandbox/SandboxProvider.js"
import * as PrivateDirectory from "./session/PrivateDirectory.js"
import * as SessionSettings from "./session/SessionSettings.js"

/**
 * The platform of this machine. Variables that the settings set are passed on to sandboxed shells, whatever they look
 * like.
 */
const layerPlatform = Layer.unwrapEffect(
  Effect.gen(function* () {
    const settings = yield* SessionSettings.SessionSettings
    const environment = Object.keys(settings.environment)
    const places = [...(settings.privateDirectories ?? []), ...PrivateDirectory.places()]
    const { home } = yield* SandboxSettings.SandboxSettings
    return process.platform === "darwin"
      ? MacOsPlatform.layer({ variables: environment })
      : LinuxPlatform.layerOptions({
          environment,
          index: `${home}/index`,
          places,
          shown: [LocalSkillStore.homeDirectory(home)]
        })
  })
)

/** A layer of the manager, which is the only way to the shell, over the providers of a house. */
export const layer = ({ platform = layerPlatform, providers }: Pick<Options, "platform" | "providers">) =>
  SandboxManager.layer.pipe(
    Layer.provide(LocalSandboxProvider.layer),
    Layer.provide(providers === undefined ? Layer.empty : Layer.orDie(providers)),
    Layer.provide(SandboxProvider.layer),
    Layer.provide(platform)
  )

/**
 * A layer of the settings of the sandbox, the content of `sandbox.json`, and the policies that are built from both.
 */
export const layerConfiguration = ({ sandbox }: Pick<Options, "sandbox">) =>
  PolicyBuilder.layer.pipe(
    Layer.provideMerge(SandboxConfig.layer),
    Layer.provideMerge(SandboxSettings.layerFromEnv(sandbox))
  )
