/**
 * The defaults of `sandbox.json` if there is no file. The schema fills in the same, but is only loaded if there is a
 * file.
 */

const noEntries: ReadonlyArray<string> = []

export const defaults = {
  enabled: true,
  provider: "local",
  policy: {
    filesystem: { whitelist: noEntries, blacklist: noEntries, readable: noEntries },
    network: { allowNetwork: false as const }
  },
  env: noEntries,
  providerOptions: {}
}
