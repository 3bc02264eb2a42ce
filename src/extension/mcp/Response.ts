/**
 * Makes a response out of whatever a server answers. The official client drops what the protocol does not foresee, and
 * its caller would wait for an answer that has come already.
 *
 * @since 0.1.0
 */
import * as FailureCause from "./FailureCause.js"
import type { Message } from "./MessageReader.js"

const internalError = -32_603

/**
 * Returns a message as it is where it is no response, and otherwise as one that the client takes: what has neither a
 * result nor an error is an error that says so.
 *
 * @since 0.1.0
 */
export const sound = (message: Message): Message => {
  if (!("id" in message) || "method" in message) return message
  const { error, id, result } = message
  if (isObject(result)) {
    const { _meta, ...rest } = result
    return { jsonrpc: "2.0", id, result: _meta === undefined || isObject(_meta) ? result : rest }
  }
  if (isObject(error) && (typeof error["message"] === "string" || typeof error["code"] === "number")) {
    const { code, data, message } = error
    return {
      jsonrpc: "2.0",
      id,
      error: {
        code: Number.isSafeInteger(code) ? code : internalError,
        message: typeof message === "string" ? message : `error ${code}`,
        ...(data === undefined ? {} : { data })
      }
    }
  }
  return { jsonrpc: "2.0", id, error: { code: internalError, message: FailureCause.own.noResult } }
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
