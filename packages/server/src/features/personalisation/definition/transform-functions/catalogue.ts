import { dateFunctions } from './date-functions.ts'
import { listFunctions } from './list-functions.ts'
import { numberFunctions } from './number-functions.ts'
import { textFunctions } from './text-functions.ts'
import type { TransformFunction } from './transform-function.ts'

/** Every function of transform nodes by its name (docs/workflows.md, Transform functions). */
export const transformFunctions: ReadonlyMap<string, TransformFunction> = new Map<string, TransformFunction>(
  Object.entries({ ...textFunctions, ...numberFunctions, ...dateFunctions, ...listFunctions }),
)

export const functionNamed = (name: string): TransformFunction | undefined => transformFunctions.get(name)
