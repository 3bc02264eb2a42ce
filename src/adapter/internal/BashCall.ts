/** Finds and calls the tool's definition, for the adapters. */
import * as Crypto from "node:crypto"
import type { Result } from "../../promise/Result.js"
import type { HandleOptions, Signal, Synapse, ToolDefinition } from "../../promise/Synapse.js"

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
export const run = async (
  synapse: Synapse,
  given: Arguments,
  id?: string,
  signal?: Signal,
  onOutput?: HandleOptions["onOutput"]
): Promise<Result> => {
  const call = { id: id ?? Crypto.randomUUID(), name: definitionOf(synapse).name, arguments: given }
  return synapse.handle(call, { onOutput, signal })
}

/** Makes what a model of the AI SDK and of Mastra gets: the text, as an error if the call failed, and the images. */
export const toModelOutput = ({ extras, isError, output }: Result) => {
  if (extras.images === undefined) return { type: isError ? ("error-text" as const) : ("text" as const), value: output }
  const images = extras.images.map(({ base64, mediaType }) => ({
    type: "image-data" as const,
    data: base64,
    mediaType
  }))
  return { type: "content" as const, value: [{ type: "text" as const, text: output }, ...images] }
}
