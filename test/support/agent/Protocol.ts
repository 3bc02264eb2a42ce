/** The answers of a model in the protocols of Anthropic, OpenAI, and OpenAI-compatible servers, as they are documented. */
import type { Answer } from "./ModelServer.js"

export interface Call {
  readonly id: string
  readonly name: string
  /** JSON text, or any other. */
  readonly arguments: string
}

type Kind = "messages" | "responses" | "chat"

const kindOf = (path: string): Kind =>
  path.endsWith("/messages") ? "messages" : path.endsWith("/responses") ? "responses" : "chat"

/** The events of a stream, each as its text. */
export const events = (path: string, answer: Answer, model: string): ReadonlyArray<string> => {
  switch (kindOf(path)) {
    case "messages":
      return messageEvents(answer, model).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    case "responses":
      return responseEvents(answer, model).map(
        (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`
      )
    default:
      return [...chatChunks(answer, model).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"]
  }
}

type Event = { readonly type: string } & Record<string, unknown>

/** Text in two halves, as models write arguments. */
const halves = (text: string): ReadonlyArray<string> => {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "")
}

const messageUsage = ({ usage }: Answer) =>
  usage === undefined
    ? {}
    : {
        usage: {
          input_tokens: usage.input - usage.cached,
          cache_read_input_tokens: usage.cached,
          cache_creation_input_tokens: 0,
          output_tokens: 1
        }
      }

const messageEvents = (answer: Answer, model: string): ReadonlyArray<Event> => {
  const blocks: Array<ReadonlyArray<Event>> = []
  const block = (content: object, deltas: ReadonlyArray<object>) => {
    const index = blocks.length
    blocks.push([
      { type: "content_block_start", index, content_block: content },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index }
    ])
  }
  if (answer.reasoning.length > 0) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...answer.reasoning.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "sig-1" }
    ])
  }
  if (answer.text.length > 0) {
    block(
      { type: "text", text: "" },
      answer.text.map((text) => ({ type: "text_delta", text }))
    )
  }
  for (const call of answer.calls) {
    block(
      { type: "tool_use", id: call.id, name: call.name, input: {} },
      halves(call.arguments).map((partial_json) => ({ type: "input_json_delta", partial_json }))
    )
  }
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null }
  return [
    { type: "message_start", message: { ...message, stop_sequence: null, ...messageUsage(answer) } },
    { type: "ping" },
    ...blocks.flat(),
    {
      type: "message_delta",
      delta: { stop_reason: answer.reason, stop_sequence: null },
      ...(answer.usage === undefined ? {} : { usage: { output_tokens: answer.usage.output } })
    },
    { type: "message_stop" }
  ]
}

const outputOf = (answer: Answer): ReadonlyArray<Record<string, unknown>> => [
  ...(answer.reasoning.length === 0
    ? []
    : [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: answer.reasoning.join("") }] }]),
  ...(answer.text.length === 0
    ? []
    : [
        {
          type: "message",
          id: "item_msg",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: answer.text.join(""), annotations: [] }]
        }
      ]),
  ...answer.calls.map((call, at) => ({
    type: "function_call",
    id: `fc_${at}`,
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
    status: "completed"
  }))
]

const wholeResponse = (answer: Answer, model: string): Record<string, unknown> => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model,
  status: answer.reason === "max_tokens" ? "incomplete" : "completed",
  incomplete_details: answer.reason === "max_tokens" ? { reason: "max_output_tokens" } : null,
  error: null,
  output: outputOf(answer),
  ...(answer.usage === undefined
    ? {}
    : {
        usage: {
          input_tokens: answer.usage.input,
          input_tokens_details: { cached_tokens: answer.usage.cached },
          output_tokens: answer.usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: answer.usage.input + answer.usage.output
        }
      })
})

const responseEvents = (answer: Answer, model: string): ReadonlyArray<Event> => {
  const response = wholeResponse(answer, model)
  const begun = { ...response, status: "in_progress", output: [], usage: null }
  const items = outputOf(answer).flatMap((item, output_index): ReadonlyArray<Event> => {
    const at = { output_index, item_id: item["id"] }
    const middle: ReadonlyArray<Event> =
      item["type"] === "function_call"
        ? [
            ...halves(String(item["arguments"])).map((delta) => ({
              type: "response.function_call_arguments.delta",
              ...at,
              delta
            })),
            { type: "response.function_call_arguments.done", ...at, arguments: item["arguments"] }
          ]
        : item["type"] === "message"
          ? [
              { type: "response.content_part.added", ...at, content_index: 0, part: { type: "output_text", text: "" } },
              ...answer.text.map((delta) => ({ type: "response.output_text.delta", ...at, content_index: 0, delta })),
              { type: "response.output_text.done", ...at, content_index: 0, text: answer.text.join("") }
            ]
          : answer.reasoning.map((delta) => ({
              type: "response.reasoning_summary_text.delta",
              ...at,
              summary_index: 0,
              delta
            }))
    const { arguments: _arguments, content: _content, ...added } = item
    const empty = item["type"] === "function_call" ? { arguments: "" } : { content: [] }
    return [
      { type: "response.output_item.added", output_index, item: { ...added, ...empty, status: "in_progress" } },
      ...middle,
      { type: "response.output_item.done", output_index, item }
    ]
  })
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items,
    { type: answer.reason === "max_tokens" ? "response.incomplete" : "response.completed", response }
  ]
}

const chatReason = {
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter"
} as const

const chatUsage = ({ usage }: Answer) =>
  usage && {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached }
  }

const chatChunks = (answer: Answer, model: string): ReadonlyArray<object> => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model,
    choices: [{ index: 0, delta, finish_reason }]
  })
  return [
    chunk({ role: "assistant", content: "" }),
    ...answer.reasoning.map((reasoning_content) => chunk({ reasoning_content })),
    ...answer.text.map((content) => chunk({ content })),
    ...answer.calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
      ...halves(call.arguments).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] }))
    ]),
    chunk({}, chatReason[answer.reason]),
    ...(answer.usage === undefined
      ? []
      : [
          {
            id: "chatcmpl-1",
            object: "chat.completion.chunk",
            created: 1,
            model,
            choices: [],
            usage: chatUsage(answer)
          }
        ])
  ]
}
