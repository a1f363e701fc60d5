import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Logger } from '../../../../platform/logger.ts'
import { closedIpv4 } from '../../../../platform/outgoing/public-addresses.ts'

/** The country of each public IPv4 address, as far as it is known. */
export type CountryDatabase = ReturnType<typeof createCountryDatabase>

export interface CountryDatabaseOptions {
  /** In the format MMDB; by default the one that the service brings. */
  readonly file?: string | undefined
  readonly logger: Pick<Logger, 'warn'>
}

/** Its data is CC BY 4.0 of nro.net, which docs/operating.md names. */
const included = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv4.mmdb'

const unreadable = 'the database of countries cannot be read: countries stay empty'

export function createCountryDatabase({ file, logger }: CountryDatabaseOptions) {
  const path = file ?? createRequire(import.meta.url).resolve(included)
  let search: Search | undefined
  let loading: Promise<void> | undefined

  async function open(): Promise<void> {
    try {
      search = await createSearch(await readFile(path))
    } catch (error) {
      logger.warn({ err: error, file: path }, unreadable)
    }
  }

  const load = () => (loading ??= open())
  return {
    /**
     * Reads the database into memory, once; look-ups do it too. Never rejects: a database that cannot be read leaves
     * countries empty, which is said in the log.
     */
    load,
    /**
     * ISO 3166-1 alpha-2, in capitals; empty where it is not known: of IPv6, of addresses that are not public, and until
     * the database is read, for which no event waits.
     */
    find(address: string): string {
      if (search === undefined) {
        void load()
        return ''
      }
      const number = readIpv4(address)
      if (number === undefined || isClosed(number)) return ''
      try {
        return search(number)
      } catch (error) {
        search = () => ''
        logger.warn({ err: error, file: path }, unreadable)
        return ''
      }
    },
  }
}

/** How an IPv4 address begins that came through a socket of IPv6. */
const mapped = '::ffff:'

const [zero, dot] = [0x30, 0x2e]

/** The number of an IPv4 address, also when it comes mapped into IPv6; undefined for any other text. */
function readIpv4(address: string): number | undefined {
  let number = 0
  let part = 0
  let digits = 0
  let parts = 1
  for (let at = address.startsWith(mapped) ? mapped.length : 0; at < address.length; at++) {
    const code = address.charCodeAt(at)
    if (code === dot) {
      if (digits === 0 || ++parts > 4) return undefined
      number = number * 256 + part
      part = 0
      digits = 0
      continue
    }
    const digit = code - zero
    if (digit < 0 || digit > 9 || ++digits > 3) return undefined
    part = part * 10 + digit
    if (part > 255) return undefined
  }
  return parts === 4 && digits > 0 ? number * 256 + part : undefined
}

/** The ranges that no public service has, of which databases name the country of a registry. */
const closed = closedIpv4.map(([network, prefix]) => {
  const mask = (-1 << (32 - prefix)) >>> 0
  return { mask, network: ((readIpv4(network) ?? 0) & mask) >>> 0 }
})

function isClosed(address: number): boolean {
  for (const { mask, network } of closed) if ((address & mask) >>> 0 === network) return true
  return false
}

type Search = (address: number) => string

/**
 * The search in a database. The tree is walked here and each record decoded once: that takes a tenth of what the
 * library takes for a look-up, which is more than a hundredth of what a request may cost.
 */
async function createSearch(file: Buffer): Promise<Search> {
  const { Reader } = await import('mmdb-lib')
  const reader = new Reader(file)
  const { ipVersion, nodeByteSize, nodeCount, recordSize } = reader.metadata
  const read = childReaders[recordSize]
  if (read === undefined) throw new Error(`it has records of ${recordSize} bits`)
  const child = read

  /** Follows the low bits of an address, the highest of them first, to a node or a record. */
  function descend(from: number, bits: number, address: number): number {
    let node = from
    for (let bit = bits - 1; bit >= 0 && node < nodeCount; bit--) {
      node = child(file, node * nodeByteSize, bit < 32 ? (address >>> bit) & 1 : 0)
    }
    return node
  }

  // In a tree of IPv6 the addresses of IPv4 lie behind 96 zeros.
  const start = ipVersion === 6 ? descend(0, 96, 0) : 0
  const countries = new Map<number, string>([[nodeCount, '']])
  return (address) => {
    const record = descend(start, 32, address)
    let country = countries.get(record)
    if (country === undefined) {
      country = countryOf(reader.get(textOf(address)))
      countries.set(record, country)
    }
    return country
  }
}

/** What stands on one side of the node at an offset, by the bits of a record. */
const childReaders: Readonly<Record<number, (file: Buffer, offset: number, side: number) => number>> = {
  24: (file, offset, side) => file.readUIntBE(offset + 3 * side, 3),
  // The byte between the two has the highest bits of both.
  28: (file, offset, side) => {
    const between = file.readUInt8(offset + 3)
    return (side === 0 ? between >>> 4 : between & 0xf) * 2 ** 24 + file.readUIntBE(offset + 4 * side, 3)
  },
  32: (file, offset, side) => file.readUInt32BE(offset + 4 * side),
}

function textOf(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.')
}

/** Databases name the country in one of two places. */
function countryOf(record: unknown): string {
  const { country_code: plain, country } = (record ?? {}) as {
    country_code?: unknown
    country?: { iso_code?: unknown }
  }
  const code = plain ?? country?.iso_code
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : ''
}
