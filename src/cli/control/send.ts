import { encodeTyped } from "#app/model-terminal/typed-text.ts";
import { followUpRun, sendToRun } from "#app/run-control.ts";
import { randomId } from "#base/random-id.ts";
import { notice } from "#cli/exit.ts";
import { parseOptions } from "#cli/options.ts";
import { Framing } from "#contract/agent/message.ts";
import { Fault } from "#contract/fault.ts";
import { limits } from "#contract/limits.ts";
import { readMessage } from "./message-word.ts";
import { openTarget, printJson, type Target, targetOptions } from "./target-options.ts";

const options = {
  ...targetOptions,
  followup: { type: "boolean" },
  framing: { type: "string" },
  enter: { type: "boolean" },
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
  const message = await readMessage(positionals);
  await using target = await openTarget(values);
  const { session_id, kind } = target.session;
  refuseStrange(values, kind);
  const { how, answer } =
    kind === "agent"
      ? await say(target, message, { framing, isFollowUp: values.followup === true })
      : await type(target, message, values);
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
    kind === "agent" ? (["enter", "takeover"] as const) : (["followup", "framing"] as const);
  const name = strange.find((option) => values[option] !== undefined);
  if (name === undefined) return;
  throw new Fault("unsupported", `--${name} says nothing to a session of the kind ${kind}`);
}

interface Saying {
  readonly framing: Framing | undefined;
  readonly isFollowUp: boolean;
}

async function say(
  { place, session }: Target,
  message: string,
  { framing, isFollowUp }: Saying,
): Promise<Sent> {
  const run = { door: place, session };
  const said = { message, idempotency_key: randomId("key") };
  if (isFollowUp) return { how: "followup", answer: await followUpRun(run, said) };
  const answer = await sendToRun(run, { ...said, ...(framing === undefined ? {} : { framing }) });
  const how = answer.status === "queued" ? "steer" : "message";
  return { how, answer };
}

/** A line, unless --no-enter says that it is not one yet. */
async function type({ place, session }: Target, text: string, values: Values): Promise<Sent> {
  const { session_id, mode } = session;
  const isLine = values.enter !== false;
  const data =
    mode === "pty" ? encodeTyped(isLine ? `${text}\n` : text) : isLine ? `${text}\n` : text;
  if (Buffer.byteLength(data) > limits.input_bytes)
    throw new Fault(
      "payload_too_large",
      `at most ${limits.input_bytes} bytes can be typed at once; send it in pieces`,
    );
  await place.call("session.input", {
    session_id,
    data,
    input_id: randomId("inp"),
    ...(values.takeover === true ? { takeover: true } : {}),
  });
  return { how: "typed", answer: { status: "typed" } };
}

function describe(how: Sent["how"], { status, position }: Sent["answer"]): string {
  if (how === "typed") return "typed into";
  if (status === "queued" && how === "followup") return `queued as number ${position ?? 1} for`;
  return how === "steer" ? "said into the turn of" : "sent to";
}
