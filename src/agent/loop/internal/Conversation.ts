/** Holds the conversation of a run, and keeps it within the share of the model's window that it may use. */
import * as Prompt from "@effect/ai/Prompt"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as CallContext from "../../../domain/CallContext.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as TextCut from "../../../domain/TextCut.js"
import type { ToolDefinition } from "../../../toolset/Tool.js"
import type { Toolset } from "../../../toolset/Toolset.js"
import * as ResultImage from "../../model/ResultImage.js"
import type { Finished } from "../../model/Turn.js"
import * as History from "../History.js"
import * as Images from "../Images.js"
import type { Done } from "./TurnCalls.js"
import * as TurnCalls from "./TurnCalls.js"

/** A token has some four bytes; what a provider counts changes that within these bounds. */
const bytesPerToken = 4
const least = 1
const most = 8

/** A bound for images, whose tokens do not depend on their bytes. */
const mostFile = 8000

/** The bytes that a message has besides its text. */
const around = 16

/** The size of a conversation. */
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

/** An output in a conversation: its place, and its text. */
interface Output {
  readonly message: number
  readonly part: number
  readonly id: string
  readonly text: string
  /** True where the model has not seen it yet. */
  readonly isNew: boolean
}

/** A plan: the outputs to replace, and the number of messages from the beginning of which only those of users stay. */
export interface Plan {
  readonly outputs: ReadonlyArray<Output>
  readonly dropped: number
}

/** Outputs of fewer characters stay: a reference would hardly be shorter. */
const shortest = 600

/** The number of outputs that are replaced only where it does not do without. */
const newest = 3

/** The most characters that stay of the beginning, and of the end, of an output that the model has not seen yet. */
const excerpt = 1500

/** The bytes of a reference. */
const reference = 250

/**
 * Plans how to remove bytes from a conversation: `wanted` where old outputs allow it, `needed` in any case. For the
 * latter the newest outputs are replaced too, those that the model has not seen yet only down to an excerpt, and at last
 * the oldest messages are left out. Messages of users always stay, and the last message of the model with what follows.
 */
export const planCompaction = (
  messages: ReadonlyArray<Prompt.Message>,
  size: ContextSize,
  { needed, wanted }: { readonly needed: number; readonly wanted: number }
): Plan => {
  const all = outputsOf(messages)
  const seen = all.filter(({ isNew }) => !isNew)
  const old = seen.slice(0, Math.max(0, seen.length - newest))
  const outputs: Array<Output> = []
  let removed = 0
  const take = (candidates: ReadonlyArray<Output>, most: number) => {
    for (const output of candidates) {
      if (removed >= most) return
      outputs.push(output)
      removed += Buffer.byteLength(output.text) - reference - (output.isNew ? 2 * excerpt : 0)
    }
  }
  take(old, wanted)
  take(seen.slice(old.length), needed)
  const large = all.filter(({ isNew, text }) => isNew && text.length > 3 * excerpt)
  take(
    large.toSorted((a, b) => b.text.length - a.text.length),
    needed
  )
  const dropped = removed >= needed ? 0 : droppedOf(messages, size, outputs, wanted - removed)
  return { outputs: outputs.filter(({ message }) => message >= dropped), dropped }
}

const outputsOf = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Output> => {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  return messages.flatMap((message, at) =>
    message.role !== "tool"
      ? []
      : message.content.flatMap(({ id, result }, part) =>
          typeof result === "string" && result.length > shortest
            ? [{ message: at, part, id, text: result, isNew: at > last }]
            : []
        )
  )
}

/** Returns how many messages have to go; a message with results goes with the one that has their calls. */
const droppedOf = (
  messages: ReadonlyArray<Prompt.Message>,
  size: ContextSize,
  replaced: ReadonlyArray<Output>,
  most: number
): number => {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  let removed = 0
  for (let at = 0; at < last; at++) {
    const message = messages[at]
    if (message === undefined || message.role === "user") continue
    const saved = replaced.filter((output) => output.message === at)
    removed += size.of(message) - saved.reduce((sum, { text }) => sum + Buffer.byteLength(text) - reference, 0)
    if (removed >= most && messages[at + 1]?.role !== "tool") return at + 1
  }
  return Math.max(0, last)
}

/**
 * Carries out a plan.
 *
 * @param where returns the words that tell where an output can be read; undefined where it can't
 */
export const apply = (
  messages: ReadonlyArray<Prompt.Message>,
  { dropped, outputs }: Plan,
  where: (output: Output) => string | undefined
): ReadonlyArray<Prompt.Message> => {
  const replaced = messages.map((message, at) => {
    const own = outputs.filter((output) => output.message === at)
    if (message.role !== "tool" || own.length === 0) return message
    const content = message.content.map((part, index) => {
      const output = own.find((each) => each.part === index)
      return output === undefined ? part : { ...part, result: replace(output, where(output)) }
    })
    return Prompt.toolMessage({ content, options: message.options })
  })
  const [old, rest] = [replaced.slice(0, dropped), replaced.slice(dropped)]
  const first = old.findIndex(({ role }) => role !== "user")
  if (first < 0) return replaced
  const users = old.filter(({ role }) => role === "user")
  const left = old.length - users.length
  const note = `[${left} ${left === 1 ? "message was" : "messages were"} left out here, to save room]`
  return [
    ...users.slice(0, first),
    Prompt.userMessage({ content: [Prompt.textPart({ text: note })] }),
    ...users.slice(first),
    ...rest
  ]
}

const replace = ({ isNew, text }: Output, where: string | undefined): string => {
  const how = where ?? "run the command again where you need it"
  if (!isNew) return `[output left out to save room: ${text.length} characters; ${how}]`
  const [head, tail] = [TextCut.headOf(text, excerpt), TextCut.tailOf(text, excerpt)]
  const left = text.length - head.length - tail.length
  return `${head.trimEnd()}\n[… ${left} characters left out, for there is no room for them; ${how} …]\n${tail}`
}

/** An output to save, and the command that it is of. */
interface Unsaved {
  readonly id: string
  readonly command: string
  readonly text: string
}

/** The most characters of outputs in one file. */
const mostInFile = 400_000

/** The first line is longer than a line that is shown, so that the session keeps a file. */
const firstLine = `Outputs of earlier commands, each after its command:${" ".repeat(2100)}.`

/**
 * Saves outputs, and returns by their ids the words that tell where each can be read. An output that could not be saved
 * has none.
 *
 * @param status the exit code of the last command, which `$?` is to be afterwards
 * @param nextId makes the id of a call
 */
const save = (
  toolset: Context.Tag.Service<Toolset>,
  outputs: ReadonlyArray<Unsaved>,
  status: number,
  nextId: () => string
): Effect.Effect<ReadonlyMap<string, string>> =>
  Effect.gen(function* () {
    const places = new Map<string, string>()
    if (!toolset.tools.some(({ name }) => name === "Bash")) return places
    for (const batch of batches(outputs)) {
      const { ranges, text } = fileOf(batch)
      const { extras } = yield* toolset.handle({
        id: nextId(),
        name: "Bash",
        arguments: JSON.stringify({
          command: commandOf(text, status),
          description: "Saves outputs of earlier commands."
        })
      })
      if (extras.stdoutFile === undefined) continue
      for (const [id, [first, last]] of ranges) {
        places.set(id, `lines ${first} to ${last} of ${extras.stdoutFile} hold it`)
      }
    }
    return places
  }).pipe(CallContext.locally({ listener: {} }))

const batches = (outputs: ReadonlyArray<Unsaved>): ReadonlyArray<ReadonlyArray<Unsaved>> => {
  const all: Array<Array<Unsaved>> = []
  let length = mostInFile
  for (const output of outputs) {
    if (length + output.text.length > mostInFile) {
      all.push([])
      length = 0
    }
    all.at(-1)?.push(output)
    length += output.text.length
  }
  return all
}

const fileOf = (outputs: ReadonlyArray<Unsaved>) => {
  const ranges = new Map<string, readonly [number, number]>()
  const parts = [firstLine]
  let line = 1
  for (const { command, id, text } of outputs) {
    const lines = text.replace(/\n$/, "").replaceAll("\0", "\u2400").split("\n")
    parts.push(`$ ${ForeignText.line(command, 300)}`, ...lines)
    ranges.set(id, [line + 2, line + 1 + lines.length])
    line += 1 + lines.length
  }
  return { ranges, text: `${parts.join("\n")}\n` }
}

/** Encoded, the text names no path and no command that anything on the way could take for the command's own. */
const commandOf = (text: string, status: number): string => {
  const lines =
    Buffer.from(text)
      .toString("base64")
      .match(/.{1,1000}/g) ?? []
  return `base64 -d <<'END'\n${lines.join("\n")}\nEND\n(exit ${status})`
}

/** The share of the window from which on a conversation is made shorter, and the one that it then has. */
const mostShare = 0.75
const wantedShare = 0.5

/** The same, of what the provider has refused. */
const mostRefused = 0.6
const wantedRefused = 0.4

/** The share of a request that the next one has at least: some of what a model thought may not be sent again. */
const leastShare = 0.8

/** The number of refusals after which a run sends no images any more: the first may be for what one of them holds. */
const mostRefusals = 2

/** The number of outputs that were replaced, and of messages that were left out. */
export interface Compacted {
  readonly replaced: number
  readonly dropped: number
}

/** The conversation of a run. */
export interface Conversation {
  readonly system: string
  /** The messages that the next request holds. */
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly add: (message: Prompt.Message) => void
  readonly addResults: (done: ReadonlyArray<Done>) => void
  /** Makes a turn fit for the conversation, as `History.fit` does. */
  readonly own: <Turn extends Pick<Finished, "calls" | "message" | "text">>(turn: Turn) => Turn
  /** Returns an estimate of the tokens of the next request. */
  readonly tokens: () => number
  /** Returns the tokens that the next request has at least, by what the provider has counted. */
  readonly leastTokens: () => number
  /** Takes the tokens that the provider has counted for the messages. */
  readonly count: (tokens: number) => void
  /** Makes the conversation shorter where it has used up its share of the window; undefined where it stays as it is. */
  readonly fit: Effect.Effect<Compacted | undefined>
  /** Makes the conversation shorter, for the provider refuses it; undefined where nothing can be left out. */
  readonly shorten: Effect.Effect<Compacted | undefined>
  /** Leaves out all images, for the provider refuses the request; false where there are none. */
  readonly dropImages: () => boolean
}

/** The parts of a conversation. */
interface Options {
  readonly system: string
  readonly history: ReadonlyArray<Prompt.Message>
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly toolset: Context.Tag.Service<Toolset>
  readonly contextWindow: number
  readonly takesImages: boolean
  readonly idPrefix: string
}

/** Makes a conversation which goes on with a history. */
export const make = (options: Options): Conversation => {
  const { contextWindow, idPrefix, system, tools, toolset } = options
  let { takesImages } = options
  let refusals = 0
  const seen = (all: ReadonlyArray<Prompt.Message>) =>
    takesImages ? Images.bounded(all) : Images.without(all, refusals === 0 ? "off" : "refused")
  let messages = seen(History.repair(options.history))
  const ids = History.idsOf(messages)
  const size = new ContextSize(Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools)))
  /** The files that hold the whole outputs of calls. */
  const files = new Map<string, string>()
  /** The tokens of the last request; 0 since messages were left out. */
  let counted = 0
  let status = 0
  let saves = 0

  const compact = (bounds: { readonly needed: number; readonly wanted: number }) =>
    Effect.gen(function* () {
      const [images, bytes] = [Images.count(messages), size.bytes(messages)]
      messages = Images.without(messages, "room", "seen")
      const gone = images - Images.count(messages)
      const freed = bytes - size.bytes(messages)
      const plan = planCompaction(messages, size, { needed: bounds.needed - freed, wanted: bounds.wanted - freed })
      const replaced = plan.outputs.length + gone
      if (replaced === 0 && plan.dropped === 0) return undefined
      counted = 0
      const commands = commandsOf(messages)
      const unsaved = plan.outputs
        .filter(({ id }) => !files.has(id))
        .map(({ id, text }) => ({ id, text, command: commands.get(id) ?? "" }))
      const places = yield* save(toolset, unsaved, status, () => `${idPrefix}_${++saves}`)
      const dropped = messages.slice(0, plan.dropped).filter(({ role }) => role !== "user").length
      messages = apply(messages, plan, ({ id }) => files.get(id) ?? places.get(id))
      return { replaced, dropped }
    })

  return {
    system,
    get messages() {
      return messages
    },
    add: (message) => {
      messages = [...messages, message]
    },
    addResults: (done) => {
      messages = seen([...messages, History.toolMessage(done)])
      for (const { call, result } of done) {
        const { exitCode, stderr = "", stderrFile, stdoutFile } = result.extras
        status = exitCode ?? status
        if (stdoutFile !== undefined && stderrFile === undefined && stderr === "") {
          files.set(call.id, `all of it: ${stdoutFile}`)
        }
      }
    },
    own: (turn) => History.fit(turn, ids),
    tokens: () => Math.ceil(size.tokensOf(size.bytes(messages))),
    leastTokens: () => Math.floor(counted * leastShare),
    count: (tokens) => {
      counted = tokens
      size.count(messages, tokens)
    },
    fit: Effect.suspend(() => {
      const window = size.bytesOf(contextWindow)
      const bytes = size.bytes(messages)
      return bytes <= mostShare * window
        ? Effect.sync(() => undefined)
        : compact({ needed: bytes - mostShare * window, wanted: bytes - wantedShare * window })
    }),
    shorten: Effect.suspend(() => {
      const bytes = size.bytes(messages)
      const most = Math.min(bytes, size.bytesOf(contextWindow))
      return compact({ needed: bytes - mostRefused * most, wanted: bytes - wantedRefused * most })
    }),
    dropImages: () => {
      if (Images.count(messages) === 0) return false
      takesImages = ++refusals < mostRefusals
      messages = Images.without(messages, "refused")
      counted = 0
      return true
    }
  }
}

/** Returns the command lines of the calls, by their ids. */
const commandsOf = (messages: ReadonlyArray<Prompt.Message>): ReadonlyMap<string, string> =>
  new Map(
    messages.flatMap((message) =>
      History.callsOf(message).map(({ id, name, params }): [string, string] => [
        id,
        TurnCalls.of({ id, name, arguments: JSON.stringify(params) ?? "" })?.text ?? ""
      ])
    )
  )
