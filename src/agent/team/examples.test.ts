import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import type { Clock } from "#base/clock.ts";
import { openModels } from "#model/chain/open-models.ts";
import type { AssistantPart, Model, ModelMessage, ModelToolResult } from "#model/model.ts";
import { keyNamesOf, modelReferences } from "./describe-team.ts";
import { loadTeam } from "./load-team.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const examples = globSync("examples/*.yaml", { cwd: root }).sort();
const keyless = examples.filter((path) => keyNamesOf(load(path)).length === 0);

test("there are a dozen, and several need no key", () => {
  expect(examples.length).toBeGreaterThanOrEqual(12);
  expect(keyless.map((path) => basename(path))).toEqual(
    expect.arrayContaining(["hello.yaml", "proof.yaml", "questions.yaml", "hooks.yaml"]),
  );
});

describe.each(examples)("%s", (path) => {
  test("loads without a warning", () => {
    expect(load(path).warnings).toEqual([]);
  });

  test("is right for an editor too, which it tells where the schema is", () => {
    expect(read(path)).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/schema\/team\.schema\.json\n/,
    );
    const schema = z.fromJSONSchema(JSON.parse(read("schema/team.schema.json")));
    expect(schema.safeParse(parse(read(path))).error).toBeUndefined();
  });

  test("names the keys that it needs, and no others", () => {
    const named =
      read(path)
        .match(/^# .*$/gm)
        ?.join("\n")
        .match(/\b[A-Z_]+_API_KEY\b/g) ?? [];
    expect([...new Set(named)].sort()).toEqual(keyNamesOf(load(path)).sort());
  });
});

test.each(keyless)("%s opens its models without a key", (path) => {
  const team = load(path);
  using models = open(path);
  for (const reference of modelReferences(team)) expect(models.get(reference).id).toContain("/");
});

describe("hello", () => {
  test("greets, then writes, edits and reads a file", async () => {
    using models = open("examples/hello.yaml");
    const files = new Map<string, string>();
    const told = await play(models.get("guide"), ["hi", "yes", "and now?"], (call) =>
      useFile(files, call),
    );
    expect(told).toEqual([
      expect.stringMatching(/^Hello! I am a script/),
      "I write hello-reins.txt.",
      "write_file",
      "Written. Now I change one word of it.",
      "edit_file",
      "Reading needs no question.",
      "read_file",
      expect.stringMatching(/^There it is\./),
      expect.stringMatching(/^That was the whole tour\./),
    ]);
    expect(files.get("hello-reins.txt")).toBe("Hello, Reins.\n");
  });

  test("takes a no for an answer", async () => {
    using models = open("examples/hello.yaml");
    const told = await play(models.get("guide"), ["hi", "yes"], () => refused("rejected"));
    expect(told.slice(1)).toEqual([
      "I write hello-reins.txt.",
      "write_file",
      expect.stringMatching(/^That did not happen/),
    ]);
  });
});

describe("proof", () => {
  test("writes, edits, serves, checks, delegates, and stops when it is told to", async () => {
    using models = open("examples/proof.yaml");
    const told = await play(models.get("lead"), ["start", "stop"], ({ tool, input }) => {
      if (tool === "transfer_task") return done("The title is: Hello from Reins");
      if (JSON.stringify(input).includes("check.mjs"))
        return done("<title>Hello from Reins</title>");
      return done("ok");
    });
    expect(told.filter((line) => !line.includes(" "))).toEqual([
      ...["write_file", "write_file", "write_file", "write_file", "edit_file"],
      ...["execute", "execute", "transfer_task", "execute"],
    ]);
    expect(told.at(-1)).toBe("The server is stopped.");
  });

  test("has a helper that reads and answers", async () => {
    using models = open("examples/proof.yaml");
    const page = "<title>Hello from Reins</title>";
    const told = await play(models.get("checker"), ["Read index.html"], () => done(page));
    expect(told).toEqual(["read_file", "The title is: Hello from Reins"]);
  });
});

/** Nobody watches, so nothing is waited for. */
const hurriedClock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  timer: (_ms, run) => {
    let isOff = false;
    queueMicrotask(() => void (isOff || run()));
    return {
      [Symbol.dispose]: () => {
        isOff = true;
      },
    };
  },
};

type Call = Extract<AssistantPart, { type: "tool_call" }>;
type Outcome = Pick<ModelToolResult, "output" | "is_error">;

const CALLS_IN_A_TURN = 20;
/** What agents of the examples may call. */
const tools = ["write_file", "edit_file", "execute", "transfer_task", "read_file"];

/** What a model says and calls, when these messages are sent and its calls get these answers. */
async function play(
  model: Model,
  said: readonly string[],
  answer: (call: Call) => Outcome,
): Promise<string[]> {
  const messages: ModelMessage[] = [];
  const told: string[] = [];
  for (const text of said) {
    messages.push({ role: "user", content: [{ type: "text", text }] });
    for (let count = 0; count < CALLS_IN_A_TURN; count += 1) {
      const parts = await askOnce(model, messages);
      told.push(...parts.map((part) => (part.type === "tool_call" ? part.tool : part.text)));
      messages.push({ role: "assistant", model: model.id, parts });
      const calls = parts.filter((part) => part.type === "tool_call");
      if (calls.length === 0) break;
      const results = calls.map((call) => ({
        ...answer(call),
        call_id: call.call_id,
        tool: call.tool,
      }));
      messages.push({ role: "tool", results });
    }
  }
  return told;
}

async function askOnce(model: Model, messages: readonly ModelMessage[]): Promise<AssistantPart[]> {
  const isHelper = model.id.endsWith("checker");
  const offered = isHelper ? ["read_file"] : tools;
  const request = {
    messages,
    tools: offered.map((name) => ({ name, description: "", input_schema: {} })),
  };
  let text = "";
  const calls: AssistantPart[] = [];
  for await (const chunk of model.stream(request, { signal: new AbortController().signal })) {
    if (chunk.type === "text_delta") text += chunk.text;
    if (chunk.type === "call_end")
      calls.push({ type: "tool_call", call_id: chunk.key, tool: chunk.tool, input: chunk.input });
  }
  return text === "" ? calls : [{ type: "text", text }, ...calls];
}

const FileInput = z.object({
  path: z.string(),
  content: z.string().optional(),
  edits: z.array(z.object({ old: z.string(), new: z.string() })).optional(),
});

function useFile(files: Map<string, string>, call: Call): Outcome {
  const { path, content, edits = [] } = FileInput.parse(call.input);
  const before = content ?? files.get(path);
  if (before === undefined) return refused("there is no such file");
  files.set(
    path,
    edits.reduce((text, edit) => text.replace(edit.old, edit.new), before),
  );
  return done(files.get(path) ?? "");
}

function done(output: string): Outcome {
  return { output, is_error: false };
}

function refused(output: string): Outcome {
  return { output, is_error: true };
}

function open(path: string) {
  const team = load(path);
  return openModels({
    models: team.models,
    providers: team.providers,
    keys: {},
    base_dir: join(root, "examples"),
    scripts: (file) => readFileSync(file, "utf8"),
    clock: hurriedClock,
  });
}

function load(path: string) {
  return loadTeam({ yaml: read(path), name: path, base_dir: join(root, "examples") });
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
