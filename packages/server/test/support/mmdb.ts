/** What a database in the format MMDB says of some networks, each an address as bits: `['1100', {...}]`. */
export type Networks = Readonly<Record<string, unknown>>

type Tree = [Tree | string | undefined, Tree | string | undefined]

/**
 * A file in the format MMDB, version 2.0. Bits are those of a tree of its IP version: IPv4 lies behind 96 zeros in one of
 * IPv6.
 */
export function mmdbFile(networks: Networks, recordSize: 24 | 28 | 32, ipVersion: 4 | 6): Buffer {
  const root: Tree = [undefined, undefined]
  for (const bits of Object.keys(networks)) {
    let node = root
    for (const bit of bits.slice(0, -1)) {
      const side = Number(bit) as 0 | 1
      node[side] ??= [undefined, undefined]
      node = node[side] as Tree
    }
    node[Number(bits.at(-1)) as 0 | 1] = bits
  }
  const nodes: Tree[] = []
  const number = new Map<Tree, number>()
  const visit = (node: Tree) => {
    number.set(node, nodes.length)
    nodes.push(node)
    for (const side of node) if (Array.isArray(side)) visit(side)
  }
  visit(root)

  const places = new Map<string, number>()
  const records: Buffer[] = []
  let size = 0
  for (const [bits, record] of Object.entries(networks)) {
    const encoded = encode(record)
    places.set(bits, size)
    records.push(encoded)
    size += encoded.length
  }
  const entryOf = (side: Tree | string | undefined): number => {
    if (side === undefined) return nodes.length
    return typeof side === 'string' ? nodes.length + 16 + (places.get(side) ?? 0) : (number.get(side) ?? 0)
  }
  const tree = nodes.map((node) => writeNode(entryOf(node[0]), entryOf(node[1]), recordSize))
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_750_000_000,
    database_type: 'test',
    description: { en: 'test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: recordSize,
  })
  const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
  return Buffer.concat([...tree, Buffer.alloc(16), ...records, marker, metadata])
}

function writeNode(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const node = Buffer.alloc((recordSize * 2) / 8)
  if (recordSize === 32) {
    node.writeUInt32BE(left, 0)
    node.writeUInt32BE(right, 4)
    return node
  }
  node.writeUIntBE(left & 0xffffff, 0, 3)
  node.writeUIntBE(right & 0xffffff, Math.ceil(recordSize / 8), 3)
  if (recordSize === 28) node.writeUInt8(((left >>> 24) << 4) | (right >>> 24), 3)
  return node
}

/** Texts, whole numbers, lists and maps, each behind a byte of its kind and size. */
function encode(value: unknown): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  const entries = Object.entries(value as object)
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([key, each]) => [encode(key), encode(each)]),
  ])
}

function control(kind: number, size: number): Buffer {
  if (size > 28) throw new Error('longer than a test needs')
  return kind > 7 ? Buffer.from([size, kind - 7]) : Buffer.from([(kind << 5) | size])
}
