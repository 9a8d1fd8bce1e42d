import { randomId } from "#base/random-id.ts";
import { readMessage } from "#cli/control/message-word.ts";
import { openTarget, printJson, type Target, targetOptions } from "#cli/control/target-options.ts";
import { notice } from "#cli/program/exit.ts";
import { parseOptions } from "#cli/program/options.ts";
import { Framing } from "#contract/agent/message.ts";
import { Fault } from "#contract/fault.ts";
import { defined } from "#contract/values/defined.ts";
import { followUpRun, sendToRun } from "#tools/run-control.ts";
import { typeInto } from "#tools/terminal/client-typing.ts";
import { encodeKey } from "#tools/terminal/keys.ts";

const options = {
  ...targetOptions,
  followup: { type: "boolean" },
  framing: { type: "string" },
  enter: { type: "boolean" },
  key: { type: "string", multiple: true },
  takeover: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parseOptions<typeof options>>["values"];

/** What became of it, and how it was said. */
interface Sent {
  readonly how: "message" | "steer" | "followup" | "typed";
  readonly answer: { readonly status: string; readonly position?: number | undefined };
}

/** `reins send`: to an agent it is said, into a terminal or a command it is typed. */
export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions(argv, options);
  const framing = parseFraming(values);
  const keys = parseKeys(values.key);
  const message = keys.length > 0 && positionals.length === 0 ? "" : await readMessage(positionals);
  await using target = await openTarget(values);
  const { session_id, kind } = target.session;
  refuseStrange(values, kind);
  const { how, answer } =
    kind === "agent"
      ? await say(target, message, { framing, isFollowUp: values.followup === true })
      : await type(target, { text: message, keys }, values);
  if (values.json === true) printJson({ session_id, how, ...answer });
  notice(`${describe(how, answer)} ${session_id}`);
  if (how === "message" && framing !== undefined)
    notice("no turn was running, so --framing says nothing: it is a message like any other");
  return 0;
}

function parseFraming({ framing, followup }: Values): Framing | undefined {
  if (framing === undefined) return undefined;
  if (followup === true)
    throw new Fault("invalid_request", "--framing is for the middle of a turn, not for --followup");
  const parsed = Framing.safeParse(framing);
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalid_request",
    `--framing: ${JSON.stringify(framing)} is none of ${Framing.options.join(", ")}`,
  );
}

/** An option that says nothing here is a mistake about what is there. */
function refuseStrange(values: Values, kind: Target["session"]["kind"]): void {
  const strange =
    kind === "agent" ? (["enter", "key", "takeover"] as const) : (["followup", "framing"] as const);
  const name = strange.find((option) => values[option] !== undefined);
  if (name === undefined) return;
  throw new Fault("unsupported", `--${name} says nothing to a session of the kind ${kind}`);
}

interface Saying {
  readonly framing: Framing | undefined;
  readonly isFollowUp: boolean;
}

async function say(
  { client, session }: Target,
  message: string,
  { framing, isFollowUp }: Saying,
): Promise<Sent> {
  const run = { client, session };
  const said = { message, idempotency_key: randomId("key") };
  if (isFollowUp) return { how: "followup", answer: await followUpRun(run, said) };
  const answer = await sendToRun(run, { ...said, ...defined({ framing }) });
  const how = answer.status === "queued" ? "steer" : "message";
  return { how, answer };
}

/** A line, unless --no-enter says that it is not one yet, or keys follow that say how it ends. */
async function type(
  { client, session }: Target,
  { text, keys }: { readonly text: string; readonly keys: readonly string[] },
  values: Values,
): Promise<Sent> {
  await typeInto(client, session, {
    ...{ text, keys, enter: values.enter !== false && keys.length === 0 },
    isRaw: values.enter === false,
    input_id: randomId("inp"),
    takeover: values.takeover,
  });
  return { how: "typed", answer: { status: "typed" } };
}

/** Names of keys, in the order in which they are pressed. Refused before anything is typed. */
function parseKeys(lists: readonly string[] = []): string[] {
  const keys = lists.flatMap((list) => list.split(",")).map((key) => key.trim());
  for (const key of keys) {
    if (key === "")
      throw new Fault("invalid_request", "--key: a name is missing; keys look like esc,down,enter");
    try {
      encodeKey(key, { application_cursor: false });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { code, message, details } = error;
      throw new Fault(code, message.replace(/^keys:/, "--key:"), { details });
    }
  }
  return keys;
}

function describe(how: Sent["how"], { status, position }: Sent["answer"]): string {
  if (how === "typed") return "typed into";
  if (status === "queued" && how === "followup") return `queued as number ${position ?? 1} for`;
  return how === "steer" ? "said into the turn of" : "sent to";
}
