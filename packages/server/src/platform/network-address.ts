import { isIPv4, isIPv6 } from 'node:net'

/** The eight groups of an IPv6 address, each as a number. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const [, head = '', a, b, c, d] = dotted ?? []
  const text = dotted
    ? `${head}${((Number(a) << 8) | Number(b)).toString(16)}:${((Number(c) << 8) | Number(d)).toString(16)}`
    : address
  const [before = '', after] = text.split('::')
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const left = read(before)
  const right = read(after ?? '')
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

/** Some groups of an IPv6 address, as a network. */
const prefixOf = (groups: readonly number[], count: number): string =>
  `${groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(':')}::/${count * 16}`

/** An IPv4 address, also when it comes mapped into IPv6, or the groups of an IPv6 address. */
function readAddress(address: string): string | readonly number[] | undefined {
  if (isIPv4(address)) return address
  const withoutZone = address.split('%', 1)[0] ?? ''
  if (!isIPv6(withoutZone)) return undefined
  const groups = groupsOf(withoutZone)
  const [, , , , , marker = 0, high = 0, low = 0] = groups
  if (groups.slice(0, 5).every((group) => group === 0) && marker === 0xffff)
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  return groups
}

function networkAt(address: string, groups: number): string {
  const read = readAddress(address)
  if (read === undefined) return 'unknown'
  return typeof read === 'string' ? read : prefixOf(read, groups)
}

/**
 * What counts as one address in limits: an IPv4 address, also when it comes mapped into
 * IPv6, or the /64 of an IPv6 address, which is what one customer holds.
 */
export const networkOf = (address: string): string => networkAt(address, 4)

/** The /48 of an IPv6 address, in which one site has 65,536 networks; an IPv4 address as it is. */
export const siteOf = (address: string): string => networkAt(address, 3)

/** Whom work for a request counts for at a semaphore. */
export const holdersOf = (address: string): readonly string[] => [siteOf(address), networkOf(address)]
