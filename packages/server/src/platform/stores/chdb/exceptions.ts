/** Codes of ClickHouse that this process raises itself or handles specially. */
export const codes = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  SYNTAX_ERROR: 62,
  UNKNOWN_SETTING: 115,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: 216,
  ABORTED: 236,
  QUERY_IS_TOO_LARGE: 307,
  QUERY_WAS_CANCELLED: 394,
  UNKNOWN_EXCEPTION: 1002,
} as const

/** An exception in ClickHouse's wording. */
export class EngineException extends Error {
  override readonly name = 'EngineException'
  readonly code: number

  /** @param message without the leading code and the trailing name */
  constructor(type: keyof typeof codes, message: string) {
    super(`Code: ${codes[type]}. DB::Exception: ${message} (${type})`)
    this.code = codes[type]
  }
}

/** Where rows came from, as the engine sees it: a pipe of this process, which helps no reader. */
const fromPipe = /\s*: \(in file\/uri [^)]*\)/g

/** Any error as code and text in ClickHouse's wording. */
export function describeException(error: unknown): { code: number; text: string } {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(fromPipe, '')
  const code = /^Code: (\d+)\./.exec(message)?.[1]
  if (code !== undefined) return { code: Number(code), text: message.trimEnd() }
  return {
    code: codes.UNKNOWN_EXCEPTION,
    text: `Code: ${codes.UNKNOWN_EXCEPTION}. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`,
  }
}

/** ClickHouse, src/Server/HTTP/exceptionCodeToHTTPStatus.cpp; every other code is 500. */
const statuses: ReadonlyMap<number, number> = new Map(
  Object.entries({
    400: [6, 7, 8, 10, 15, 25, 26, 27, 36, 38, 41, 44, 53, 62, 69, 72, 117, 167, 168, 427, 441, 675, 676],
    403: [192, 193, 497, 512, 516],
    404: [46, 47, 50, 56, 60, 63, 71, 73, 78, 81, 115, 336, 511],
    408: [159],
    413: [307],
    501: [48],
    503: [76, 209, 236, 439],
  }).flatMap(([status, list]) => list.map((code) => [code, Number(status)] as const)),
)

/** 503 for a shutdown is ours: ClickHouse would close the connection. */
export function statusOf(code: number): number {
  return statuses.get(code) ?? 500
}
