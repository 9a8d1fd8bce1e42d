import { isIPv4, isIPv6 } from "node:net";

/**
 * Whether an address belongs to the open internet. Everything that is set aside for machines, networks, providers,
 * documentation or groups is not; an IPv6 address that carries an IPv4 one is what that one is.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicV4(toNumber(address));
  // One with a zone is of a link.
  if (!isIPv6(address) || address.includes("%")) return false;
  return isPublicV6(toGroups(address));
}

/** Network and the number of its bits. */
const RESERVED_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Groups, then what was never given out, with the broadcast at its end.
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

function isPublicV4(address: number): boolean {
  return !RESERVED_V4.some(([network, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(toNumber(network) / size);
  });
}

function isPublicV6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  const embedded = (groups[6] ?? 0) * 0x1_0000 + (groups[7] ?? 0);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const isTranslated =
    first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (isMapped || isTranslated) return isPublicV4(embedded);
  // Only an eighth of all is given out for the open internet; of that, these are not.
  if (first >> 13 !== 0b001) return false;
  const isSpecial = first === 0x2001 && second < 0x0200;
  const isExample =
    (first === 0x2001 && second === 0x0db8) || (first === 0x3fff && second < 0x1000);
  const isSixToFour = first === 0x2002;
  return !isSpecial && !isExample && !isSixToFour;
}

function toNumber(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Its eight numbers. */
function toGroups(address: string): number[] {
  // The URL parser writes an address at its end in hexadecimal like the rest.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const left = parseGroups(head);
  const right = parseGroups(tail ?? "");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<number>(gap).fill(0), ...right];
}

function parseGroups(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}
