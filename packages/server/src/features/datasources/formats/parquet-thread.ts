import { parentPort, workerData } from 'node:worker_threads'
import { type ParquetSample, readParquet } from './parquet-reader.ts'
import { SourceFault, type SourceFaultRule, type SourcePosition } from './source-fault.ts'
import type { EntryFault, RawRow, SourceLimits } from './source-options.ts'
import type { RowSink } from './text-reader.ts'

// One thread of `openParquet`: it reads the next slice of rows when it is asked for it.

export interface ParquetJob {
  readonly path: string
  readonly limits: SourceLimits
  /** Parts of the rows to read, from 0 to 1; absent: all rows. */
  readonly sample: ParquetSample | undefined
}

export interface ParquetSlice {
  readonly rows: readonly (readonly [entry: number, row: RawRow])[]
  readonly faults: readonly EntryFault[]
}

export type ParquetMessage =
  | { readonly slice: ParquetSlice }
  | { readonly isDone: true }
  | { readonly refusal: { rule: SourceFaultRule; message: string; position: SourcePosition } }
  | { readonly failure: string }

let rows: (readonly [number, RawRow])[] = []
let faults: EntryFault[] = []
const sink: RowSink = {
  row: (entry, row) => rows.push([entry, row]),
  fault: (fault) => faults.push(fault),
}
const { path, limits, sample } = workerData as ParquetJob
const slices = readParquet(path, sink, limits, sample)

parentPort?.on('message', async () => {
  parentPort?.postMessage(await nextMessage())
})

async function nextMessage(): Promise<ParquetMessage> {
  try {
    const { done } = await slices.next()
    if (done) return { isDone: true }
    const slice = { rows, faults }
    rows = []
    faults = []
    return { slice }
  } catch (error) {
    if (!(error instanceof SourceFault)) return { failure: String(error) }
    return { refusal: { rule: error.rule, message: error.message, position: error.position } }
  }
}
