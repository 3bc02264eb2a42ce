/** A request to a model that is tried again. */
import * as ForeignText from "./ForeignText.js"

/** The reason why a request is tried again, as the server told it, and the milliseconds until then. */
export interface Retrying {
  readonly reason: string
  readonly delay: number
}

/** Says that the request is tried again, on one line which no terminal obeys. */
export const describe = ({ delay, reason }: Retrying): string =>
  `trying again${delay === 0 ? "" : ` in ${Math.ceil(delay / 1000)} s`}: ${ForeignText.line(reason, 300)}`
