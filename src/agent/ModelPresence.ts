import * as Fs from "node:fs"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as ModelSettings from "./model/ModelSettings.js"

/** Variables that name a provider, or hold a key. */
const variables = [
  ModelSettings.variables.provider,
  ModelSettings.variables.model,
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY"
]

const isSet = (name: string): Effect.Effect<boolean> =>
  Effect.match(Config.nonEmptyString(name), { onFailure: () => false, onSuccess: () => true })

/** Tests whether the environment names a provider or holds a key, or `settings.json` exists. It loads no provider. */
export const isProviderSet = (home: string): Effect.Effect<boolean> =>
  Effect.map(Effect.forEach(variables, isSet), (set) => set.includes(true) || Fs.existsSync(`${home}/settings.json`))
