/**
 * Decodes the output of a call, for all its listeners.
 *
 * @since 0.1.0
 */
import type { Output } from "./Synapse.js"

/**
 * A listener for decoded output.
 *
 * @since 0.1.0
 * @category models
 */
export type Hearer = (output: Output) => void | Promise<void> | undefined

/**
 * Decodes each stream as UTF-8; a character that is split across chunks is told whole.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (hearers: Iterable<Hearer>) => {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const tell = (output: Output): Promise<void> | undefined => {
    if (output.text === "") return undefined
    const waiting: Array<Promise<void>> = []
    for (const hear of hearers) {
      const taken = hear(output)
      if (taken !== undefined) waiting.push(taken)
    }
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {})
  }
  return {
    /** Decodes a chunk and tells the listeners; returns a promise where one of them has to be waited for. */
    take: (stream: Output["stream"], bytes: Uint8Array): Promise<void> | undefined =>
      tell({ stream, text: decoders[stream].decode(bytes, { stream: true }) }),
    /** Tells the listeners the rest of an incomplete character. */
    end: (): void => {
      for (const stream of ["stdout", "stderr"] as const) void tell({ stream, text: decoders[stream].decode() })
    }
  }
}
