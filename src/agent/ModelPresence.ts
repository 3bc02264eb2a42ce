/** Tells whether a model's provider is set, without loading anything of it: lists name what needs one only then. */
import * as Fs from "node:fs"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as ModelSettings from "./model/ModelSettings.js"

/** The variables that say, or hold the key of, a provider. */
const variables = [
  ModelSettings.variables.provider,
  ModelSettings.variables.model,
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY"
]

const isSet = (name: string): Effect.Effect<boolean> =>
  Effect.match(Config.nonEmptyString(name), { onFailure: () => false, onSuccess: () => true })

/**
 * Tests whether the environment names a provider or holds a key of one, or there is a `settings.json`.
 *
 * @param home the directory of Synapse's own files
 */
export const isProviderSet = (home: string): Effect.Effect<boolean> =>
  Effect.map(
    Effect.forEach(variables, isSet),
    // The module that reads it takes long to load.
    (set) => set.includes(true) || Fs.existsSync(`${home}/settings.json`)
  )
