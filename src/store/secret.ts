import { createHash, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;
const TOKEN_PREFIX = "reins_";
const TICKET_PREFIX = "reins_ticket_";

export function createTokenSecret(): string {
  return TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
}

export function createTicketSecret(): string {
  return TICKET_PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
}

/** 32 bytes in base64url are 43 characters. */
export function isTokenSecret(text: string): boolean {
  return /^reins_[\w-]{43}$/.test(text);
}

/** Plain SHA-256: nobody guesses 256 random bits, so there is nothing to slow down. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
