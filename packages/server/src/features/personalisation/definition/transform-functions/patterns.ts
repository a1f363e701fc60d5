import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'
import {
  type AssertTime,
  bounded,
  remembered,
  type Spend,
  transformLimits,
  WrongArgument,
} from './transform-function.ts'

const require = createRequire(import.meta.url)
/** Loaded at first use, with its tables of all letters. */
const library = () => require('re2js') as typeof import('re2js')

const maxPatternLength = 1_000
/** Of one pattern, in instructions: 3 to 10 ms of compiling. */
const maxPatternCost = 1_000
/** Of all patterns that are kept compiled: about 30 MB. */
const maxRememberedCost = 50_000
/** What keeping a pattern costs besides, so that refusals have a bound too. */
const keptPattern = 20
/** Instructions times characters of one search: 40 ms. */
const maxSearchSteps = 1_000_000
/** How many steps of a search take as long as compiling one instruction. */
const stepsPerInstruction = 75

interface PatternCost {
  /** Instructions that it compiles to at most, repetitions multiplied out. */
  readonly size: number
  /** With what its character classes take to read. */
  readonly whole: number
}

const character = /\\x\{[^}]*\}|\\x[0-9A-Fa-f]{2}|\\?./.source
const parts = new RegExp(
  [
    /\\Q(?<quoted>.*?)(?:\\E|$)/,
    /(?<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?|\\[pP](?:\{[^}]*\}|.)?)/,
    /(?<open>\((?:\?(?:P?<[^>]*>|[A-Za-z-]*(?::|(?<alone>\)))))?)/,
    /(?<close>\))/,
    /\{(?<min>\d+)(?<comma>,)?(?<max>\d*)\}/,
    /(?<quantifier>[*+?])/,
    { source: character },
  ]
    .map(({ source }) => source)
    .join('|'),
  'gsu',
)
const tables = /\\[pP]/g
const ranges = new RegExp(`(?<low>${character})-(?<high>${character})`, 'gsu')
/** The letters that have a case lie between these. */
const [firstFolded, lastFolded] = [0x41, 0x1e943]

/** Of a character as classes write it; undefined for an escape that may be any. */
function codeOf(written = ''): number | undefined {
  const hexadecimal = /^\\x\{?([0-9A-Fa-f]+)\}?$/.exec(written)?.[1]
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16)
  return /^\\\w/.test(written) ? undefined : written.replace('\\', '').codePointAt(0)
}

/** Characters of the ranges of a class: where the case is ignored, each is looked up. */
function foldedIn(text: string): number {
  let characters = 0
  for (const { groups } of text.matchAll(ranges)) {
    const low = Math.max(firstFolded, codeOf(groups?.low) ?? firstFolded)
    const high = Math.min(lastFolded, codeOf(groups?.high) ?? lastFolded)
    characters += Math.max(0, high - low)
  }
  return characters
}

function costOfClass(text: string, ignoresCase: boolean): number {
  const folded = ignoresCase ? foldedIn(text) / 128 : 0
  return 100 * (text.match(tables)?.length ?? 0) + text.length / 10 + folded
}

interface Group {
  /** Of its parts but the last. */
  size: number
  /** Of the part that a repetition repeats. */
  last: number
  readonly isCapture: boolean
}

const groupOf = (isCapture: boolean): Group => ({ size: 0, last: 0, isCapture })

function repeated(last: number, { min, comma, max }: Record<string, string>): number {
  const [least, most] = [Math.max(1, Number(min)), Math.max(1, Number(max))]
  if (comma === undefined) return last * least
  return max === '' ? last * least + 2 : (last + 1) * most
}

/**
 * What a pattern costs at most, by its text alone: what is repeated is multiplied, what stands side by side is added. Of
 * a text that is no pattern only the beginning is ever read, and has this cost. Beyond what one may cost it is not
 * counted on.
 */
export function costOfPattern(pattern: string): PatternCost {
  const ignoresCase = /\(\?[A-Za-z-]*i/.test(pattern)
  const around: Group[] = []
  let classes = 0
  let group = groupOf(false)
  const add = (size: number): void => {
    group.size += group.last
    group.last = size
  }
  for (const { 0: part, groups = {} } of pattern.matchAll(parts)) {
    if (group.size + group.last + classes > maxPatternCost) break
    if (groups.quoted !== undefined) {
      add(groups.quoted.length)
      add(1)
    } else if (groups.class !== undefined) {
      classes += costOfClass(part, ignoresCase)
      add(1)
    } else if (groups.alone !== undefined) {
      add(1)
    } else if (groups.open !== undefined) {
      around.push(group)
      group = groupOf(part === '(' || part.endsWith('>'))
    } else if (groups.close !== undefined) {
      const { size, last, isCapture } = group
      group = around.pop() ?? groupOf(false)
      add(Math.max(1, size + last) + (isCapture ? 2 : 0))
    } else if (groups.min !== undefined) {
      group.last = repeated(group.last, groups)
    } else if (groups.quantifier !== undefined) {
      group.last += groups.quantifier === '*' ? 2 : 1
    } else {
      // Of alternatives one may be empty, which takes an instruction too.
      add(part === '|' ? 2 : 1)
    }
  }
  const size = [...around, group].reduce((sum, each) => sum + each.size + each.last, 3)
  return { size, whole: Math.ceil(size + classes) }
}

interface Pattern extends PatternCost {
  readonly expression: RE2JS
}

/** Patterns of RE2, which have no look-ahead and no back-references: a search takes linear time. */
const readPattern = remembered(
  (pattern: string, assertTime: AssertTime): Pattern => {
    const cost = costOfPattern(pattern)
    if (cost.whole > maxPatternCost)
      throw new WrongArgument('the pattern repeats too much; give one with smaller counts')
    assertTime(cost.whole * stepsPerInstruction)
    const { RE2JS, RE2JSSyntaxException } = library()
    try {
      return { ...cost, expression: RE2JS.compile(pattern) }
    } catch (error) {
      if (!(error instanceof RE2JSSyntaxException)) throw error
      throw new WrongArgument(
        `${error.message.replace('error parsing regexp: ', 'the pattern is not valid: ')}; patterns are those of RE2`,
      )
    }
  },
  { max: maxRememberedCost, sizeOf: (pattern) => keptPattern + (pattern?.whole ?? 0) },
)

function patternOf(pattern: string, assertTime: AssertTime): Pattern {
  if (pattern.length > maxPatternLength)
    throw new WrongArgument(`a pattern must have at most ${maxPatternLength} characters`)
  return readPattern(pattern, assertTime)
}

/**
 * @param spend is told the cost before anything is compiled
 * @throws {WrongArgument} for a text that is no pattern, or one that costs too much
 */
export function checkPattern(pattern: string, spend: Spend): void {
  const { whole } = costOfPattern(pattern.slice(0, maxPatternLength))
  if (whole <= maxPatternCost) spend(whole)
  patternOf(pattern, () => {})
}

interface Search {
  readonly matcher: ReturnType<RE2JS['matcher']>
  readonly stepsPerCharacter: number
}

function searchOf(text: string, pattern: string, assertTime: AssertTime): Search {
  if (text.length > transformLimits.searchedText)
    throw new WrongArgument(`a pattern is searched in at most ${transformLimits.searchedText} characters`)
  const { size, expression } = patternOf(pattern, assertTime)
  if (size * text.length > maxSearchSteps)
    throw new WrongArgument(
      `the pattern repeats too much to be searched in ${text.length} characters; in so many it may compile to ${Math.floor(maxSearchSteps / text.length)} instructions, and has up to ${size}`,
    )
  return { matcher: expression.matcher(text), stepsPerCharacter: size }
}

/** What the first group matches, or the whole match where there is none. */
export function extractPattern(text: string, pattern: string, assertTime: AssertTime): string | undefined {
  const { matcher, stepsPerCharacter } = searchOf(text, pattern, assertTime)
  assertTime(2 * stepsPerCharacter * text.length)
  return matcher.find() ? (matcher.group(matcher.groupCount() > 0 ? 1 : 0) ?? undefined) : undefined
}

/** Each search takes linear time, but one that reads on to the end for every match makes many of them. */
export function replacePattern(
  text: string,
  pattern: string,
  replacement: string,
  assertTime: AssertTime,
): string {
  const { matcher, stepsPerCharacter } = searchOf(text, pattern, assertTime)
  let result = ''
  let end = 0
  for (;;) {
    assertTime(stepsPerCharacter * (text.length - end))
    if (!matcher.find()) return bounded(result + text.slice(end))
    result = bounded(result + text.slice(end, matcher.start()) + replacement)
    end = matcher.end()
  }
}
