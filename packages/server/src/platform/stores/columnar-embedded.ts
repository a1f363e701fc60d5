import type { Logger } from '../logger.ts'
import type { SupervisedChild } from '../processes/child.ts'
import type { Columnar } from './columnar.ts'

export interface EmbeddedColumnarOptions {
  /** The service's data directory; the engine's files live in `<dataDirectory>/columnar`. */
  readonly dataDirectory: string
  readonly logger: Logger
  /** Most bytes that the engine may allocate in all; half of the machine's memory by default. */
  readonly memoryBytes?: number
}

/** What the engine's process says about itself. */
export interface EngineStatus {
  readonly version: string
  readonly uptimeSeconds: number
  readonly residentBytes: number
  /** Allocated by the engine, by its own account, and the most it may. */
  readonly engineBytes: number
  readonly engineLimitBytes: number
  readonly running: readonly {
    readonly queryId: string
    readonly seconds: number
    readonly readonly: boolean
    readonly memoryBytes: number
  }[]
  readonly waiting: number
}

/** The columnar store's home on one machine: chDB in a supervised child, reached by a Unix socket only. */
export interface EmbeddedColumnar {
  readonly columnar: Columnar
  readonly child: SupervisedChild
  /** @throws {ColumnarUnavailable} while the child does not serve */
  status(): Promise<EngineStatus>
}

/** Starts nothing yet: `child.start()` does, and `child.stop()` after `columnar.close()` ends it. */
export declare function embeddedColumnar(options: EmbeddedColumnarOptions): EmbeddedColumnar
