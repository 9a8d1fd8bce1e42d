import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * Whether an address belongs to the open internet. Addresses reserved for machines, networks, providers, documentation
 * or multicast do not; an IPv6 address that carries an IPv4 address counts as that one.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !reserved.check(address, "ipv4");
  // An address with a zone is link-local.
  if (!isIPv6(address) || address.includes("%")) return false;
  return assigned.check(address, "ipv6") && !reserved.check(address, "ipv6");
}

type Network = readonly [address: string, bits: number];

const RESERVED_V4: readonly Network[] = [
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
  // Multicast, then the addresses that were never assigned, which end with the broadcast address.
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Prefixes of IPv6 addresses that carry an IPv4 address: mapped, and translated by NAT64. */
const CARRIERS_V6 = ["::ffff:", "64:ff9b::"];

/** The part of all IPv6 addresses that is assigned to the open internet. */
const ASSIGNED_V6: Network = ["2000::", 3];
const RESERVED_V6: readonly Network[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const assigned = createList([
  ASSIGNED_V6,
  ...CARRIERS_V6.map((prefix): Network => [`${prefix}0.0.0.0`, 96]),
]);

const reserved = createList([
  ...RESERVED_V4,
  ...RESERVED_V6,
  ...CARRIERS_V6.flatMap((prefix) =>
    RESERVED_V4.map(([address, bits]): Network => [`${prefix}${address}`, 96 + bits]),
  ),
]);

function createList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks)
    list.addSubnet(address, bits, isIPv4(address) ? "ipv4" : "ipv6");
  return list;
}
