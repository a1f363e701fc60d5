import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

type Range = readonly [network: string, prefix: number]

/** IPv4 ranges that no public service has (IANA IPv4 Special-Purpose Address Registry; multicast and class E). */
export const closedIpv4: readonly Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // A host's agent in one large cloud, reachable from its machines only.
  ['168.63.129.16', 32],
]

/** Of IPv6 only global unicast is public (RFC 4291 2.4), without what holds an IPv4 address or is set apart. */
const openIpv6: Range = ['2000::', 3]
const closedIpv6: readonly Range[] = [
  // Protocol assignments, Teredo among them.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4.
  ['2002::', 16],
  ['3fff::', 20],
]

function listOf(ipv4: readonly Range[], ipv6: readonly Range[]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4')
  for (const [network, prefix] of ipv6) list.addSubnet(network, prefix, 'ipv6')
  return list
}

const closed = listOf(closedIpv4, closedIpv6)
const open = listOf([], [openIpv6])

/** Whether a list of ranges holds an address; an IPv4 address mapped into IPv6 is that IPv4 address. */
export function isListed(list: BlockList, address: string): boolean {
  const bare = address.split('%', 1)[0] ?? ''
  return (isIPv4(bare) && list.check(bare, 'ipv4')) || (isIPv6(bare) && list.check(bare, 'ipv6'))
}

/**
 * Whether an address belongs to the public internet: not to this machine, its networks, or ranges that lead back
 * there. An IPv4 address inside an IPv6 one (mapped, NAT64, 6to4, Teredo) is never public.
 */
export function isPublicAddress(address: string): boolean {
  const bare = address.split('%', 1)[0] ?? ''
  if (isIPv4(bare)) return !closed.check(bare, 'ipv4')
  return isIPv6(bare) && open.check(bare, 'ipv6') && !closed.check(bare, 'ipv6')
}

/**
 * The addresses that the text of a host shows by itself: a literal address, and what `localhost` and the names below it
 * mean everywhere (RFC 6761 6.3). Undefined for a name that must be resolved.
 */
export function addressesShownBy(host: string): readonly string[] | undefined {
  if (isIP(host) !== 0) return [host]
  return /(^|\.)localhost\.*$/.test(host) ? ['127.0.0.1'] : undefined
}

/** @param ranges addresses or CIDR ranges, already checked for their form */
export function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}
