import { expect, test } from "vitest";
import { findTicket, readTicket } from "./ticket.ts";

test.each([
  ["#ticket=reins_ticket_a-1", { ticket: "reins_ticket_a-1", hash: "#/" }],
  ["#ticket=t&to=%2Fs%2Fses_1", { ticket: "t", hash: "#/s/ses_1" }],
  ["#ticket=t&to=https%3A%2F%2Felsewhere", { ticket: "t", hash: "#/" }],
  ["#ticket=t&to=%E0%A4%A", { ticket: "t", hash: "#/" }],
  ["#ticket=", { ticket: undefined, hash: "#/" }],
  ["#ticket=no ticket&to=%2Fhealth", { ticket: undefined, hash: "#/health" }],
])("%s leaves a clean address", (hash, found) => {
  expect(readTicket(hash)).toEqual(found);
});

test("an address without a ticket is left alone", () => {
  expect(readTicket("#/s/ses_1")).toBeUndefined();
  expect(readTicket("")).toBeUndefined();
});

test("a ticket is found in a pasted address", () => {
  expect(findTicket(" http://127.0.0.1:7346/#ticket=reins_ticket_x ")).toBe("reins_ticket_x");
  expect(findTicket("reins_ticket_x")).toBe("reins_ticket_x");
  expect(findTicket("something else")).toBeUndefined();
});
