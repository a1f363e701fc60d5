import type { Fault } from '@millrace/contract/failure-data.ts'
import type { DatasourceSource } from '@millrace/contract/resources/datasource-source.ts'
import type { OutgoingClient } from '../../../platform/outgoing/outgoing-client.ts'
import { OutgoingError } from '../../../platform/outgoing/outgoing-error.ts'
import { encodingOf } from '../formats/encoding.ts'
import { parsePath } from '../formats/path.ts'
import { SourceFault } from '../formats/source-fault.ts'
import { csvDelimiters } from '../formats/source-options.ts'
import type { StoredWorker } from './worker-store.ts'

type KeptSource = NonNullable<StoredWorker['source']>

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const headerValue = /^[\x20-\x7e\t]*$/
/** What a client sets by itself. */
const ownHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'if-modified-since',
  'if-none-match',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Options of the form of the content, by name. */
const optionNames = [
  'format',
  'compression',
  'encoding',
  'csvDelimiter',
  'csvColumns',
  'rootPath',
  'sheet',
  'entry',
] as const

function faultsOfOptions({ encoding, csvDelimiter, rootPath }: DatasourceSource): Fault[] {
  const faults: Fault[] = []
  const check = (name: string, read: () => unknown) => {
    try {
      read()
    } catch (error) {
      if (!(error instanceof SourceFault)) throw error
      faults.push({ path: `source.${name}`, message: `cannot be used: ${error.message}` })
    }
  }
  if (encoding !== undefined) check('encoding', () => encodingOf(encoding))
  if (rootPath !== undefined) check('rootPath', () => parsePath(rootPath))
  if (csvDelimiter !== undefined && !csvDelimiters.some((each) => each === csvDelimiter)) {
    faults.push({ path: 'source.csvDelimiter', message: 'must be a comma, semicolon, tab or vertical bar' })
  }
  return faults
}

/** What a source lacks, or has too much. Nothing is asked of its address. */
export function faultsOfSource(source: DatasourceSource, validateUrl: OutgoingClient['validate']): Fault[] {
  return [...faultsOfOptions(source), ...faultsOfPlace(source, validateUrl)]
}

function faultsOfPlace(
  { type, url, headers = {} }: DatasourceSource,
  validateUrl: OutgoingClient['validate'],
): Fault[] {
  if (type === 'file') {
    const extra = [
      url === undefined ? [] : ['url'],
      Object.keys(headers).length === 0 ? [] : ['headers'],
    ].flat()
    return extra.map((name) => ({
      path: `source.${name}`,
      message: 'has no meaning for a file: leave it out',
    }))
  }
  if (url === undefined) return [{ path: 'source.url', message: 'is required for a source of type url' }]
  const faults: Fault[] = []
  try {
    validateUrl(url)
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    faults.push({ path: 'source.url', message: `cannot be used: ${error.message}` })
  }
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const path = `source.headers.${name.slice(0, 100)}`
    if (!headerName.test(name)) faults.push({ path, message: 'must be the name of a header' })
    else if (ownHeaders.has(name.toLowerCase()))
      faults.push({ path, message: 'is set by the service itself' })
    else if (seen.has(name.toLowerCase())) faults.push({ path, message: 'is given twice' })
    seen.add(name.toLowerCase())
    if (!headerValue.test(value)) faults.push({ path, message: 'must be printable ASCII without line ends' })
  }
  return faults
}

/** A source as it is kept, without headers. */
export function keptSource(source: DatasourceSource, headerNames: readonly string[]): KeptSource {
  const options = Object.fromEntries(
    optionNames.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])),
  )
  return {
    type: source.type,
    ...(source.type === 'url' && source.url !== undefined && { url: source.url }),
    ...options,
    ...(source.type === 'url' && headerNames.length > 0 && { headerNames }),
  }
}

/** Whether headers that belong to one source may be sent to the other. */
export function sharesOrigin(before: KeptSource | null, after: DatasourceSource): boolean {
  if (before?.type !== 'url' || after.type !== 'url') return false
  const [first, second] = [before.url, after.url].map((url) =>
    url && URL.canParse(url) ? new URL(url).origin : '',
  )
  return first !== '' && first === second
}
