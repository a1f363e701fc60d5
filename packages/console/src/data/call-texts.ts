import type { OperationId, OperationRequest } from '@millrace/sdk'
import { operationRows } from '@millrace/sdk/contract-table.ts'

/** A request that a screen makes. */
export interface Call<Id extends OperationId = OperationId> {
  readonly operation: Id
  readonly request: OperationRequest<Id>
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

interface Parts {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** With `$TOKEN` in the place of an access token (docs/quick-start.md). */
export function curlOf({ operation, request }: Call, origin = location.origin): string {
  const row = operationRows[operation]
  if (!row) return ''
  const { params = {}, query = {}, body } = request as Parts
  const path = row.url.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
  const lines = [`curl -sS ${shellQuoted(`${origin}${path}${search.size > 0 ? `?${search}` : ''}`)}`]
  if (row.method !== 'GET' && !(row.method === 'POST' && body !== undefined)) lines.push(`-X ${row.method}`)
  if (row.hasToken) lines.push('-H "Authorization: Bearer $TOKEN"')
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'")
    lines.push(`-d ${shellQuoted(JSON.stringify(body))}`)
  }
  return lines.join(' \\\n  ')
}

export const sdkCallOf = ({ operation, request }: Call): string =>
  `const data = await client.${operation}(${JSON.stringify(request, null, 2)})`
