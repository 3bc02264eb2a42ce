/**
 * Reads server-sent events from bytes as they come.
 *
 * @since 0.1.0
 */

/**
 * The most characters of an event, and the most bytes of a whole answer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const limits = { event: 16 * 1024 ** 2, answer: 64 * 1024 ** 2 } as const

/**
 * Collects bytes to events; the end of the bytes is told by `end`.
 *
 * @since 0.1.0
 * @category models
 */
export interface EventStream {
  /** Takes bytes, and returns the data of the events that they complete; undefined where an event is too long. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<string> | undefined
  /** Returns the data of an event whose empty line is missing at the end. */
  readonly end: () => ReadonlyArray<string>
}

/**
 * Makes a reader of one stream.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (most: number = limits.event): EventStream => {
  const decoder = new TextDecoder()
  let line: Array<string> = []
  let lineLength = 0
  let data: Array<string> = []
  let dataLength = 0
  // A carriage return may be the first half of a line's end.
  let isAfterReturn = false

  const take = (events: Array<string>): void => {
    const text = line.length === 1 ? (line[0] as string) : line.join("")
    line = []
    lineLength = 0
    if (text === "") {
      if (data.length > 0) events.push(data.join("\n"))
      data = []
      dataLength = 0
      return
    }
    const colon = text.indexOf(":")
    if ((colon < 0 ? text : text.slice(0, colon)) !== "data") return
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1)
    data.push(value)
    dataLength += value.length + 1
  }

  return {
    push: (bytes) => {
      const events: Array<string> = []
      let text = decoder.decode(bytes, { stream: true })
      if (text !== "") {
        if (isAfterReturn && text.startsWith("\n")) text = text.slice(1)
        isAfterReturn = text.endsWith("\r")
      }
      let from = 0
      for (const end of text.matchAll(/\r\n|\n|\r/g)) {
        if (end.index > from) line.push(text.slice(from, end.index))
        take(events)
        from = end.index + end[0].length
      }
      if (from < text.length) {
        line.push(text.slice(from))
        lineLength += text.length - from
      }
      return lineLength + dataLength > most ? undefined : events
    },
    end: () => {
      const events: Array<string> = []
      if (line.length > 0) take(events)
      take(events)
      return events
    }
  }
}
