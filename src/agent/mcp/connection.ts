import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { Answer, ToolContext } from "#agent/toolset.ts";
import { messageOf } from "#base/errno.ts";
import { limits } from "#contract/limits.ts";
import { defined } from "#contract/values/defined.ts";
import { CallsInFlight } from "./calls-in-flight.ts";
import { describeFailure, describeLateness, hideSecrets, isGone } from "./describe-failure.ts";
import { describePrompt } from "./describe-result.ts";
import type { McpDeps, McpSdk, Server } from "./server.ts";

/** For a server to be there and to say what it has; as long for each later question about that. */
export const ANSWER_MS = 30_000;
/** Time is measured by our clock; the SDK's own limit is the longest that there is. */
const NEVER_MS = 2 ** 31 - 1;
const PAGES_MOST = 100;
const INSTRUCTION_CHARS = 8192;
const ERRORS_LOGGED = 20;

/** What happens without being asked for. */
export interface ConnectionEvents {
  readonly onToolsChanged: () => void;
  /** At most once, and never after it was disposed. */
  readonly onLost: (problem: string) => void;
}

interface ConnectionParts {
  readonly client: Client;
  readonly server: Server;
  readonly sdk: McpSdk;
  readonly deps: McpDeps;
  readonly events: ConnectionEvents;
}

interface ServerCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const Cursor = z.string().optional();
const ToolsPage = z
  .object({ tools: z.array(z.unknown()), nextCursor: Cursor })
  .transform(({ tools, nextCursor }) => ({ items: tools, nextCursor }));
const PromptsPage = z
  .object({ prompts: z.array(z.unknown()), nextCursor: Cursor })
  .transform(({ prompts, nextCursor }) => ({ items: prompts, nextCursor }));
const QuestionSchema = z.record(z.string(), z.json());
/** What the protocol can carry. */
const Content = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);

/** A server that we talk to. The message of what is thrown is a sentence that can be shown. */
export class Connection implements AsyncDisposable {
  readonly #parts: ConnectionParts;
  readonly #calls: CallsInFlight;
  #isOver = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#calls = new CallsInFlight(parts.deps);
    const { client, events } = parts;
    client.onerror = this.#createErrorLog();
    client.onclose = () => this.#lose(new Error("the connection was closed"));
    client.setNotificationHandler("notifications/tools/list_changed", events.onToolsChanged);
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      // Only forms were offered.
      if (params.mode === "url") return { action: "decline" };
      const schema = QuestionSchema.parse(params.requestedSchema);
      return describeAnswer(await this.#calls.answer({ message: params.message, schema }));
    });
  }

  get instruction(): string | undefined {
    return this.#parts.client.getInstructions()?.slice(0, INSTRUCTION_CHARS);
  }

  async greet(signal: AbortSignal): Promise<void> {
    const { client, server } = this.#parts;
    await this.#answerOf(signal, (options) => client.connect(server.transport, options));
  }

  /** As the server describes them, not checked. */
  async listTools(signal: AbortSignal): Promise<readonly unknown[]> {
    if (this.#parts.client.getServerCapabilities()?.tools === undefined) return [];
    return await this.#answerOf(signal, (options) =>
      this.#list((params) =>
        this.#parts.client.request({ method: "tools/list", params }, ToolsPage, options),
      ),
    );
  }

  async listPrompts(signal: AbortSignal): Promise<readonly unknown[]> {
    if (this.#parts.client.getServerCapabilities()?.prompts === undefined) return [];
    return await this.#answerOf(signal, (options) =>
      this.#list((params) =>
        this.#parts.client.request({ method: "prompts/list", params }, PromptsPage, options),
      ),
    );
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string> {
    const { client } = this.#parts;
    const never = new AbortController().signal;
    return await this.#answerOf(never, async (options) =>
      describePrompt(await client.getPrompt({ name, arguments: { ...args } }, options)),
    );
  }

  async call({ tool, input }: ServerCall, context: ToolContext): Promise<CallToolResult> {
    const { client } = this.#parts;
    const call = this.#calls.open(context);
    try {
      return await client.callTool(
        { name: tool, arguments: { ...input } },
        {
          signal: call.signal,
          timeout: NEVER_MS,
          onprogress: (progress) => call.report(progress),
        },
      );
    } catch (error) {
      throw call.problem === undefined ? this.#explain(error) : new Error(call.problem);
    } finally {
      this.#calls.close(call);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const { client, server, deps } = this.#parts;
    await server.close();
    try {
      await client.close();
    } catch (error) {
      // It is gone anyway.
      deps.log.warn("an MCP client could not be closed", { error: messageOf(error) });
    }
  }

  async #answerOf<T>(
    signal: AbortSignal,
    ask: (options: { readonly signal: AbortSignal; readonly timeout: number }) => Promise<T>,
  ): Promise<T> {
    const { server, deps } = this.#parts;
    const late = new AbortController();
    using _timer = deps.clock.timer(ANSWER_MS, () => late.abort());
    try {
      return await ask({ signal: AbortSignal.any([signal, late.signal]), timeout: NEVER_MS });
    } catch (error) {
      throw late.signal.aborted
        ? new Error(describeLateness(server, ANSWER_MS), { cause: error })
        : this.#explain(error);
    }
  }

  async #list(
    ask: (params: Record<string, unknown>) => Promise<z.output<typeof ToolsPage>>,
  ): Promise<readonly unknown[]> {
    const items: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MOST && items.length < limits.tools_per_agent; page += 1) {
      const { items: more, nextCursor } = await ask(defined({ cursor }));
      items.push(...more);
      if (nextCursor === undefined || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return items.slice(0, limits.tools_per_agent);
  }

  #explain(error: unknown): Error {
    const { server, sdk } = this.#parts;
    if (isGone(error, sdk)) this.#lose(error);
    return new Error(describeFailure(error, server, sdk), { cause: error });
  }

  #lose(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { server, sdk, events } = this.#parts;
    events.onLost(describeFailure(error, server, sdk));
  }

  #createErrorLog(): (error: Error) => void {
    const { deps, server } = this.#parts;
    let errors = 0;
    return (error) => {
      errors += 1;
      if (errors > ERRORS_LOGGED) return;
      deps.log.warn("an MCP server was not understood", {
        server: server.label,
        error: hideSecrets(error.message, server.secrets).slice(0, limits.detail_chars),
      });
    };
  }
}

function describeAnswer({ action, content }: Answer) {
  if (action !== "accept" || content === undefined) return { action };
  return { action, content: Content.parse(content) };
}
