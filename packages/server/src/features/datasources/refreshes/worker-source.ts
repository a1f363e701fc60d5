import { isDeepStrictEqual } from 'node:util'
import type { Fault } from '@millrace/contract/failure-data.ts'
import {
  type DatasourceSource,
  type StoredDatasourceSource,
  sourceFormats,
} from '@millrace/contract/resources/datasource-source.ts'
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

type OptionName = (typeof optionNames)[number]
type SourceOptions = Pick<DatasourceSource, OptionName>
type Format = (typeof sourceFormats)[number]

const textFormats = ['csv', 'json', 'ndjson', 'xml'] as const

/** Formats that make use of an option (docs/datasources.md, Formats). */
const formatsOfOption = {
  compression: textFormats,
  encoding: textFormats,
  csvDelimiter: ['csv'],
  csvColumns: ['csv'],
  rootPath: ['json', 'xml'],
  sheet: ['xlsx'],
  entry: textFormats,
} as const satisfies Record<Exclude<OptionName, 'format'>, readonly Format[]>

/**
 * Options that would never be used: of another format than the one that is given or that the options before them
 * belong to, and a file of an archive where there is none.
 */
function faultsOfUnusedOptions(source: SourceOptions): Fault[] {
  const faults: Fault[] = []
  let possible: readonly Format[] = source.format === undefined ? sourceFormats : [source.format]
  let because = 'format'
  for (const name of Object.keys(formatsOfOption) as (keyof typeof formatsOfOption)[]) {
    if (source[name] === undefined) continue
    if (name === 'entry' && source.compression === 'gzip') {
      faults.push({ path: 'source.entry', message: 'is for zip, and compression is gzip: leave it out' })
      continue
    }
    const formats: readonly Format[] = formatsOfOption[name]
    const both = possible.filter((format) => formats.includes(format))
    if (both.length > 0) {
      if (both.length < possible.length) because = name
      possible = both
      continue
    }
    const other =
      because === 'format' ? `format is ${source.format}` : `${because} is for ${listed(possible)}`
    faults.push({
      path: `source.${name}`,
      message: `is for ${listed(formats)}, and ${other}: leave it out`,
    })
  }
  return faults
}

const listed = (formats: readonly Format[]): string => formats.join(', ').replace(/, (?=[^,]*$)/, ' and ')

function faultsOfOptions(source: SourceOptions): Fault[] {
  const { encoding, csvDelimiter, rootPath } = source
  const faults = faultsOfUnusedOptions(source)
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

const optionsOf = (source: SourceOptions): SourceOptions =>
  Object.fromEntries(
    optionNames.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])),
  )

/**
 * What a source lacks, or has too much. Nothing is asked of its address. Options that stay as they are stored are not
 * looked at, so that a source that was stored before a rule can be sent back.
 */
export function faultsOfSource(
  source: DatasourceSource,
  validateUrl: OutgoingClient['validate'],
  stored?: StoredDatasourceSource,
): Fault[] {
  const isKnown = stored !== undefined && isDeepStrictEqual(optionsOf(source), optionsOf(stored))
  return [...(isKnown ? [] : faultsOfOptions(source)), ...faultsOfPlace(source, validateUrl)]
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
  return {
    type: source.type,
    ...(source.type === 'url' && source.url !== undefined && { url: source.url }),
    ...optionsOf(source),
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
