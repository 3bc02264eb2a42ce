/**
 * Estimates how many tokens a conversation has, from its bytes and from what the provider has counted.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import * as ResultImage from "../model/ResultImage.js"

/** A token has some four bytes; what a provider counts changes that within these bounds. */
const bytesPerToken = 4
const least = 1
const most = 8

/** A bound for images, whose tokens do not depend on their bytes. */
const mostFile = 8000

/** The bytes that a message has besides its text. */
const around = 16

/**
 * The size of a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export class ContextSize {
  private readonly known = new WeakMap<Prompt.Message, number>()
  private perToken = bytesPerToken

  /** @param fixed the bytes of what is sent with every request: the system prompt and the tools */
  constructor(private readonly fixed: number) {}

  /** Takes what the provider has counted for a request with these messages. */
  count(messages: ReadonlyArray<Prompt.Message>, tokens: number): void {
    if (tokens > 0) this.perToken = Math.min(most, Math.max(least, this.bytes(messages) / tokens))
  }

  /** The bytes of messages, and of what is sent with them. */
  bytes(messages: ReadonlyArray<Prompt.Message>): number {
    return messages.reduce((sum, message) => sum + this.of(message), this.fixed)
  }

  /** The bytes that so many tokens have. */
  bytesOf(tokens: number): number {
    return tokens * this.perToken
  }

  /** The tokens that so many bytes have. */
  tokensOf(bytes: number): number {
    return bytes / this.perToken
  }

  /** The bytes of one message. */
  of(message: Prompt.Message): number {
    const known = this.known.get(message)
    if (known !== undefined) return known
    const parts: ReadonlyArray<Prompt.Part> = message.role === "system" ? [] : message.content
    const bytes = parts.reduce((sum, part) => sum + sizeOf(part) + around, around)
    this.known.set(message, bytes)
    return bytes
  }
}

const sizeOf = (part: Prompt.Part): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return Buffer.byteLength(part.text)
    case "tool-call":
      return jsonSize(part.params)
    case "tool-result":
      return (
        (typeof part.result === "string" ? Buffer.byteLength(part.result) : jsonSize(part.result)) +
        ResultImage.of(part).length * mostFile
      )
    case "file":
      return mostFile
  }
}

const jsonSize = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "")
