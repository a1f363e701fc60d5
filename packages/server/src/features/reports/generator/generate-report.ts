import type { Filter, Query } from '@millrace/contract/resources/query.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { type Clock, systemClock } from '../../../platform/clock.ts'
import type { PlannedQuery } from '../../questions/planned-query.ts'
import type { TimeRules } from '../../questions/time-rules.ts'
import type { RunContext, RunQuery } from '../evidence/evidence-runner.ts'
import { type ToldWindows, toldWindows } from '../periods/periods.ts'
import { checkSections } from './checker/check-sections.ts'
import { findNumberTokens } from './checker/number-tokens.ts'
import { createEvidenceSource, type EvidenceSource } from './evidence/evidence-source.ts'
import { localDay, rowsOf } from './evidence/table.ts'
import { analyseSubject } from './findings/analyse-subject.ts'
import type { AnalysisContext, Windows } from './findings/analysis-context.ts'
import { askComparable } from './findings/missing-days.ts'
import type { SubjectFindings } from './findings/subject-findings.ts'
import type { GeneratedReport, GenerationRequest } from './generation.ts'
import type { Sentence } from './language/paragraph.ts'
import { type Aside, guidedPlan, type Presence } from './plans/guided.ts'
import { courseGranularity, courseQuery, membersQuery, totalsQuery } from './plans/queries.ts'
import { dimensionsOf, type Subject, sourceOf, subjectOf } from './plans/subject.ts'
import { answerSection } from './sections/answer-section.ts'
import { subjectSections } from './sections/subject-sections.ts'
import { createWriter, type Writer } from './sections/writer.ts'

export interface ReportGeneratorDependencies {
  readonly runQuery: RunQuery<Required<RunContext>>
  /** What the company can query. */
  readonly describe: (companyId: string) => Promise<StatisticsMeta>
  readonly time: TimeRules
  readonly clock?: Clock
}

export type ReportGenerator = ReturnType<typeof createReportGenerator>

/** Queries that a guided analysis asks about, for its progress. */
const expectedQueries = 20
/** Dimensions in which causes are looked for beside the answers of a question. */
const maxPlanDimensions = 5

export function createReportGenerator({
  runQuery,
  describe,
  time,
  clock = systemClock,
}: ReportGeneratorDependencies) {
  return {
    /**
     * Plans the queries of an analysis, runs them, finds what is to be told and writes it; its texts have passed
     * `checkSections`.
     * @throws {GenerationFailure} where every query failed
     * @throws the reason of `signal` once it is aborted
     */
    async generate(request: GenerationRequest): Promise<GeneratedReport> {
      const begun = performance.now()
      const { analysis, locale, timezone, generationId, currency, signal } = request
      signal.throwIfAborted()
      const meta = await describe(request.companyId)
      const planned = analysis.kind === 'plan' ? analysis.queries.length : 0
      const source = createEvidenceSource(runQuery, request, planned + expectedQueries)
      const writer = createWriter({
        locale,
        timezone,
        meta,
        generationId,
        currency,
        findEvidence: (id) => source.find(id),
      })
      const { period, comparisonWindows } = request
      const [now, zone] = [clock.now(), time.openZone(timezone)]
      const { state, ...told } = toldWindows(period, comparisonWindows, now, zone, time)
      const { previousPeriod, previousYear } = told.comparisonWindows
      const windows: Windows = { period: told.period, before: previousPeriod, yearBefore: previousYear }
      const work: Work = { request, source, writer, meta, windows, state, now }
      const { sections, isLimited } = await (analysis.kind === 'guided'
        ? guided(analysis.guidedAnalysis, work)
        : answered(analysis, work))
      source.requireAny()
      signal.throwIfAborted()
      const faults = checkSections(sections, source.evidence, locale, timezone)
      const [fault] = faults
      if (fault) throw new Error(`the text of a report is wrong at ${fault.path}: ${fault.message}`)
      return {
        title: analysis.kind === 'guided' ? writer.phrases.titles[analysis.guidedAnalysis] : analysis.title,
        sections,
        evidence: [...source.evidence],
        quality: isLimited ? 'limited' : 'answered',
        usage: { ...source.usage, durationMs: Math.round(performance.now() - begun) },
      }
    },
  }
}

interface Work {
  readonly request: GenerationRequest
  readonly source: EvidenceSource
  readonly writer: Writer
  readonly meta: StatisticsMeta
  readonly windows: Windows
  readonly state: ToldWindows['state']
  readonly now: number
}

interface Written {
  readonly sections: ReportSection[]
  readonly isLimited: boolean
}

function contextOf({ source, meta, windows, state, request }: Work, subjects: number): AnalysisContext {
  const { ask, askTogether } = source
  const isBegun = state === 'begun'
  return { ask, askTogether, meta, windows, isBegun, timezone: request.timezone, subjects }
}

type Guided = Extract<GenerationRequest['analysis'], { kind: 'guided' }>
type Planned = Extract<GenerationRequest['analysis'], { kind: 'plan' }>

async function guided(analysis: Guided['guidedAnalysis'], work: Work): Promise<Written> {
  const { writer, meta } = work
  const { subjects, presences, asides } = guidedPlan(analysis, meta)
  const context = contextOf(work, subjects.length)
  const [present, beside, ...findings] = await Promise.all([
    Promise.all(presences.map((presence) => askPresence(presence, work))),
    Promise.all(asides.map((aside) => askAside(aside, work))),
    ...subjects.map((subject) => analyseSubject(subject, context)),
  ])
  const told = present.filter((sentence) => sentence !== undefined)
  const opening = writer.section('summary', writer.phrases.titles[analysis], [told])
  const limits = limitsOf(findings, work)
  if (analysis === 'impact' && findings.every(isEmpty)) limits.push(writer.phrases.absent('influence'))
  return finish(
    [
      ...(opening ? [opening] : []),
      ...findings.flatMap((each) => subjectSections(each, writer)),
      ...beside.filter((section) => section !== undefined),
    ],
    limits,
    findings.some(isWeak) || work.source.failed.length > 0,
    writer,
  )
}

async function askAside(
  { measure, dimension, byTime }: Aside,
  work: Work,
): Promise<ReportSection | undefined> {
  const { source, writer, windows, request, state } = work
  const { period, before } = windows
  const { phrases } = writer
  const compared = state === 'begun' ? [period] : [period, before]
  const scope = { source: sourceOf(measure), filters: [], timezone: request.timezone }
  const { title } = writer.noun(measure)
  const granularity = courseGranularity(period)
  const asks = dimension ? phrases.sections.breakdown(title, writer.dimension(dimension)) : title
  const kind = dimension ? 'breakdown' : byTime ? 'course' : 'change'
  const query = {
    breakdown: () => membersQuery(scope, [measure], dimension ?? '', compared),
    course: () => courseQuery(scope, [measure], period, granularity),
    change: () => totalsQuery(scope, [measure], compared),
  }[kind]()
  const planned: PlannedQuery = { query, asks, chart: byTime ? 'line' : 'bar' }
  const [evidence, isComparable] = await Promise.all([source.ask(query), comparableOf(query, work)])
  return evidence && answerSection(planned, evidence, writer, isComparable, kind)
}

function comparableOf(query: Query, { request, now, source }: Work) {
  return askComparable(query, now, request.timezone, source.ask)
}

async function askPresence(
  { id, filters }: Presence,
  { source, writer, windows, request }: Work,
): Promise<Sentence | undefined> {
  const { start, end } = windows.period
  const evidence = await source.ask({
    measures: ['events.count', 'events.people'],
    dimensions: [],
    filters: [...filters],
    timeDimensions: [{ dimension: 'events.time', dateRange: [start, end] }],
    timezone: request.timezone,
    limit: 1,
  })
  const row = evidence && rowsOf(evidence)[0]
  if (!row) return undefined
  if ((row.number('events.count') ?? 0) === 0) return writer.phrases.absent(id)
  return writer.phrases.presence(
    id,
    writer.count(row.cell('events.count')),
    writer.count(row.cell('events.people')),
  )
}

/** The answers of a question or a dashboard, then what changed in its first measure and why. */
async function answered({ queries, unread }: Planned, work: Work): Promise<Written> {
  const { source, writer, meta, request } = work
  const { timezone } = request
  const subject = subjectOfPlan(queries, meta)
  // As they are stored: an attempt that goes on finds them by it.
  const asked = queries.map(({ query }) => ({ ...query, timezone: query.timezone ?? timezone }))
  const [answers, comparable, findings] = await Promise.all([
    Promise.all(asked.map(source.ask)),
    Promise.all(asked.map((query) => comparableOf(query, work))),
    subject ? analyseSubject(subject, contextOf(work, 1)) : undefined,
  ])
  const sections = queries.flatMap((planned, i) => {
    const [evidence, isComparable] = [answers[i], comparable[i]]
    const section = evidence && isComparable && answerSection(planned, evidence, writer, isComparable)
    return section ? [section] : []
  })
  const all = findings ? [findings] : []
  const analysed = all.flatMap((each) => subjectSections(each, writer))
  const setsToday = asked.some((query) => comparesToday(query, work))
  const limits = [
    ...unreadParts(unread, writer),
    ...(setsToday ? [writer.phrases.todayIsBegun()] : []),
    ...limitsOf(all, work),
  ]
  const isLimited = unread.length > 0 || queries.length === 0 || all.some(isWeak) || source.failed.length > 0
  return finish([...sections, ...analysed], limits, isLimited, writer)
}

/** The first measure that is asked for, with the filters of its query. */
function subjectOfPlan(queries: readonly PlannedQuery[], meta: StatisticsMeta): Subject | undefined {
  for (const { query } of queries) {
    const [measure] = query.measures
    if (measure === undefined) continue
    const source = sourceOf(measure)
    const isOwn = query.measures.every((id) => sourceOf(id) === source)
    if (!isOwn || isOfGroups(query.filters, meta)) continue
    const asked = query.dimensions.filter((id) => sourceOf(id) === source && canGroup(id, meta))
    const others = dimensionsOf(source, meta).filter((id) => !asked.includes(id))
    const subject = subjectOf(measure, query.filters, [...asked, ...others].slice(0, maxPlanDimensions))
    if (subject) return subject
  }
  return undefined
}

function canGroup(id: string, meta: StatisticsMeta): boolean {
  const dimension = Object.hasOwn(meta.dimensions, id) ? meta.dimensions[id] : undefined
  return dimension !== undefined && dimension.type !== 'time' && dimension.filterOnly !== true
}

/** Whether a filter chooses among groups after they are summed: it would choose others in other groups. */
function isOfGroups(filters: readonly Filter[], meta: StatisticsMeta): boolean {
  return filters.some((filter) => {
    if ('and' in filter || 'or' in filter) {
      const { and = [], or = [] } = filter
      return isOfGroups([...and, ...or], meta)
    }
    const member = 'operator' in filter ? (filter.member ?? filter.dimension ?? '') : ''
    return Object.hasOwn(meta.measures, member)
  })
}

function isEmpty({ now, subject }: SubjectFindings): boolean {
  return (now?.number(subject.sample) ?? 0) === 0
}

/** Facts below which a report tells too little to be an answer. */
const minFacts = 30

function isWeak(findings: SubjectFindings): boolean {
  const facts = findings.now?.number(findings.subject.sample) ?? 0
  return facts < minFacts || findings.uncovered.before !== undefined
}

/** Whether a query sets a range that holds the present day against others. */
function comparesToday({ timeDimensions, timezone }: Query, { now, request }: Work): boolean {
  const today = localDay(now, timezone ?? request.timezone)
  return timeDimensions.some(({ compareDateRange }) =>
    compareDateRange?.some((range) => {
      const [start, end = start] = [range].flat()
      if (!start || !end) return false
      return end.length === 10 ? start.slice(0, 10) <= today && today <= end : now < Date.parse(end)
    }),
  )
}

function limitsOf(findings: readonly SubjectFindings[], { writer, source, state }: Work): Sentence[] {
  const { phrases } = writer
  const ofSubjects = findings.flatMap((each) => {
    const { subject, uncovered, firstDay, totals } = each
    const noun = writer.noun(subject.name ?? subject.measure)
    if (!totals) return []
    if (isEmpty(each)) return [phrases.noFacts(noun)]
    const date = firstDay && writer.time('date', firstDay)
    return [
      ...(['before', 'yearBefore'] as const).flatMap((window) => {
        const why = uncovered[window]
        return why === undefined || why === 'begun'
          ? []
          : [phrases.notCovered(window, why === 'partial' ? date : undefined)]
      }),
      ...(each.lastDay ? [phrases.dataEnd(writer.time('date', each.lastDay))] : []),
      ...(uncovered.before === undefined && each.variation === undefined ? [phrases.tooFewBuckets()] : []),
      ...each.breakdowns
        .filter(({ isCut }) => isCut)
        .map(({ dimension }) => phrases.cut(writer.dimension(dimension))),
    ]
  })
  const failed = source.failed.map(({ query }) => phrases.failed(describeQuery(query, writer)))
  const unfinished = { over: [], running: [phrases.unfinished()], begun: [phrases.begun()] }[state]
  return [...unfinished, ...failed, ...ofSubjects]
}

/** A query as a phrase: its measures, and what they are grouped by. */
function describeQuery({ measures, dimensions }: Query, writer: Writer): string {
  const titles = measures.map((id) => writer.noun(id).title).join(', ')
  const [dimension] = dimensions
  return dimension === undefined
    ? titles
    : writer.phrases.sections.breakdown(titles, writer.dimension(dimension))
}

const maxUnread = 10

function unreadParts(unread: readonly string[], writer: Writer): Sentence[] {
  if (unread.length === 0) return []
  // A number of the question is in no cell: it is not repeated.
  const shown = unread
    .map((part) => [...part.trim()].slice(0, 100).join(''))
    .filter((part) => findNumberTokens(part).length === 0)
  const told = shown.slice(0, maxUnread)
  return [writer.phrases.unread(told, told.length < unread.length)]
}

/** Limits come last, each once. */
function finish(
  sections: ReportSection[],
  limits: readonly Sentence[],
  isLimited: boolean,
  writer: Writer,
): Written {
  const distinct = [...new Map(limits.map((sentence) => [JSON.stringify(sentence), sentence])).values()]
  const section = writer.section(
    'limits',
    writer.phrases.sections.limits,
    distinct.map((sentence) => [sentence]),
  )
  return { sections: [...sections, ...(section ? [section] : [])], isLimited }
}
