/** A team of one agent that answers whatever it is told by this step, again and again. */
export function repeatingTeam(step: {
  readonly deltas: readonly string[];
  readonly every_ms?: number;
}): string {
  return JSON.stringify({
    agents: { root: { model: "main", description: "Answers.", instruction: "Answer." } },
    models: { main: { provider: "scripted", script: [{ ...step, repeat: true }] } },
  });
}

/** A team of one agent that calls a tool so many times in each turn: every call is several events. */
export function callingTeam(calls: number): string {
  const call = { tool: "think", input: { thought: "Is there a better way?" } };
  const script = [
    { when: { last_role: "user" }, tool_calls: Array.from({ length: calls }, () => call) },
    { when: { last_role: "tool" }, text: "Done." },
  ];
  const toolsets = [{ type: "think" }];
  return JSON.stringify({
    agents: { root: { model: "main", description: "Thinks.", instruction: "Think.", toolsets } },
    models: { main: { provider: "scripted", script } },
  });
}

/** Each piece is unlike the others, so that one that is lost, doubled or out of place shows. */
export function numberedPieces(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `piece ${index} `);
}
