/** Looks for denials at once, without rests. */
import * as Slices from "../../../src/domain/Slices.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import * as Preflight from "../../../src/sandbox/denial/Preflight.js"

export const attribution = (...rules: Parameters<typeof Attribution.make>) => {
  const attribute = Attribution.make(...rules)
  return (outcome: Attribution.Outcome) => Slices.now(attribute(outcome))
}

export const preflight = (...rules: Parameters<typeof Preflight.make>) => {
  const find = Preflight.make(...rules)
  return (...call: Parameters<typeof find>) => Slices.now(find(...call))
}
