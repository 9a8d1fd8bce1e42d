import { describe, expect, test } from "vitest";
import { ANSWER_AFTER_MS, type Question } from "./asking.ts";
import {
  emptyTyping,
  giveBack,
  type Intent,
  isAnswering,
  type Press,
  press,
  type Situation,
  showQuestion,
  type Typing,
} from "./keys.ts";
import { listCommands } from "./slash.ts";

const commands = listCommands({ review: "Reviews the last change." });
const idle: Situation = {
  ...{ question: undefined, isRunning: false, isViewer: false, now: 0, commands },
};
const running = { ...idle, isRunning: true };
const text = (said: string): Press => ({ kind: "text", text: said });
const enter: Press = { kind: "enter" };
const ESC: Press = { kind: "escape" };

/** Presses all of them; answers what is to be done. */
function pressAll(typing: Typing, keys: readonly Press[], situation: Situation) {
  const intents: Intent[] = [];
  let state = typing;
  for (const key of keys) {
    const pressed = press(state, key, situation);
    state = pressed.typing;
    if (pressed.intent !== undefined) intents.push(pressed.intent);
  }
  return { typing: state, intents };
}

describe("a message", () => {
  test("is sent by Enter, kept for later by Tab, and an empty one is none", () => {
    const { intents, typing } = pressAll(
      emptyTyping,
      [text("one"), { kind: "newline" }, text("two"), enter, text("three"), { kind: "tab" }, enter],
      idle,
    );
    expect(intents).toEqual([
      { kind: "say", text: "one\ntwo" },
      { kind: "followup", text: "three" },
    ]);
    expect(typing.editor.text).toBe("");
  });

  test("comes back with Up, and is given back when it could not be sent", () => {
    const { typing } = pressAll(emptyTyping, [text("one"), enter, text("two"), enter], idle);
    const up = pressAll(typing, [{ kind: "up" }, { kind: "up" }, { kind: "up" }], idle).typing;
    expect(up.editor.text).toBe("one");
    const down = pressAll(up, [{ kind: "down" }, { kind: "down" }], idle).typing;
    expect(down.editor.text).toBe("");
    expect(giveBack(down, "lost").editor).toEqual({ text: "lost", cursor: 4 });
    expect(giveBack(up, "lost").editor.text).toBe("one");
  });
});

describe("a draft", () => {
  const UP: Press = { kind: "up" };
  const DOWN: Press = { kind: "down" };
  const draft = [text("one"), { kind: "newline" } as const, text("two")];
  const { typing: before } = pressAll(emptyTyping, [text("sent"), enter], idle);
  const shown = (keys: readonly Press[]) => {
    const { text: said, cursor } = pressAll(before, keys, idle).typing.editor;
    return `${said.slice(0, cursor)}|${said.slice(cursor)}`;
  };

  test("is moved in by Up and Down, left from its first line, and comes back", () => {
    expect(shown([...draft, UP])).toBe("one|\ntwo");
    expect(shown([...draft, UP, DOWN])).toBe("one\ntwo|");
    expect(shown([...draft, UP, UP])).toBe("sent|");
    expect(shown([...draft, UP, UP, DOWN])).toBe("one\ntwo|");
    expect(shown([...draft, UP, UP, UP, UP, DOWN, DOWN])).toBe("one\ntwo|");
  });

  test("is kept when an earlier line is changed, which is kept as well, and when that is sent", () => {
    const changed = [...draft, UP, UP, text(" again"), DOWN, UP];
    expect(shown(changed.slice(0, -1))).toBe("one\ntwo|");
    expect(shown([...changed, UP])).toBe("sent again|");
    const sent = pressAll(before, [...draft, UP, UP, enter], idle);
    expect(sent.intents).toEqual([{ kind: "say", text: "sent" }]);
    expect(sent.typing.editor.text).toBe("one\ntwo");
  });
});

describe("Tab behind a slash", () => {
  const tab: Press = { kind: "tab" };
  const tabbed = (said: string, tabs: number) => {
    const keys = [text(said), ...Array.from({ length: tabs }, () => tab)];
    const { typing, intents } = pressAll(emptyTyping, keys, idle);
    return [typing.editor.text, ...intents];
  };

  test("completes the only command, and sends nothing", () => {
    expect(tabbed("/he", 1)).toEqual(["/help"]);
    expect(tabbed("/he", 3)).toEqual(["/help"]);
    expect(tabbed("/rev", 1)).toEqual(["/review"]);
    expect(tabbed("/mod", 1)).toEqual(["/model "]);
  });

  test("goes through several, one after the other", () => {
    const first = ["/model", "/agent", "/tools"];
    expect([1, 2, 3].map((tabs) => tabbed("/", tabs)[0])).toEqual(first);
    expect(tabbed("/", commands.length + 1)).toEqual(["/model"]);
    const { typing } = pressAll(emptyTyping, [text("/"), tab, tab], idle);
    expect(pressAll(typing, [{ kind: "edit", key: "backspace" }, tab], idle).typing).toMatchObject({
      editor: { text: "/agent " },
      menu: undefined,
    });
  });

  test("never sends the line: an unknown command and one with words behind it are a hint", () => {
    for (const said of ["/nothing", "/review the rest", "/etc/hosts", " /he x"]) {
      const [left, intent, ...more] = tabbed(said, 1);
      expect([left, more]).toEqual([said, []]);
      expect(intent).toMatchObject({ kind: "hint" });
    }
  });
});

describe("control keys", () => {
  test("Esc and Ctrl-C interrupt what runs, and nothing else", () => {
    for (const key of [ESC, { kind: "interrupt" } as const])
      expect(press(emptyTyping, key, running).intent).toEqual({ kind: "interrupt" });
    expect(press(emptyTyping, ESC, idle).intent).toBeUndefined();
    expect(press(emptyTyping, { kind: "interrupt" }, idle).intent?.kind).toBe("hint");
    const typed = press(emptyTyping, text("abc"), running).typing;
    const cleared = press(typed, { kind: "interrupt" }, running);
    expect([cleared.typing.editor.text, cleared.intent]).toEqual(["", undefined]);
  });

  test("Ctrl-D leaves when nothing is typed", () => {
    expect(press(emptyTyping, { kind: "leave" }, running).intent).toEqual({ kind: "leave" });
    const typed = press(emptyTyping, text("abc"), idle).typing;
    expect(press(typed, { kind: "leave" }, idle).intent).toBeUndefined();
  });

  test("who only watches can leave and unfold, and types nothing", () => {
    const viewer = { ...running, isViewer: true };
    const keys: Press[] = [text("y"), enter, ESC, { kind: "unfold" }, { kind: "leave" }];
    const { intents, typing } = pressAll(emptyTyping, keys, viewer);
    expect(intents).toEqual([{ kind: "unfold" }, { kind: "leave" }]);
    expect(typing.editor.text).toBe("");
  });
});

describe("an approval", () => {
  const approval = { approval_id: "a", kind: "tool", tool: "shell", message: "?" } as const;
  const question: Question = { kind: "approval", id: "a", approval };
  const asked = { ...running, question, now: ANSWER_AFTER_MS };
  const shown = showQuestion(emptyTyping, question, 0);

  test("is answered by one key", () => {
    const table = [
      ["y", "approve"],
      ["T", "approve_tool"],
      ["s", "approve_session"],
    ] as const;
    for (const [key, decision] of table)
      expect(press(shown, text(key), asked).intent).toEqual({
        kind: "resume",
        answer: { approval_id: "a", decision },
      });
  });

  test("is refused with a reason or without, and Esc goes back", () => {
    const answer = { approval_id: "a", decision: "reject" };
    const refuse = (...keys: Press[]) => pressAll(shown, [text("n"), ...keys], asked).intents;
    expect(refuse(enter)).toEqual([{ kind: "resume", answer }]);
    expect(refuse(text("yes, but later"), enter)).toEqual([
      { kind: "resume", answer: { ...answer, reason: "yes, but later" } },
    ]);
    expect(refuse(ESC, text("y"))).toMatchObject([{ answer: { decision: "approve" } }]);
  });

  test("takes no key that was pressed before it could be read", () => {
    const early = press(shown, text("y"), { ...asked, now: ANSWER_AFTER_MS - 1 });
    expect([early.intent, early.typing.editor.text]).toEqual([undefined, "y"]);
  });

  test("takes no key while something else is being typed, which is sent as ever", () => {
    const typed = press(emptyTyping, text("and "), running).typing;
    const both = showQuestion(typed, question, 0);
    expect(isAnswering(both, asked)).toBe(false);
    const { intents, typing } = pressAll(both, [text("y"), enter], asked);
    expect(intents).toEqual([{ kind: "say", text: "and y" }]);
    expect(isAnswering(typing, asked)).toBe(true);
  });

  test("does not take the answer to the one before it", () => {
    const next: Question = { ...question, id: "b", approval: { ...approval, approval_id: "b" } };
    const typing = showQuestion(shown, next, 1000);
    const pressed = press(typing, text("y"), { ...asked, question: next, now: 1001 });
    expect(pressed.intent).toBeUndefined();
  });

  test("of more turns knows only yes and no", () => {
    const more: Question = { ...question, approval: { ...approval, kind: "max_iterations" } };
    const tried = (key: string) => press(shown, text(key), { ...asked, question: more }).intent;
    expect([tried("t"), tried("s")]).toEqual([undefined, undefined]);
    expect(tried("y")).toMatchObject({ answer: { decision: "approve" } });
  });
});

describe("a form", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      colour: { type: "string", enum: ["red", "blue"] },
      sure: { type: "boolean" },
      count: { type: "integer" },
    },
    required: ["name", "colour"],
  };
  const elicitation = { elicitation_id: "e", message: "?", schema };
  const question: Question = { kind: "form", id: "e", elicitation };
  const asked = { ...running, question, now: ANSWER_AFTER_MS };
  const shown = showQuestion(emptyTyping, question, 0);
  const lines = (...said: string[]) => said.flatMap((line) => [text(line), enter]);

  test("is filled in field by field, each in its type, and may leave out what is not needed", () => {
    const { intents } = pressAll(shown, [...lines("Ada", "2", "y"), enter], asked);
    const content = { name: "Ada", colour: "blue", sure: true };
    expect(intents).toEqual([
      { kind: "answer", answer: { elicitation_id: "e", action: "accept", content } },
    ]);
  });

  test("says what is wrong and asks again", () => {
    const problems = [
      pressAll(shown, [enter], asked),
      pressAll(shown, lines("Ada", "green"), asked),
      pressAll(shown, lines("Ada", "red", "perhaps"), asked),
      pressAll(shown, lines("Ada", "red", "n", "many"), asked),
    ].map(({ typing, intents }) => [typing.draft?.problem, intents]);
    expect(problems).toEqual([
      ["it is needed; Esc declines", []],
      ["type one of them, or its number (1 to 2)", []],
      ["type y or n", []],
      ["type a whole number", []],
    ]);
  });

  test("is declined by Esc", () => {
    expect(press(shown, ESC, asked).intent).toEqual({
      kind: "answer",
      answer: { elicitation_id: "e", action: "decline" },
    });
  });

  test("without fields is agreed to by Enter", () => {
    const empty: Question = { ...question, elicitation: { ...elicitation, schema: {} } };
    const { intent } = press(shown, enter, { ...asked, question: empty });
    expect(intent).toMatchObject({ answer: { action: "accept", content: {} } });
  });
});
