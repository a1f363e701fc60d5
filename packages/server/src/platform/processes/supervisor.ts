import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { ChildSpec, SupervisedChild } from './child.ts'

export declare function superviseChild(
  spec: ChildSpec,
  dependencies: { logger: Logger; clock?: Clock; random?: () => number },
): SupervisedChild
