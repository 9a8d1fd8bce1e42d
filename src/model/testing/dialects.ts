import { anthropic } from "./anthropic.ts";
import type { Dialect } from "./dialect.ts";
import { google } from "./google.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

export const KEY = "key-for-tests-0123456789";
const token_key = "TEST_KEY";
export const keys: Readonly<Record<string, string>> = { [token_key]: KEY };

export const dialects: readonly Dialect[] = [
  {
    name: "OpenAI responses",
    reference: "openai/gpt-5",
    provider: { api_type: "openai_responses", token_key },
    base_path: "/v1",
    path: "/v1/responses",
    ...openaiResponses,
  },
  {
    name: "OpenAI chat completions",
    reference: "openai/gpt-4o",
    provider: { api_type: "openai_chatcompletions", token_key },
    base_path: "/v1",
    path: "/v1/chat/completions",
    ...openaiChat,
  },
  {
    name: "OpenAI-compatible",
    reference: "local/some/model",
    provider: { token_key },
    base_path: "/v1",
    path: "/v1/chat/completions",
    ...openaiChat,
    overflow: {
      status: 400,
      body: JSON.stringify({
        error: {
          code: 400,
          message:
            "the request exceeds the available context size. try increasing the context size",
          type: "exceed_context_size_error",
        },
      }),
    },
  },
  {
    name: "Anthropic messages",
    reference: "anthropic/claude-sonnet-4-5",
    provider: { api_type: "anthropic", token_key },
    base_path: "/v1",
    path: "/v1/messages",
    ...anthropic,
  },
  {
    name: "Google streamGenerateContent",
    reference: "google/gemini-2.5-flash",
    provider: { api_type: "google", token_key },
    base_path: "/v1beta",
    path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    ...google,
  },
];

export function getDialect(name: string): Dialect {
  const found = dialects.find((dialect) => dialect.name === name);
  if (found === undefined) throw new Error(`no dialect ${name}`);
  return found;
}
