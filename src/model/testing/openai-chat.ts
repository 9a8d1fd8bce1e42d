import { type Answer, answerUsage, type Format } from "./dialect.ts";

export const openaiChat: Format = {
  stream: (answer) => [
    ...chunks(answer).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
    "data: [DONE]\n\n",
  ],
  error: (message, { type }) =>
    JSON.stringify({ error: { message, type, param: null, code: null } }),
  overflow: {
    status: 400,
    body: JSON.stringify({
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    }),
  },
};

const head = {
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_760_000_000,
  model: "m",
};

function chunks(answer: Answer): object[] {
  const delta = (fields: object) => ({
    ...head,
    choices: [{ index: 0, delta: fields, finish_reason: null }],
  });
  const calls = (answer.calls ?? []).flatMap(({ id, tool, raw }, index) => [
    delta({
      tool_calls: [{ index, id, type: "function", function: { name: tool, arguments: "" } }],
    }),
    ...raw.map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [
    delta({ role: "assistant", content: "" }),
    ...(answer.reasoning ?? []).map((text) => delta({ reasoning_content: text })),
    ...(answer.text ?? []).map((text) => delta({ content: text })),
    ...calls,
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: answer.stop ?? "stop" }] },
    {
      ...head,
      choices: [],
      usage: {
        prompt_tokens: answerUsage.input,
        completion_tokens: answerUsage.output,
        total_tokens: answerUsage.input + answerUsage.output,
        prompt_tokens_details: { cached_tokens: answerUsage.cached },
        completion_tokens_details: { reasoning_tokens: answerUsage.reasoning },
      },
    },
  ];
}
