/**
 * Holds the conversation of a run, and keeps it within the share of the model's window that it may use.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ToolDefinition } from "../../toolset/Tool.js"
import type { Toolset } from "../../toolset/Toolset.js"
import type { Finished } from "../model/TurnPart.js"
import * as CalledLine from "./CalledLine.js"
import * as Compaction from "./Compaction.js"
import { ContextSize } from "./ContextSize.js"
import * as History from "./History.js"
import * as Images from "./Images.js"
import * as SavedOutputs from "./SavedOutputs.js"
import type { Done } from "./TurnCalls.js"

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

/**
 * The number of outputs that were replaced, and of messages that were left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Compacted {
  readonly replaced: number
  readonly dropped: number
}

/**
 * The conversation of a run.
 *
 * @since 0.1.0
 * @category models
 */
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

/**
 * Makes a conversation which goes on with a history.
 *
 * @since 0.1.0
 * @category constructors
 */
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
      const plan = Compaction.plan(messages, size, { needed: bounds.needed - freed, wanted: bounds.wanted - freed })
      const replaced = plan.outputs.length + gone
      if (replaced === 0 && plan.dropped === 0) return undefined
      counted = 0
      const commands = commandsOf(messages)
      const unsaved = plan.outputs
        .filter(({ id }) => !files.has(id))
        .map(({ id, text }) => ({ id, text, command: commands.get(id) ?? "" }))
      const places = yield* SavedOutputs.save(toolset, unsaved, status, () => `${idPrefix}_${++saves}`)
      const dropped = messages.slice(0, plan.dropped).filter(({ role }) => role !== "user").length
      messages = Compaction.apply(messages, plan, ({ id }) => files.get(id) ?? places.get(id))
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
        CalledLine.of({ id, name, arguments: JSON.stringify(params) ?? "" })?.text ?? ""
      ])
    )
  )
