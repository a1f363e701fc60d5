import type { ConditionType } from '@millrace/contract/resources/workflow-definition.ts'

/** A function that cannot give its value, with what would be right. */
export class TransformFault extends Error {
  override readonly name = 'TransformFault'
  readonly function: string

  constructor(functionName: string, message: string) {
    super(`${functionName}: ${message}`)
    this.function = functionName
  }
}

/** Thrown inside of functions, which need not know the name they are called by. */
export class WrongArgument extends Error {}

export const transformLimits = {
  /** Characters of a text that is given or results. */
  text: 100_000,
  /** Characters that a pattern is searched in. */
  searchedText: 10_000,
  items: 1_000,
} as const

export interface TransformParameter {
  readonly name: string
  readonly type: ConditionType | 'any'
  readonly optional?: true
  /** Written into the definition, so that it is validated before it runs. */
  readonly constant?: true
  /** The words that it can be. */
  readonly words?: readonly string[]
}

/** Arguments as functions get them: a date as milliseconds since 1970, undefined for one that is absent. */
export type Arguments = readonly unknown[]

/**
 * Throws where the time is used up that may be spent on computing, or would be by what follows: so many steps of 40 ns
 * each, as a search takes at most for one character and one instruction of its pattern.
 */
export type AssertTime = (steps?: number) => void

/** Throws WrongArgument where patterns of one definition together cost more than they may. */
export type Spend = (cost: number) => void

export interface TransformFunction {
  readonly description: string
  readonly parameters: readonly TransformParameter[]
  /** Any number of further arguments of this type, absent ones left out. */
  readonly rest?: ConditionType | 'any'
  readonly result: ConditionType | 'any'
  /** Arguments that are not constant may be absent; otherwise one that is not optional makes the result absent. */
  readonly takesAbsent?: true
  /** Of a function of the type `date`: milliseconds since 1970. Throws WrongArgument. */
  readonly evaluate: (values: Arguments, assertTime: AssertTime) => unknown
  /** Throws WrongArgument for constants that no call could be right with; what is not constant is undefined. */
  readonly check?: (constants: Arguments, spend: Spend) => void
}

/** A parameter whose value is written into the definition. */
export const constant = (
  name: string,
  type: TransformParameter['type'],
  words?: readonly string[],
): TransformParameter => ({ name, type, constant: true, ...(words && { words }) })

export const optional = (parameter: TransformParameter): TransformParameter => ({
  ...parameter,
  optional: true,
})

/** Parameters that many functions have. */
export const takes = {
  text: { name: 'text', type: 'text' },
  number: { name: 'number', type: 'number' },
  date: { name: 'date', type: 'date' },
  list: { name: 'list', type: 'list' },
  locale: optional(constant('locale', 'text')),
  digits: optional(constant('digits', 'number')),
  zone: optional(constant('zone', 'text')),
} as const satisfies Record<string, TransformParameter>

/** The same function with some of its constants taken from other nodes. */
export function withVariables(of: TransformFunction, names: readonly string[]): TransformFunction {
  return {
    ...of,
    parameters: of.parameters.map((parameter) => {
      if (!names.includes(parameter.name)) return parameter
      const { constant: _, ...variable } = parameter
      return variable
    }),
    description: `${of.description}; ${names.join(' and ')} may come from other nodes`,
  }
}

/** A text that is not longer than texts may be. */
export function bounded(text: string): string {
  if (text.length > transformLimits.text)
    throw new WrongArgument(`the text must have at most ${transformLimits.text} characters`)
  return text
}

/** What is made for any key, a refusal included: keys may come from visitors. */
type Outcome<T> = { readonly value: T } | { readonly refusal: WrongArgument }

interface Bound<T> {
  /** Of the sizes of all that is kept. */
  readonly max: number
  /** Of what was made, undefined where it was refused. */
  readonly sizeOf: (value: T | undefined) => number
}

/** Keeps what is costly to make, and what was refused; beyond the bound it forgets what was not used for longest. */
export function remembered<T, Further extends unknown[]>(
  make: (key: string, ...further: Further) => T,
  { max, sizeOf }: Bound<T> = { max: 500, sizeOf: () => 1 },
): (key: string, ...further: Further) => T {
  const known = new Map<string, Outcome<T>>()
  let size = 0

  function attempt(key: string, further: Further): Outcome<T> {
    try {
      return { value: make(key, ...further) }
    } catch (error) {
      if (error instanceof WrongArgument) return { refusal: error }
      throw error
    }
  }

  const sizeOfOutcome = (outcome: Outcome<T>) => sizeOf('value' in outcome ? outcome.value : undefined)

  return (key, ...further) => {
    const kept = known.get(key)
    const outcome = kept ?? attempt(key, further)
    known.delete(key)
    known.set(key, outcome)
    if (kept === undefined) {
      size += sizeOfOutcome(outcome)
      for (const [oldest, forgotten] of known) {
        if (size <= max) break
        known.delete(oldest)
        size -= sizeOfOutcome(forgotten)
      }
    }
    if ('refusal' in outcome) throw outcome.refusal
    return outcome.value
  }
}
