import type { EntryFault, RawRow, SourceLimits } from './source-options.ts'

/** What a reader gives, in the order of the source. */
export interface RowSink {
  row(entry: number, row: RawRow): void
  fault(fault: EntryFault): void
}

/**
 * Reads entries from a text that comes in pieces, cut anywhere. It keeps no more than the entry it is in.
 * Both functions throw a `SourceFault` where the text cannot be read further.
 */
export interface TextReader {
  write(text: string): void
  /** @param isCut whether more text follows that is not read: an unfinished entry is then no fault */
  end(isCut: boolean): void
}

export interface ReaderOptions {
  readonly sink: RowSink
  readonly limits: SourceLimits
}

/** `12 MB`, `640 KB` or `3 bytes`, for messages. */
export function sizeText(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${Math.round(bytes / 1024 ** 3)} GB`
  if (bytes >= 1024 ** 2) return `${Math.round(bytes / 1024 ** 2)} MB`
  if (bytes >= 1024) return `${Math.round(bytes / 1024)} KB`
  return `${bytes} bytes`
}
