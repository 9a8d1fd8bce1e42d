import { expect, test } from "vitest";
import { fullNameOf, nameOf, rawSubtitleOf } from "./session-name.ts";

const session = { session_id: "ses_a", name: null, title: "", argv: ["make", "-j4"] } as never;
const called = (fields: object) => ({ ...(session as object), ...fields }) as never;

test.each([
  [{ name: "build", title: "Build it" }, "build", "Build it"],
  [{ name: "build" }, "build", "make -j4"],
  [{ name: "make", argv: ["make"] }, "make", ""],
  [{ title: "Build it" }, "Build it", ""],
  [{}, "make -j4", ""],
  [{ argv: [] }, "ses_a", ""],
])("a session with %o is called %s, with %s beside it", (fields, name, subtitle) => {
  expect([nameOf(called(fields)), rawSubtitleOf(called(fields))]).toEqual([name, subtitle]);
});

test("name and title in one line show hidden characters", () => {
  expect(fullNameOf(called({ name: "build", title: "a\u202eb" }))).toBe("build · a⟨U+202E⟩b");
  expect(fullNameOf(called({ title: "Build it" }))).toBe("Build it");
});
