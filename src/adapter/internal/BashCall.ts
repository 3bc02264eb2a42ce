/** What the adapters share: the tool's definition, and a call of it. */
import * as Crypto from "node:crypto"
import type { Result } from "../../promise/Result.js"
import type { Signal, Synapse, ToolDefinition } from "../../promise/Synapse.js"

/** The arguments as a model gives them; a wrong one is answered with what to do. */
export interface Arguments {
  readonly [parameter: string]: unknown
}

export const definitionOf = ({ tools: [bash] }: Synapse): ToolDefinition => {
  if (bash === undefined) throw new Error("a Synapse without its tool")
  return bash
}

/** Runs a call, which has an id of ours where its framework gives none. A plain promise: some iterate what can be iterated. */
export const run = async (synapse: Synapse, given: Arguments, id?: string, signal?: Signal): Promise<Result> =>
  synapse.handle({ id: id ?? Crypto.randomUUID(), name: definitionOf(synapse).name, arguments: given }, { signal })
