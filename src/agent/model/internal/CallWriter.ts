/** Writes a model's tool calls as parts of a response. */
import type * as Response from "@effect/ai/Response"

/** Writes the calls of one answer. A call is known to the protocol by a key. */
export interface CallWriter {
  /** Begins a call; does nothing for one that has begun. */
  readonly start: (key: string | number, id: string, name: string) => ReadonlyArray<Response.StreamPartEncoded>
  readonly delta: (key: string | number, text: string) => ReadonlyArray<Response.StreamPartEncoded>
  /** Ends a call; `whole` is the text of its arguments, where no delta has come. */
  readonly end: (key: string | number, whole?: string) => ReadonlyArray<Response.StreamPartEncoded>
  /** Ends all calls that are open. */
  readonly endAll: () => ReadonlyArray<Response.StreamPartEncoded>
  /** The number of calls so far. */
  readonly count: () => number
}

/** The longest id that every provider takes back. */
const longestId = 64

/** The object that a text stands for; undefined where it is none. */
const parse = (text: string): unknown => {
  try {
    return text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Makes the writer of one answer. Each call gets an id of its own, for some servers give none, or the same one twice. A
 * call becomes a `tool-call` part only where its tool is one of `tools` and its arguments are JSON, since `@effect/ai`
 * fails the whole answer otherwise; its text is in the `tool-params` parts in any case.
 */
export const make = (tools: ReadonlySet<string>): CallWriter => {
  interface Open {
    readonly id: string
    readonly name: string
    text: string
    isOpen: boolean
  }
  const calls = new Map<string | number, Open>()
  const ids = new Set<string>()

  const idFor = (wanted: string): string => {
    const base = wanted === "" || wanted.length > longestId ? `call_${ids.size + 1}` : wanted
    let id = base
    for (let count = 2; ids.has(id); count++) id = `${base.slice(0, longestId - 6)}_${count}`
    ids.add(id)
    return id
  }
  const end: CallWriter["end"] = (key, whole = "") => {
    const call = calls.get(key)
    if (call?.isOpen !== true) return []
    call.isOpen = false
    const { id, name } = call
    const missing: ReadonlyArray<Response.StreamPartEncoded> =
      call.text === "" && whole !== "" ? [{ type: "tool-params-delta", id, delta: whole }] : []
    const params = parse(call.text === "" ? whole : call.text)
    const known: ReadonlyArray<Response.StreamPartEncoded> =
      tools.has(name) && params !== undefined ? [{ type: "tool-call", id, name, params }] : []
    return [...missing, { type: "tool-params-end", id }, ...known]
  }
  return {
    start: (key, wanted, name) => {
      if (calls.has(key)) return []
      const id = idFor(wanted)
      calls.set(key, { id, name, text: "", isOpen: true })
      return [{ type: "tool-params-start", id, name }]
    },
    delta: (key, text) => {
      const call = calls.get(key)
      if (call?.isOpen !== true || text === "") return []
      call.text += text
      return [{ type: "tool-params-delta", id: call.id, delta: text }]
    },
    end,
    endAll: () => [...calls.keys()].flatMap((key) => end(key)),
    count: () => calls.size
  }
}
