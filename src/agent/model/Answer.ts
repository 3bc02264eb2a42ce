/**
 * Puts the parts of a stream together to an answer that comes at once.
 *
 * @since 0.1.0
 */
import type * as Response from "@effect/ai/Response"
import * as Effect from "effect/Effect"
import * as ForeignText from "../../domain/ForeignText.js"
import type { Endpoint } from "./Endpoint.js"
import type { ModelError } from "./ModelError.js"
import * as Refusal from "./Refusal.js"

/**
 * Makes the answer of the parts. Fails where a call is of a tool that is not there, or its arguments are no JSON.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromParts = (
  endpoint: Endpoint,
  parts: ReadonlyArray<Response.StreamPartEncoded>
): Effect.Effect<Array<Response.PartEncoded>, ModelError> => {
  const answer: Array<Response.PartEncoded> = []
  const texts = new Map<string, { text: string }>()
  const calls = new Map<string, string>()
  const add = (type: "text" | "reasoning", id: string, delta: string) => {
    const known = texts.get(`${type}/${id}`)
    if (known !== undefined) {
      known.text += delta
      return
    }
    const part = { type, text: delta }
    texts.set(`${type}/${id}`, part)
    answer.push(part)
  }
  for (const part of parts) {
    if (part.type === "text-delta") add("text", part.id, part.delta)
    if (part.type === "reasoning-delta") add("reasoning", part.id, part.delta)
    if (part.type === "tool-params-start") calls.set(part.id, part.name)
    if (part.type === "tool-call") calls.delete(part.id)
    if (part.type === "tool-call" || part.type === "finish" || part.type === "response-metadata") answer.push(part)
  }
  const [wrong] = calls.values()
  return wrong === undefined
    ? Effect.succeed(answer)
    : Effect.fail(Refusal.broken(endpoint, `has a wrong call of the tool ${ForeignText.quoted(wrong, 80)}`))
}
