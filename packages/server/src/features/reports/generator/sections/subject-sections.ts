import type { CellReference, ReportSection } from '@millrace/contract/resources/report-section.ts'
import { median as medianOf } from '../findings/robust.ts'
import type {
  Breakdown,
  ComparedWindow,
  Course,
  Driver,
  RateCells,
  SubjectFindings,
} from '../findings/subject-findings.ts'
import type { ChangeParts, MemberParts, Part, Sentence } from '../language/paragraph.ts'
import { isAdditive, isMultiValued } from '../plans/subject.ts'
import { barChart, lineChart } from './charts.ts'
import type { Writer } from './writer.ts'

/** Entries of a list in a text. */
const maxDrivers = 6
const maxOutliers = 6
const maxBreakdownMembers = 5

/** What a report says of a subject. */
export function subjectSections(findings: SubjectFindings, writer: Writer): ReportSection[] {
  const { subject, told, course, breakdowns } = findings
  const { title } = writer.noun(subject.name ?? subject.measure)
  const section = (kind: keyof typeof texts, chart?: ReportSection['chart']): ReportSection | undefined =>
    writer.section(kind, `${writer.phrases.sections[kind]} – ${title}`, texts[kind](findings, writer), chart)
  return [
    section('summary'),
    section('change'),
    section('drivers'),
    section('course', told && lineOf(told, findings, writer)),
    section('season'),
    section(
      'outliers',
      findings.outliers.length > 0 && course ? lineOf(course, findings, writer) : undefined,
    ),
    ...breakdowns.map((each) => breakdown(each, findings, writer)),
  ].filter((each) => each !== undefined)
}

/** What each kind of section says. */
const texts = { summary, change, drivers, course, season, outliers }

function hasFacts({ now, subject }: SubjectFindings): boolean {
  return (now?.number(subject.sample) ?? 0) > 0
}

function summary(findings: SubjectFindings, writer: Writer): Sentence[][] {
  const { subject, now, course, totals } = findings
  const { phrases } = writer
  const noun = writer.noun(subject.name ?? subject.measure)
  if (!now || !totals || !hasFacts(findings)) return []
  const value = writer.value(subject.measure, now.cell(subject.measure))
  const [first, last] = [course?.rows[0], course?.rows.at(-1)]
  const isDaily = course?.granularity === 'day' && first && last
  const begin = isDaily
    ? phrases.total(
        noun,
        value,
        writer.time('date', first.cell(course.column)),
        writer.time('date', last.cell(course.column)),
      )
    : phrases.totalInRange(noun, value, writer.text(now.cell('compareDateRange')))
  const others = subject.totals
    .filter((id) => id !== subject.measure && now.number(id) !== undefined)
    .map((id) => phrases.alsoTotal(writer.noun(id), writer.value(id, now.cell(id))))
  return [[begin, ...others], headline(findings, writer)]
}

/** The finding that a reader must not miss: what drove the change, or the peak. */
function headline(findings: SubjectFindings, writer: Writer): Sentence[] {
  const { drivers, peak, told, subject, peakDrivers } = findings
  const [first] = drivers
  const sentences: Sentence[] = []
  if (peak && told && peak.standsOut) {
    sentences.push(...peakSentences(findings, writer).slice(0, 1))
    const [driver] = peakDrivers
    if (driver) sentences.push(peakDriverSentence(driver, subject.measure, writer))
  }
  if (first) {
    sentences.push(...driverSentences(first, findings, writer))
    sentences.push(...missingDays(findings, ['period', 'before'], writer))
  }
  return sentences
}

function change(findings: SubjectFindings, writer: Writer): Sentence[][] {
  const { subject, now, before, yearBefore, uncovered, variation, course } = findings
  const { phrases } = writer
  if (!hasFacts(findings)) return []
  const measures = [...new Set([subject.measure, ...subject.totals])]
  const paragraphs: Sentence[][] = []
  if (uncovered.before === undefined) {
    const sentences = measures.flatMap((measure) => {
      const parts = named(writer.change(measure, now, before, subject.sample), measure, subject, writer)
      if (!parts) return []
      const isJudged = measure === subject.measure && parts.direction !== 'same'
      const judged = isJudged && variation && course ? [phrases.variation(variation, course.granularity)] : []
      return [phrases.change(parts), ...judged]
    })
    paragraphs.push([...sentences, ...missingDays(findings, ['period', 'before'], writer)])
  }
  if (uncovered.yearBefore === undefined && yearBefore) {
    paragraphs.push(
      measures.flatMap((measure) => {
        const parts = named(writer.change(measure, now, yearBefore, subject.sample), measure, subject, writer)
        return parts ? [phrases.yearChange(parts)] : []
      }),
      missingDays(findings, ['yearBefore'], writer),
    )
  }
  return paragraphs
}

/** How many days of windows lack any data, which percentages over them must not hide. */
function missingDays(
  { missing }: SubjectFindings,
  windows: readonly ComparedWindow[],
  writer: Writer,
): Sentence[] {
  return windows.flatMap((window) => {
    const cells = missing[window]
    return cells.length === 0 ? [] : [writer.phrases.missingDays(window, writer.countOf(cells))]
  })
}

/** The change with the name that the subject has for its own measure. */
function named(
  parts: ChangeParts | undefined,
  measure: string,
  subject: SubjectFindings['subject'],
  writer: Writer,
): ChangeParts | undefined {
  if (!parts || measure !== subject.measure || subject.name === undefined) return parts
  return { ...parts, noun: writer.noun(subject.name) }
}

function memberParts(
  { dimension, key, cell }: { dimension: string; key: string | null; cell: CellReference },
  writer: Writer,
): MemberParts {
  return { dimension: writer.dimension(dimension), name: writer.member(dimension, key, cell) }
}

function drivers(findings: SubjectFindings, writer: Writer): Sentence[][] {
  const { drivers, testedMembers, uncovered, variation } = findings
  const { phrases } = writer
  if (uncovered.before !== undefined || testedMembers === 0) return []
  if (drivers.length === 0) return [[phrases.noDrivers(variation)]]
  const told = drivers.slice(0, maxDrivers).map((driver) => driverSentences(driver, findings, writer))
  const others = drivers.length > maxDrivers ? [phrases.otherDrivers()] : []
  return [...told, [...others, ...missingDays(findings, ['period', 'before'], writer)]]
}

function driverSentences(driver: Driver, { subject }: SubjectFindings, writer: Writer): Sentence[] {
  const { phrases } = writer
  const { member, rate, now, before, allNow, allBefore, changedAt, weight, smallBase } = driver
  const parts = memberParts(member, writer)
  const measure = rate?.id ?? subject.measure
  const noun = writer.noun(rate?.id ?? subject.name ?? measure)
  const figure = ({ value, base }: RateCells) =>
    base ? writer.figure(measure, 'ratio', [value, base]) : writer.value(measure, value)
  const sentences: Sentence[] = []
  if (now && !before) sentences.push(phrases.newMember(parts, noun, figure(now)))
  if (before && !now) sentences.push(phrases.goneMember(parts, noun, figure(before)))
  if (now && before) {
    const cells = [...cellsOf(now), ...cellsOf(before)]
    sentences.push(
      phrases.driver(parts, {
        noun,
        now: figure(now),
        before: figure(before),
        difference: writer.difference(measure, cells),
        change: writer.relative(rate ? 'ratioChange' : 'change', cells),
        smallBase: smallBase && writer.smallBase(smallBase.measure, smallBase.cell),
        direction: driver.rises ? 'up' : 'down',
      }),
    )
    if (!rate && weight !== 0 && isAdditive(measure)) {
      const of = [now.value, before.value, allNow.value, allBefore.value]
      sentences.push(phrases.contribution(writer.percent('contribution', of), weight > 0))
    }
    const bases = [now, allNow, before, allBefore].flatMap(cellsOf)
    if (rate && rate.id !== 'conversion' && bases.length === 8 && isShare(rate.id)) {
      sentences.push(phrases.rateParts(writer.points('rateEffect', bases), writer.points('mixEffect', bases)))
    }
  }
  if (changedAt) {
    sentences.push(phrases.changedAt(writer.time('date', changedAt.cell), changedAt.granularity))
  }
  return sentences
}

function cellsOf({ value, base }: RateCells): CellReference[] {
  return base ? [value, base] : [value]
}

/** Rates that are a share of something, so that their differences are points. */
function isShare(rate: string): boolean {
  return rate === 'sessions.bounceRate'
}

function peakSentences(findings: SubjectFindings, writer: Writer): Sentence[] {
  const { told, peak, subject, levelChange } = findings
  const { phrases } = writer
  const row = peak && told?.rows[peak.index]
  if (!told || !peak || !row) return []
  const noun = writer.noun(subject.name ?? subject.measure)
  const value = writer.value(subject.measure, row.cell(subject.measure))
  const cells = told.rows.map((each) => each.cell(subject.measure))
  const others = cells.filter((_, i) => i !== peak.index)
  const excess = writer.figure(subject.measure, 'excess', [row.cell(subject.measure), ...others])
  const highest = phrases.peak(told.granularity, noun, bucketTime(told, row.cell(told.column), writer), value)
  if (peak.standsOut) return [highest, phrases.peakStandsOut(told.granularity, excess)]
  // Over two levels nothing is usual.
  return levelChange ? [highest] : [highest, phrases.peakIsUsual(told.granularity)]
}

function bucketTime({ granularity }: Course, cell: CellReference, writer: Writer): Part {
  return writer.time(granularity === 'month' ? 'month' : 'date', cell)
}

function peakDriverSentence(
  { member, cells, allCells }: SubjectFindings['peakDrivers'][number],
  measure: string,
  writer: Writer,
): Sentence {
  const [first] = cells
  if (!first) return []
  return writer.phrases.peakDriver(
    memberParts(member, writer),
    writer.value(measure, first),
    writer.percent('excessShare', [...cells, ...allCells]),
  )
}

function course(findings: SubjectFindings, writer: Writer): Sentence[][] {
  const { told, lowest, subject, peakDrivers, levelChange } = findings
  const { phrases } = writer
  if (!told || !hasFacts(findings)) return []
  return [
    [
      ...peakSentences(findings, writer),
      ...peakDrivers.map((driver) => peakDriverSentence(driver, subject.measure, writer)),
    ],
    lowest
      ? [
          phrases.lowest(
            told.granularity,
            bucketTime(told, lowest.cell(told.column), writer),
            writer.value(subject.measure, lowest.cell(subject.measure)),
          ),
        ]
      : [],
    missingDays(findings, ['period'], writer),
    levelChange
      ? [
          phrases.levelChange(
            levelChange.rises,
            writer.time('date', levelChange.cell),
            findings.course?.granularity ?? 'day',
          ),
        ]
      : [],
  ]
}

function lineOf(course: Course, { subject }: SubjectFindings, writer: Writer) {
  const time = { column: course.column, title: '' }
  return lineChart(course.evidence, time, {
    column: subject.measure,
    title: writer.noun(subject.name ?? subject.measure).title,
  })
}

function season({ season, seasonal: course, subject }: SubjectFindings, writer: Writer): Sentence[][] {
  const [high, low] = [season?.ranking[0], season?.ranking.at(-1)]
  if (!course || high === undefined || low === undefined) return []
  const { measure } = subject
  const of = (weekday: number) => course.rows.filter((_, i) => course.weekdays?.[i] === weekday)
  const [highRows, lowRows] = [of(high), of(low)]
  const [highFirst, lowFirst] = [highRows[0], lowRows[0]]
  if (!highFirst || !lowFirst) return []
  // Weekdays are ranked within their weeks, and told by their medians: where these differ nothing is told.
  const [highest = 0, lowest = 0] = [highRows, lowRows].map((rows) =>
    medianOf(rows.map((row) => row.number(measure) ?? 0)),
  )
  if (highest <= lowest) return []
  const median = (rows: Course['rows']) =>
    writer.figure(
      measure,
      'median',
      rows.map((row) => row.cell(measure)),
    )
  return [
    [
      writer.phrases.season(
        writer.noun(subject.name ?? measure),
        writer.time('weekday', highFirst.cell(course.column)),
        median(highRows),
        writer.time('weekday', lowFirst.cell(course.column)),
        median(lowRows),
        median(course.rows),
      ),
    ],
  ]
}

/** Days to either side of an outlier whose median is told. */
const reach = 10

function outliers({ outliers, seasonal: course, subject }: SubjectFindings, writer: Writer): Sentence[][] {
  if (!course) return []
  const { measure } = subject
  const strongest = outliers
    .toSorted((a, b) => a.pValue - b.pValue)
    .slice(0, maxOutliers)
    .toSorted((a, b) => a.index - b.index)
  return strongest.map(({ index, expected }) => {
    const row = course.rows[index]
    if (!row) return []
    const around = course.rows
      .slice(Math.max(0, index - reach), index + reach + 1)
      .filter((each) => each !== row)
    const cells = around.map((each) => each.cell(measure))
    return [
      writer.phrases.outlier(
        writer.noun(subject.name ?? measure),
        writer.time('date', row.cell(course.column)),
        writer.value(measure, row.cell(measure)),
        (course.values[index] ?? 0) > expected,
        writer.figure(measure, 'median', cells),
      ),
    ]
  })
}

function breakdown(
  { dimension, evidence, rows }: Breakdown,
  { subject, now }: SubjectFindings,
  writer: Writer,
): ReportSection | undefined {
  const { measure } = subject
  const { phrases } = writer
  const noun = writer.noun(subject.name ?? measure)
  const hasShares =
    isAdditive(measure) &&
    !isMultiValued(dimension) &&
    (now?.number(measure) ?? 0) > 0 &&
    rows.every((row) => (row.number(measure) ?? 0) >= 0)
  const members = rows
    .slice(0, maxBreakdownMembers)
    .map((row) =>
      phrases.memberValue(
        writer.member(dimension, row.key(dimension), row.cell(dimension)),
        writer.value(measure, row.cell(measure)),
        hasShares && now ? writer.percent('share', [row.cell(measure), now.cell(measure)]) : undefined,
      ),
    )
  const dimensionName = writer.dimension(dimension)
  return writer.section(
    'breakdown',
    phrases.sections.breakdown(noun.title, dimensionName),
    [[phrases.members(members)]],
    barChart(evidence, { column: dimension, title: dimensionName }, { column: measure, title: noun.title }),
  )
}
