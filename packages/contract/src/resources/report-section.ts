import { type Static, Type } from 'typebox'
import { count, freeObject, integer, named, object, oneOf, text } from './formats.ts'

/** A cell of the evidence of a report. */
export const CellReference = named('CellReference', {
  evidenceId: text('`id` of the evidence'),
  row: count('Index in its `rows`'),
  column: text('Key in the row', 'purchases.revenue'),
})
export type CellReference = Static<typeof CellReference>

/**
 * How a figure follows from its cells: `value` is the one cell; `sum` adds all; `difference` is the first minus the
 * second; `change` is that over the second; `share` is the first over the sum of the others; `ratio` is the first over
 * the second; `mean` and `median` are of all; `count` is how many there are.
 *
 * Of four cells a, b, c, d: `contribution` is (a - b) / (c - d), `ratioDifference` a / b - c / d, and `ratioChange` that
 * over c / d. `excess` is the first minus the mean of the others; `excessShare` that of the first half of the cells over
 * that of the second half.
 *
 * `rateEffect` and `mixEffect` are the two parts that a member has in the change of a rate over all members
 * (docs/reports.md, How findings are computed). Their eight cells are numerator and denominator of the member and of
 * all, now; then the same before.
 */
export const computations = [
  'value',
  'sum',
  'difference',
  'change',
  'share',
  'ratio',
  'mean',
  'median',
  'count',
  'contribution',
  'ratioDifference',
  'ratioChange',
  'excess',
  'excessShare',
  'rateEffect',
  'mixEffect',
] as const
export type Computation = (typeof computations)[number]

/**
 * How a figure is written: in the locale of the report, with `decimals`. What tells a difference (`difference`, `change`,
 * `ratioDifference`, `ratioChange`, `excess`, `rateEffect`, `mixEffect`) has its sign, plus too. `points` are hundredths
 * without a unit; `date`, `month`, `year` and `weekday` are those of a time, in the time zone of its query.
 */
export const figureForms = [
  'text',
  'number',
  'money',
  'percent',
  'points',
  'date',
  'month',
  'year',
  'weekday',
] as const
export type FigureForm = (typeof figureForms)[number]

export const Figure = named(
  'Figure',
  {
    start: count('Where it begins in the text, in UTF-16 units'),
    end: Type.Integer({ minimum: 1, description: 'Where it ends' }),
    cells: Type.Array(CellReference, { minItems: 1, maxItems: 500, description: 'What it is computed from' }),
    computation: oneOf(computations, 'How it follows from the cells'),
    form: oneOf(figureForms, 'How it is written'),
    decimals: integer(0, 6, 'Digits behind the decimal sign'),
  },
  'A number or a name in a text, and the cells that it rests on',
)
export type Figure = Static<typeof Figure>

export const Paragraph = named('Paragraph', {
  text: Type.String({ maxLength: 4_000 }),
  figures: Type.Array(Figure, {
    maxItems: 100,
    description: 'In the order of the text; every number of the text is one',
  }),
})
export type Paragraph = Static<typeof Paragraph>

export const sectionKinds = [
  'summary',
  'change',
  'drivers',
  'course',
  'season',
  'outliers',
  'breakdown',
  'answer',
  'limits',
] as const

export const ReportSection = named('ReportSection', {
  id: Type.String(),
  kind: oneOf(sectionKinds, 'What it tells'),
  title: Type.String({ maxLength: 300 }),
  paragraphs: Type.Array(Paragraph, { maxItems: 20 }),
  chart: Type.Optional(
    object({
      evidenceId: text('The evidence whose rows it draws'),
      specification: freeObject(
        'Vega-Lite 5 without data: `data.name` is the id of the evidence, its fields are the columns',
      ),
    }),
  ),
  generationId: text('Generation that wrote it'),
  question: Type.Optional(text('For `answer`: the follow-up question')),
})
export type ReportSection = Static<typeof ReportSection>
