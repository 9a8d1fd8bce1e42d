import { type Answer, answerUsage, type Format } from "./dialect.ts";

type Event = { readonly type: string; readonly [field: string]: unknown };

export const openaiResponses: Format = {
  stream: (answer) =>
    events(answer).map(
      (event, sequence_number) =>
        `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    ),
  error: (message, { type }) =>
    JSON.stringify({ error: { message, type, param: null, code: null } }),
  overflow: {
    status: 400,
    body: JSON.stringify({
      error: {
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    }),
  },
};

function events(answer: Answer): Event[] {
  const response = { id: "resp_1", created_at: 1_760_000_000, model: "gpt-5" };
  const isCut = answer.stop === "length";
  const output = [...reasoning(answer), ...message(answer), ...calls(answer)];
  return [
    { type: "response.created", response },
    ...output,
    {
      type: isCut ? "response.incomplete" : "response.completed",
      response: {
        ...response,
        incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
        usage: {
          input_tokens: answerUsage.input,
          input_tokens_details: { cached_tokens: answerUsage.cached },
          output_tokens: answerUsage.output,
          output_tokens_details: { reasoning_tokens: answerUsage.reasoning },
        },
      },
    },
  ];
}

function reasoning({ reasoning: texts }: Answer): Event[] {
  if (texts === undefined) return [];
  const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };
  const at = { item_id: "rs_1", output_index: 0, summary_index: 0 };
  return [
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.reasoning_summary_part.added", ...at },
    ...texts.map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
    { type: "response.reasoning_summary_part.done", ...at },
    { type: "response.output_item.done", output_index: 0, item },
  ];
}

function message({ text }: Answer): Event[] {
  if (text === undefined) return [];
  const item = { type: "message", id: "msg_1", role: "assistant", content: [] };
  const at = { item_id: "msg_1", output_index: 1, content_index: 0 };
  return [
    { type: "response.output_item.added", output_index: 1, item },
    ...text.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
    { type: "response.output_item.done", output_index: 1, item },
  ];
}

function calls({ calls: all = [] }: Answer): Event[] {
  return all.flatMap(({ id, tool, raw }, index) => {
    const output_index = index + 2;
    const item = { type: "function_call", id: `fc_${id}`, call_id: id, name: tool };
    return [
      { type: "response.output_item.added", output_index, item: { ...item, arguments: "" } },
      ...raw.map((delta) => ({
        type: "response.function_call_arguments.delta",
        item_id: item.id,
        output_index,
        delta,
      })),
      {
        type: "response.output_item.done",
        output_index,
        item: { ...item, arguments: raw.join(""), status: "completed" },
      },
    ];
  });
}
