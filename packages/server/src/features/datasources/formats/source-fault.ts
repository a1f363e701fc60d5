/** Why a source cannot be read at all, or not further. */
export type SourceFaultRule =
  /** The content is not what its format requires. */
  | 'malformed'
  /** An entry, a list of fields, the depth or the whole content exceeds its limit. */
  | 'too_large'
  /** Decompressed content grows like a bomb. */
  | 'inflation'
  /** No entries where `rootPath`, `sheet` or `entry` points, or nowhere in the content. */
  | 'no_entries'
  /** Bytes that are no text in the encoding. */
  | 'encoding'
  /** A document type declaration: entities are never resolved. */
  | 'doctype'
  /** Encrypted content, or a kind of compression or format that is not read. */
  | 'unsupported'

/** Where in the content a fault is; both from 1. */
export interface SourcePosition {
  readonly line?: number
  readonly entry?: number
}

/** The content of a source cannot be read. The message says what is wrong, where, and what would be right. */
export class SourceFault extends Error {
  readonly rule: SourceFaultRule
  readonly position: SourcePosition

  constructor(rule: SourceFaultRule, message: string, position: SourcePosition = {}, cause?: unknown) {
    super(message, { cause })
    this.name = 'SourceFault'
    this.rule = rule
    this.position = position
  }
}

type Refusal = (message: string, position?: SourcePosition, cause?: unknown) => SourceFault

const faultOf =
  (rule: SourceFaultRule): Refusal =>
  (message, position, cause) =>
    new SourceFault(rule, message, position, cause)

export const malformed = faultOf('malformed')
export const tooLarge = faultOf('too_large')
export const noEntries = faultOf('no_entries')
export const unsupported = faultOf('unsupported')
