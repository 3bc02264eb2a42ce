/**
 * Messages of real programs, as they were recorded.
 */
import * as Fs from "node:fs"
import { fileURLToPath } from "node:url"

export const fixture = fileURLToPath(new URL("../../fixtures/denial/messages.json", import.meta.url))

/** `ROOT` stands for the root of the World that it happened in. */
export interface Recorded {
  readonly command: string
  readonly rule: string
  readonly resource: string
  readonly directory: string
  readonly text: string
}

export const recorded = (): ReadonlyArray<Recorded> => JSON.parse(Fs.readFileSync(fixture, "utf8"))

/** A few at a time, in order. */
export const inOrder = async <A, B>(list: ReadonlyArray<A>, run: (each: A) => Promise<B>): Promise<Array<B>> => {
  const found: Array<B> = []
  const atOnce = 4
  for (let at = 0; at < list.length; at += atOnce) {
    found.push(...(await Promise.all(list.slice(at, at + atOnce).map(run))))
  }
  return found
}
