/** Finds the definition of the tool, and calls it, for the adapters. */
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

/**
 * Runs a call. Makes up its id where the framework gives none. Returns a plain promise: `handle`'s own can be iterated too, and the AI
 * SDK would take the output's pieces for results.
 */
export const run = async (synapse: Synapse, given: Arguments, id?: string, signal?: Signal): Promise<Result> =>
  synapse.handle({ id: id ?? Crypto.randomUUID(), name: definitionOf(synapse).name, arguments: given }, { signal })
