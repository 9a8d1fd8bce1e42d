import { type Answer, answerUsage, type Format } from "./dialect.ts";

type Event = { readonly type: string; readonly [field: string]: unknown };

export const anthropic: Format = {
  stream: (answer) =>
    events(answer).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  error: (message, { type }) => JSON.stringify({ type: "error", error: { type, message } }),
  overflow: {
    status: 400,
    body: JSON.stringify({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "prompt is too long: 212000 tokens > 200000 maximum",
      },
    }),
  },
};

const stopReasons = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" };

function events(answer: Answer): Event[] {
  const blocks = [...thinking(answer), ...text(answer), ...calls(answer)];
  return [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [],
        stop_reason: null,
        usage: {
          // Anthropic counts what is cached apart.
          input_tokens: answerUsage.input - answerUsage.cached,
          cache_read_input_tokens: answerUsage.cached,
          output_tokens: 1,
        },
      },
    },
    { type: "ping" },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block.start },
      ...block.deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stopReasons[answer.stop ?? "stop"], stop_sequence: null },
      usage: { output_tokens: answerUsage.output },
    },
    { type: "message_stop" },
  ];
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function thinking({ reasoning }: Answer): Block[] {
  if (reasoning === undefined) return [];
  const deltas = reasoning.map((each) => ({ type: "thinking_delta", thinking: each }));
  return [
    {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [...deltas, { type: "signature_delta", signature: "signed" }],
    },
  ];
}

function text({ text: pieces }: Answer): Block[] {
  if (pieces === undefined) return [];
  const deltas = pieces.map((each) => ({ type: "text_delta", text: each }));
  return [{ start: { type: "text", text: "" }, deltas }];
}

function calls({ calls: all = [] }: Answer): Block[] {
  return all.map(({ id, tool, raw }) => ({
    start: { type: "tool_use", id, name: tool, input: {} },
    deltas: raw.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  }));
}
