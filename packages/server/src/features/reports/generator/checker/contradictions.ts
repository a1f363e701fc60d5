import type { Figure, Paragraph, ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { phrasesOf } from '../language/phrases.ts'
import { type FigureContext, FigureFault, valueOfFigure } from './figures.ts'

/** A sentence whose figures stand as their number in pointed brackets, so that no name in the data makes a claim. */
interface Statement {
  readonly kind: ReportSection['kind']
  readonly text: string
  /** Of the paragraph, by their number. */
  readonly figures: readonly Figure[]
  readonly shown: (figure: Figure) => string
  readonly before: Statement | undefined
  readonly path: string
}

interface Contradiction {
  readonly path: string
  readonly message: string
}

/**
 * Claims of a report that cannot both be true: something rose and fell, or rises where its figures fall; the usual that
 * changed; an extraordinary day on which a new level begins; a day that is the highest and the lowest.
 */
export function findContradictions(
  sections: readonly ReportSection[],
  locale: Language,
  context: FigureContext,
): Contradiction[] {
  const statements = sections.map(({ kind, paragraphs }, i) =>
    paragraphs.flatMap((paragraph, j) => statementsOf(paragraph, kind, `sections.${i}.paragraphs.${j}`)),
  )
  return subjectsOf(sections, statements).flatMap((some) => [
    ...some.flatMap((statement) => againstFigures(statement, locale, context)),
    ...againstEachOther(some, locale),
  ])
}

/** The statements about each subject, whose sections begin with its summary. */
function subjectsOf(
  sections: readonly ReportSection[],
  statements: readonly (readonly Statement[])[],
): Statement[][] {
  const subjects: Statement[][] = [[]]
  sections.forEach(({ kind }, i) => {
    if (kind === 'summary') subjects.push([])
    subjects.at(-1)?.push(...(statements[i] ?? []))
  })
  return subjects
}

function statementsOf({ text, figures }: Paragraph, kind: Statement['kind'], path: string): Statement[] {
  let masked = ''
  let from = 0
  figures.forEach(({ start, end }, i) => {
    masked += `${text.slice(from, start)}⟦${i}⟧`
    from = end
  })
  masked += text.slice(from)
  const statements: Statement[] = []
  for (const sentence of masked.split(/(?<=\.) /)) {
    const shown = ({ start, end }: Figure) => text.slice(start, end)
    statements.push({ kind, text: sentence, figures, shown, before: statements.at(-1), path })
  }
  return statements
}

/** Computations whose sign says whether something rose or fell. */
const signed: ReadonlySet<string> = new Set(['change', 'difference', 'ratioChange', 'ratioDifference'])

/** A movement goes the way of its values and of each difference that it tells. */
function againstFigures(
  { text, figures, path }: Statement,
  locale: Language,
  context: FigureContext,
): Contradiction[] {
  const { rises, falls } = phrasesOf(locale).claims
  const movement = rises.exec(text) ?? falls.exec(text)
  if (!movement) return []
  const sign = rises.test(text) ? 1 : -1
  const valueOf = (number: string | undefined) => {
    const figure = figures[Number(number)]
    return figure ? computed(figure, context) : undefined
  }
  const [before, now] = [valueOf(movement[2]), valueOf(movement[4])]
  const told = [...text.slice(movement[0].length).matchAll(/⟦(\d+)⟧/g)]
    .filter(([, number]) => signed.has(figures[Number(number)]?.computation ?? ''))
    .map(([, number]) => valueOf(number))
  const differences = [now !== undefined && before !== undefined ? now - before : undefined, ...told]
  return differences.some((difference) => difference !== undefined && Math.sign(difference) !== sign)
    ? [{ path, message: `what is said to ${sign > 0 ? 'rise' : 'fall'} does not by its figures` }]
    : []
}

function computed(figure: Figure, context: FigureContext): number | undefined {
  try {
    return valueOfFigure(figure, context)
  } catch (error) {
    // Of a figure that cannot be computed the checker says so elsewhere.
    if (error instanceof FigureFault) return undefined
    throw error
  }
}

/** Statements about one subject. */
function againstEachOther(statements: readonly Statement[], locale: Language): Contradiction[] {
  const { claims } = phrasesOf(locale)
  const found: Contradiction[] = []
  const all = (claim: RegExp) => statements.filter(({ text }) => claim.test(text))
  const refuse = (some: readonly Statement[], others: readonly Statement[], message: string) => {
    const [first] = others
    if (some.length > 0 && first) found.push({ path: first.path, message })
  }
  /** The days that such statements name. */
  const daysOf = (claim: RegExp, some = statements) =>
    some.flatMap(({ text, figures, shown }) => {
      const figure = figures[Number(claim.exec(text)?.[1] ?? Number.NaN)]
      return figure ? [shown(figure)] : []
    })
  const isAmong = (days: readonly string[], others: readonly string[]) =>
    days.some((day) => others.includes(day))
  const refuseDays = (days: readonly string[], others: readonly string[], message: string) => {
    if (isAmong(days, others)) found.push({ path: statements[0]?.path ?? '', message })
  }

  const movements = [claims.rises, claims.falls].map((claim) => new Set(all(claim).map((each) => whatOf(each, claim))))
  const [risen, fallen] = movements
  for (const what of risen ?? []) {
    if (fallen?.has(what)) found.push({ path: '', message: `${what} rose and fell` })
  }
  const within = all(claims.isWithin)
  const drivers = [claims.rises, claims.falls].flatMap(all).filter(({ kind }) => kind === 'drivers')
  refuse(within, all(claims.isBeyond), 'what is usual is said to be more than that')
  refuse(within, all(claims.levelChange), 'what is usual is said to have changed its level')
  refuse(within, drivers, 'what is usual is said to be driven by members')
  refuse(all(claims.noDrivers), drivers, 'no member changed, and some did')
  const usualPeaks = all(claims.peakIsUsual).flatMap(({ before }) => (before ? [before] : []))
  const outliers = daysOf(claims.outlier)
  refuseDays(daysOf(claims.highest, usualPeaks), outliers, 'an extraordinary day is said to be usual')
  refuseDays(daysOf(claims.levelChange), outliers, 'a new level begins with an extraordinary day')
  refuseDays(daysOf(claims.highest), daysOf(claims.lowest), 'one is the highest and the lowest')
  return found
}

/** What a movement is of, and what it is compared with. */
function whatOf({ text, figures, shown }: Statement, claim: RegExp): string {
  const [, subject = '', , base = ''] = claim.exec(text) ?? []
  const named = subject.replace(/⟦(\d+)⟧/g, (_, number: string) => {
    const figure = figures[Number(number)]
    return figure ? shown(figure) : ''
  })
  return `${named}${base.replace(/⟦\d+⟧/g, '')}`
}
