import { type Answer, answerUsage, type Format } from "./dialect.ts";

export const google: Format = {
  stream: (answer) => chunks(answer).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
  error: (message, { type, status }) =>
    JSON.stringify({ error: { code: status, message, status: type } }),
  overflow: {
    status: 400,
    body: JSON.stringify({
      error: {
        code: 400,
        message:
          "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    }),
  },
};

const finishReasons = { stop: "STOP", length: "MAX_TOKENS", tool_calls: "STOP" };

function chunks(answer: Answer): object[] {
  const parts = [
    ...(answer.reasoning ?? []).map((text) => ({ text, thought: true })),
    ...(answer.text ?? []).map((text) => ({ text })),
    // Google sends the arguments of a call in one piece.
    ...(answer.calls ?? []).map(({ tool, raw }) => ({
      functionCall: { name: tool, args: JSON.parse(raw.join("") || "{}") },
      thoughtSignature: "signed",
    })),
  ];
  return [
    ...parts.map((part) => ({
      candidates: [{ content: { role: "model", parts: [part] }, index: 0 }],
    })),
    {
      candidates: [
        {
          content: { role: "model", parts: [{ text: "" }] },
          finishReason: finishReasons[answer.stop ?? "stop"],
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: answerUsage.input,
        cachedContentTokenCount: answerUsage.cached,
        candidatesTokenCount: answerUsage.output - answerUsage.reasoning,
        thoughtsTokenCount: answerUsage.reasoning,
        totalTokenCount: answerUsage.input + answerUsage.output,
      },
    },
  ];
}
