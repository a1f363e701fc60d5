const types: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=UTF-8; header=absent',
  csvwithnames: 'text/csv; charset=UTF-8; header=present',
  csvwithnamesandtypes: 'text/csv; charset=UTF-8; header=present',
  json: 'application/json; charset=UTF-8',
  jsoncompact: 'application/json; charset=UTF-8',
  jsoneachrow: 'application/x-ndjson; charset=UTF-8',
  jsoncompacteachrow: 'application/x-ndjson; charset=UTF-8',
  tsv: 'text/tab-separated-values; charset=UTF-8',
  tabseparated: 'text/tab-separated-values; charset=UTF-8',
}

/** Content type of a result in one of ClickHouse's formats. */
export function contentTypeOf(format: string): string {
  return types[format.toLowerCase()] ?? 'application/octet-stream'
}

/** What a server answers in when neither the statement nor the request names a format. */
export const defaultFormat = 'TabSeparated'
