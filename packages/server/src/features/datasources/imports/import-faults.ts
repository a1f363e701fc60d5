import type { ImportFaultCode } from '@millrace/contract/resources/datasource-import.ts'

/** An import that no further attempt can help. The message is for users of the datasource. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused'
  readonly reason: ImportFaultCode

  constructor(reason: ImportFaultCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}
