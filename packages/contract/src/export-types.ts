import type { Operation } from './operation.ts'

/** Content types of tables that are answered bare, without the envelope and its bounds. */
const exportTypes = ['text/csv', 'application/x-ndjson'] as const
export type ExportType = (typeof exportTypes)[number]

/**
 * Those that an operation can answer. Whoever is given one needs Statistics: export, whatever the address
 * (docs/interface.md, Who may call).
 */
export function exportTypesOf({ replies, schema }: Pick<Operation, 'replies' | 'schema'>): ExportType[] {
  const offered = new Set<unknown>(Object.keys(replies?.[200]?.alternatives ?? {}))
  offered.add(onlyTypeOf({ schema }))
  return exportTypes.filter((type) => offered.has(type))
}

/** The content type of an operation that answers no JSON. */
export function onlyTypeOf({ schema }: Pick<Operation, 'schema'>): unknown {
  const { contentMediaType } = (schema.response[200] ?? {}) as { readonly contentMediaType?: unknown }
  return contentMediaType
}
