/** Steps of scripts that several teams have. */

/** Told to write, an agent does; `more` stands beside the call. */
export const writing = (more: object = {}): readonly object[] => [
  {
    when: { last_user_contains: "write", last_role: "user" },
    tool_calls: [{ tool: "write_file", input: { path: "note.txt", content: "noted\n" } }],
    ...more,
  },
  { when: { last_user_contains: "write", tool_error: true }, text: "It was refused." },
  { when: { last_user_contains: "write", last_role: "tool" }, text: "It is written." },
];

/** Told to ask, it asks for a colour and answers so to blue. */
export const asking = (blue: string): readonly object[] => [
  {
    when: { last_user_contains: "ask me", last_role: "user" },
    tool_calls: [
      { tool: "user_prompt", input: { message: "Which colour?", options: ["red", "blue"] } },
    ],
  },
  { when: { last_user_contains: "ask me", last_tool_result_contains: "blue" }, text: blue },
];
