/**
 * The bytes of a call's output as text, for all who hear it.
 *
 * @since 0.1.0
 */
import type { Output } from "./Synapse.js"

/**
 * Hears texts.
 *
 * @since 0.1.0
 * @category models
 */
export type Hearer = (output: Output) => void | Promise<void> | undefined

/**
 * Decodes each stream as UTF-8, whole characters at a time.
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
    /** Returns a promise where a hearer wants to be waited for. */
    take: (stream: Output["stream"], bytes: Uint8Array): Promise<void> | undefined =>
      tell({ stream, text: decoders[stream].decode(bytes, { stream: true }) }),
    /** Tells what was left of a torn character. */
    end: (): void => {
      for (const stream of ["stdout", "stderr"] as const) void tell({ stream, text: decoders[stream].decode() })
    }
  }
}
