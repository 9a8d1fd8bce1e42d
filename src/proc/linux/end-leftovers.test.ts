import { describe, expect, test } from "vitest";
import { openCgroups } from "#proc/cgroup/cgroup.ts";
import { livingOf, namedProcesses, openHost } from "#proc/fixtures/open-host.ts";
import { identify, isAlive, readBootId } from "#proc/identity.ts";

const hidden = `(env -i setsid sh -c 'sh -c "echo hidden \\$\\$; exec sleep 1000 </dev/null >/dev/null 2>&1" &' &)`;
const line = `trap '' HUP; ${hidden}; sleep 1000 & echo child $!; (setsid sh -c 'echo away $$; exec sleep 1000' &); echo leader $$; wait`;

/** Most users may not make one. */
const hasCgroups = (() => {
  using cgroups = openCgroups();
  return cgroups !== undefined;
})();

describe.each([true, false])("what a dead host left (cgroups: %s)", (cgroups) => {
  test("is ended by the next, and nobody else is", async () => {
    const first = openHost({ cgroups });
    const lost = await first.sh(line);
    const kept = await first.sh(line);
    for (const { heard } of [lost, kept])
      await heard.until("all", () => namedProcesses(heard.text(), identify).size === 4);
    const [lostOnes, keptOnes] = [lost, kept].map(({ heard }) =>
      namedProcesses(heard.text(), identify),
    );
    await first.kill();
    expect(livingOf(lostOnes ?? new Map())).toHaveLength(4);

    await using next = openHost({ cgroups });
    const { identity, limit_mark } = lost;
    const leftover = { session_id: lost.session_id, identity, limit_mark };
    expect(await next.ask({ op: "endLeftovers", leftovers: [leftover] })).toEqual([]);
    expect(livingOf(lostOnes ?? new Map())).toEqual([]);
    expect(livingOf(keptOnes ?? new Map())).toHaveLength(4);

    // Without a word about its process and its mark, the marker in the environment still finds most.
    const nameless = { session_id: kept.session_id, identity: undefined, limit_mark: undefined };
    await next.ask({ op: "endLeftovers", leftovers: [nameless] });
    expect(livingOf(keptOnes ?? new Map())).toEqual(cgroups && hasCgroups ? [] : ["hidden"]);
    // As the record is until the host has written down which process it started.
    const marked = { ...nameless, limit_mark: kept.limit_mark, boot_id: readBootId() };
    expect(await next.ask({ op: "endLeftovers", leftovers: [marked] })).toEqual([]);
    expect(livingOf(keptOnes ?? new Map())).toEqual([]);
  });

  test("of another boot is known by its marker alone", async () => {
    await using host = openHost({ cgroups });
    const child = await host.sh("echo go; read x", {
      stdin: true,
      env: { REINS_SESSION_ID: "ses_z" },
    });
    await child.heard.untilText("go");
    const identity = { ...child.identity, boot_id: "another" };
    const leftover = { session_id: "ses_y", identity, limit_mark: child.limit_mark };
    expect(await host.ask({ op: "endLeftovers", leftovers: [leftover] })).toEqual([]);
    expect(isAlive(child.identity)).toBe(true);
    expect(await host.endTree(child)).toEqual([]);
  });
});
