import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { Figure, Paragraph, ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { findContradictions } from './contradictions.ts'
import { type FigureContext, FigureFault, textOfFigure } from './figures.ts'
import { findNumberTokens } from './number-tokens.ts'

/** What is wrong with a text of a report. */
export interface Fault {
  /** Where, as `sections.0.paragraphs.2`. */
  readonly path: string
  /** What is wrong, and with which part of the text. */
  readonly message: string
}

/**
 * Holds the texts of a report against its evidence (docs/reports.md, What a report says). It finds every number, date
 * and order in words or digits that lies outside of a figure, every figure whose text is not what its cells give, and
 * figures that overlap or lie outside of their text, and claims that contradict each other or their figures. Titles and
 * charts may tell no number at all.
 */
export function checkSections(
  sections: readonly ReportSection[],
  evidence: readonly Evidence[],
  locale: Language,
  timezone: string,
): Fault[] {
  const byId = new Map(evidence.map((each) => [each.id, each]))
  const context: FigureContext = { locale, timezone, findEvidence: (id) => byId.get(id) }
  const faults = sections.flatMap((section, i) => [
    ...checkPlain(section.title, `sections.${i}.title`),
    ...section.paragraphs.flatMap((paragraph, j) =>
      checkParagraph(paragraph, `sections.${i}.paragraphs.${j}`, context),
    ),
    ...checkChart(section, `sections.${i}.chart`, context),
  ])
  // Figures that do not lie in their texts tell no claim.
  return faults.length > 0 ? faults : findContradictions(sections, locale, context)
}

/** A text without figures. */
function checkPlain(text: string, path: string): Fault[] {
  return findNumberTokens(text).map((token) => ({
    path,
    message: `${JSON.stringify(token.text)} is a number, and no figure can stand here`,
  }))
}

function checkParagraph({ text, figures }: Paragraph, path: string, context: FigureContext): Fault[] {
  const faults: Fault[] = []
  const add = (message: string) => faults.push({ path, message })
  let end = 0
  for (const figure of figures) {
    const shown = JSON.stringify(text.slice(figure.start, figure.end))
    if (figure.start < end || figure.end <= figure.start || figure.end > text.length) {
      add(`the figure at ${figure.start} overlaps the one before it or does not lie in the text`)
      continue
    }
    end = figure.end
    if (isCutOut(text, figure)) add(`the figure ${shown} is only a part of what is written there`)
    const message = faultOf(figure, text, context)
    if (message !== undefined) add(`the figure ${shown}: ${message}`)
  }
  for (const token of findNumberTokens(text)) {
    const holds = figures.some(({ start, end }) => start <= token.start && token.end <= end)
    if (!holds) add(`${JSON.stringify(token.text)} is a number without a figure`)
  }
  return faults
}

function faultOf(figure: Figure, text: string, context: FigureContext): string | undefined {
  try {
    const expected = textOfFigure(figure, context)
    if (text.slice(figure.start, figure.end) === expected) return undefined
    return `its cells give ${JSON.stringify(expected)}`
  } catch (error) {
    if (error instanceof FigureFault) return error.message
    throw error
  }
}

/**
 * Whether a sign beside the figure belongs to its number: another digit, letter or minus would make another number of
 * it, as would a percent sign.
 */
function isCutOut(text: string, { start, end, form }: Figure): boolean {
  if (form === 'text') return false
  const [before, after] = [text.slice(Math.max(0, start - 2), start), text.slice(end, end + 3)]
  return (
    /(?:[\p{L}\p{N}\p{M}+\-−–]|\p{N}[.,'’:/\s])$/u.test(before) ||
    /^(?:[\p{L}\p{N}\p{M}]|\s?[%‰]|[.,'’:/\s-]\p{N})/u.test(after)
  )
}

/** Keys of a chart's specification whose texts are shown. */
const shownKeys: ReadonlySet<string> = new Set(['title', 'subtitle', 'description', 'text', 'label'])

function checkChart({ chart }: ReportSection, path: string, context: FigureContext): Fault[] {
  if (chart === undefined) return []
  const faults: Fault[] = []
  if (context.findEvidence(chart.evidenceId) === undefined) {
    faults.push({ path: `${path}.evidenceId`, message: `there is no evidence ${chart.evidenceId}` })
  }
  const look = (value: unknown, at: string, isShown: boolean): void => {
    if (typeof value === 'string' && isShown) faults.push(...checkPlain(value, at))
    if (typeof value === 'number' && isShown)
      faults.push({ path: at, message: 'a number stands in the chart' })
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      const carriesData = key === 'values' || key === 'datasets' || key === 'url'
      if (carriesData) faults.push({ path: `${at}.${key}`, message: 'a chart draws its evidence alone' })
      else look(inner, `${at}.${key}`, shownKeys.has(key) || (isShown && Array.isArray(value)))
    }
  }
  look(chart.specification, `${path}.specification`, false)
  return faults
}
