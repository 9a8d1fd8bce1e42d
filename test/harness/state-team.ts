import { inline, scripted } from "./runtimes.ts";

/** An agent whose model works for long, asks to write a file, or fails, by the word in the message. */
export const STATE_TEAM = inline(
  scripted(
    [
      { when: { last_user_contains: "slow" }, delay_ms: 600_000, text: "Never." },
      {
        when: { last_user_contains: "file", last_role: "user" },
        tool_calls: [{ tool: "write_file", input: { path: "a.txt", content: "a\n" } }],
      },
      { when: { last_user_contains: "fail" }, error: { cause: "refused", message: "I refuse." } },
      { text: "Done with it.", repeat: true },
    ],
    { toolsets: [{ type: "filesystem" }] },
  ),
);
