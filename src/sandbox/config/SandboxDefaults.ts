/** What `sandbox.json` says where there is no file; its schema fills in the same, and is loaded for a file only. */

const noEntries: ReadonlyArray<string> = []

/** The content of `sandbox.json` where there is no file. */
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
