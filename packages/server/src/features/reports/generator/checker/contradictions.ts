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

/** A thing or time that a statement is about, and where it stands. */
interface About {
  readonly about: string
  readonly path: string
}

/**
 * Claims of a report that cannot both be true: something rose and fell, or rises where its figures fall; the usual that
 * changed or holds extraordinary days; an extraordinary day on which a new level begins; a day that is the highest and
 * the lowest, or far below what was expected.
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
  const [whole, , before, , now] = movement
  const numbers = [before, now].map((number) => numberOf(figures[Number(number)], context))
  const [earlier = Number.NaN, own = Number.NaN] = numbers
  const told = [...text.slice(whole.length).matchAll(/⟦(\d+)⟧/g)]
    .map(([, number]) => figures[Number(number)])
    .filter((figure) => figure && signed.has(figure.computation))
    .map((figure) => numberOf(figure, context))
  return [own - earlier, ...told].some((difference) => Math.sign(difference) === -sign)
    ? [{ path, message: `what is said to ${sign > 0 ? 'rise' : 'fall'} does not by its figures` }]
    : []
}

function numberOf(figure: Figure | undefined, context: FigureContext): number {
  try {
    return figure ? valueOfFigure(figure, context) : Number.NaN
  } catch (error) {
    // Of a figure that cannot be computed the checker says so elsewhere.
    if (error instanceof FigureFault) return Number.NaN
    throw error
  }
}

/** What statements about one subject say of each other. */
function againstEachOther(statements: readonly Statement[], locale: Language): Contradiction[] {
  const { claims } = phrasesOf(locale)
  const having = (claim: RegExp) => statements.filter(({ text }) => claim.test(text))
  /** The day, week or month that each of such statements names. */
  const times = (claim: RegExp, some = statements) =>
    some.flatMap((statement) => {
      const time = shownIn(statement, claim.exec(statement.text)?.[1])
      return time === undefined ? [] : [{ about: time, path: statement.path }]
    })
  const movements = (claim: RegExp) =>
    having(claim).map((statement) => ({ about: whatOf(statement, claim), path: statement.path }))
  /** Statements of two kinds about the same thing. */
  const both = (some: readonly About[], others: readonly About[], message: string) =>
    some
      .filter(({ about }) => others.some((other) => other.about === about))
      .map(({ about, path }) => ({ path, message: `${about}: ${message}` }))
  const either = (some: readonly Statement[], others: readonly Statement[], message: string) =>
    some.length > 0 ? others.slice(0, 1).map(({ path }) => ({ path, message })) : []

  const within = having(claims.isWithin)
  const drivers = [claims.rises, claims.falls].flatMap(having).filter(({ kind }) => kind === 'drivers')
  const usualPeaks = having(claims.peakIsUsual).flatMap(({ before }) => (before ? [before] : []))
  const outliers = times(claims.outlier)
  return [
    ...both(movements(claims.rises), movements(claims.falls), 'rose and fell'),
    ...either(within, having(claims.isBeyond), 'what is usual is said to be more than that'),
    ...either(within, having(claims.levelChange), 'what is usual is said to have changed its level'),
    ...either(within, drivers, 'what is usual is said to be driven by members'),
    ...either(within, having(claims.outlier), 'what is usual is said to hold extraordinary days'),
    ...either(having(claims.noDrivers), drivers, 'no member changed, and some did'),
    ...both(times(claims.highest, usualPeaks), outliers, 'an extraordinary day is said to be usual'),
    ...both(times(claims.highest), times(claims.farBelow), 'the highest is said to be far below'),
    ...both(times(claims.levelChange), outliers, 'a new level begins with an extraordinary day'),
    ...both(times(claims.highest), times(claims.lowest), 'the highest and the lowest'),
  ]
}

/** The figure of a number in a statement, as it is shown. */
function shownIn({ figures, shown }: Statement, number: string | undefined): string | undefined {
  const figure = number === undefined ? undefined : figures[Number(number)]
  return figure && shown(figure)
}

/** What a movement is of, and what it is compared with. */
function whatOf(statement: Statement, claim: RegExp): string {
  const [, subject = '', , base = ''] = claim.exec(statement.text) ?? []
  const named = subject.replace(/⟦(\d+)⟧/g, (_, number: string) => shownIn(statement, number) ?? '')
  return `${named}${base}`
}
