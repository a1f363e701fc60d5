import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import type { ImportFaultCode } from '@millrace/contract/resources/datasource-import.ts'
import type { DatasourceSource } from '@millrace/contract/resources/datasource-source.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'

// What passes between the service and the processes that parse content.

/** Content in a file, with what is known of its form. */
export interface ContentFile {
  readonly path: string
  readonly bytes: number
  readonly fileName?: string | undefined
  readonly contentType?: string | undefined
  readonly options: Pick<
    DatasourceSource,
    'format' | 'compression' | 'encoding' | 'csvDelimiter' | 'csvColumns' | 'rootPath' | 'sheet' | 'entry'
  >
}

export type ProcessJob =
  | { readonly kind: 'import'; readonly content: ContentFile; readonly fields: readonly WorkerField[] }
  | { readonly kind: 'analyze'; readonly content: ContentFile }

/** One rule that rows met. */
export interface LoggedFault {
  readonly kind: 'dropped' | 'changed'
  readonly rule: string
  readonly path: string
  /** Masked. */
  readonly sample: string
  readonly count: number
}

export interface ReadCounts {
  readonly read: number
  readonly stored: number
  readonly refused: number
  /** Of the content. */
  readonly bytes: number
}

export type ProcessMessage =
  /** Answered by one word of any kind once the lines are taken. */
  | { readonly kind: 'lines'; readonly lines: Uint8Array; readonly counts: ReadCounts }
  | { readonly kind: 'read'; readonly counts: ReadCounts; readonly faults: readonly LoggedFault[] }
  | { readonly kind: 'fields'; readonly fields: readonly DatasourceField[] }
  | { readonly kind: 'refused'; readonly reason: ImportFaultCode; readonly message: string }
  /** A fault of the program itself. */
  | { readonly kind: 'failed'; readonly message: string }

/** Of one process, without the buffers of its content. */
export const processMemoryMb = 512
