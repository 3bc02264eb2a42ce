/** Finds and calls the tool's definition, for the adapters. */
import * as Crypto from "node:crypto"
import type { Result } from "../../promise/Result.js"
import type { Signal, Synapse, ToolDefinition } from "../../promise/Synapse.js"

/** The arguments as a model gives them. The result of a wrong one says what to do. */
export interface Arguments {
  readonly [parameter: string]: unknown
}

export const definitionOf = ({ tools: [bash] }: Synapse): ToolDefinition => {
  if (bash === undefined) throw new Error("a Synapse without its tool")
  return bash
}

/**
 * Runs a call, and makes up its id if the framework gives none. It returns a plain promise because `handle`'s promise
 * is also iterable, and the AI SDK would read the output's pieces as results.
 */
export const run = async (synapse: Synapse, given: Arguments, id?: string, signal?: Signal): Promise<Result> =>
  synapse.handle({ id: id ?? Crypto.randomUUID(), name: definitionOf(synapse).name, arguments: given }, { signal })
