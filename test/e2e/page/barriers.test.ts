import { expect, test } from "vitest";
import { findBarriers, PHONE, type Visit, WIDE } from "#test/harness/browser.ts";
import { CHAT_TEAM } from "#test/harness/chat.ts";
import { openPageWorld, type PageWorld } from "#test/harness/page-world.ts";

/** A place, and what shows that it is drawn. */
type Place = readonly [path: string, shown: (visit: Visit) => Promise<unknown>];

const looks = [
  { colorScheme: "light", viewport: WIDE },
  { colorScheme: "dark", viewport: PHONE },
  { colorScheme: "light", viewport: PHONE },
  { colorScheme: "dark", viewport: WIDE },
] as const;

test("no view keeps anybody out, wide or on a phone, light or dark", async () => {
  await using world = await openPageWorld();
  const places = await furnish(world);
  const barriers: string[] = [];
  for (const look of looks) {
    await using visit = await world.visit({ ...look, expected: /404/ });
    const find = async (where: string) => {
      const name = `${where} ${look.colorScheme} ${look.viewport.width}`;
      for (const barrier of await findBarriers(visit.page)) barriers.push(`${name}: ${barrier}`);
    };
    for (const [path, shown] of places) {
      await visit.goTo(path);
      await shown(visit);
      await find(path);
    }
    await visit.goTo("/");
    await visit.page.keyboard.press("Control+K");
    await visit.page.getByRole("dialog", { name: "Palette" }).waitFor();
    await find("palette");
  }
  expect(barriers).toEqual([]);
}, 120_000);

async function furnish(world: PageWorld): Promise<readonly Place[]> {
  const { door, host } = world;
  const shell = await door.get("session.create", { kind: "terminal", argv: ["cat"] });
  const held = await door.get("session.create", { kind: "terminal", argv: ["cat"] });
  const ended = await door.get("session.create", { kind: "terminal", argv: ["false"] });
  const command = await door.get("session.create", {
    kind: "command",
    argv: ["bash", "-c", "echo out; echo wrong >&2"],
  });
  const agent = await door.get("agent.create", {
    source: { kind: "inline", yaml: CHAT_TEAM },
    working_dir: host.dataDir,
  });
  const { session_id } = agent;
  await door.get("agent.send", { session_id, messages: [{ content: "markdown please" }] });
  await door.get("session.wait", { session_id, for: "idle", idle_ms: 100, timeout_ms: 20_000 });
  await door.get("agent.send", { session_id, messages: [{ content: "please write" }] });
  await door.get("session.wait", { session_id, for: "needs_answer", timeout_ms: 20_000 });
  await door.attach(held.session_id, "?role=controller");
  const heading = (name: string | RegExp) => (visit: Visit) =>
    visit.page.getByRole("heading", { name }).first().waitFor();
  const text = (name: string | RegExp) => (visit: Visit) =>
    visit.page.getByText(name).first().waitFor();
  return [
    ["/", (visit) => visit.page.getByRole("treegrid", { name: "Sessions" }).waitFor()],
    ["/new/shell", (visit) => visit.page.getByRole("form", { name: "Shell" }).waitFor()],
    ["/new/command", (visit) => visit.page.getByRole("form", { name: "Command" }).waitFor()],
    ["/new/agent", (visit) => visit.page.getByRole("form", { name: "Agent" }).waitFor()],
    [`/s/${shell.session_id}`, text("You have control")],
    [
      `/s/${held.session_id}`,
      (visit) => visit.page.getByRole("button", { name: "Take control" }).waitFor(),
    ],
    [`/s/${ended.session_id}`, text(/has ended/)],
    [`/s/${command.session_id}`, text(/has ended/)],
    [`/s/${session_id}`, text("Write note.txt?")],
    [
      `/s/${ended.session_id}/recording`,
      (visit) => visit.page.getByRole("region", { name: "Recording" }).waitFor(),
    ],
    [`/s/${session_id}/recording`, heading("An agent has no screen to record")],
    ["/audit", heading("Audit")],
    ["/tokens", heading("Tokens")],
    ["/health", heading("Health")],
    ["/s/ses_0000000000000000", heading("There is no such session")],
    ["/nowhere", heading("There is nothing at this address")],
  ];
}
