import { isDeepStrictEqual } from 'node:util'
import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import { reportEvidence, reportGenerations, reports } from '../../database/tables/report.ts'
import { and, asc, eq, sql } from '../../platform/stores/postgres/drizzle.ts'
import { type Relational, sqlOn } from '../../platform/stores/relational.ts'

/** Who was erased. */
interface ErasedPerson {
  readonly companyId: string
  /** Texts that name the person. */
  readonly identifiers: readonly string[]
  /** Those of them that name it as a part of a text too. */
  readonly longIdentifiers: readonly string[]
}

const warning = 'a person whom this evidence named was erased: the query answers otherwise now'

/** Rows of one statement. */
const atOnce = 50

/** As many dots, so that the figures of a text stay in their places. */
const dots = (text: string): string => '•'.repeat(text.length)

/** Finds parts of texts: however many there are, a text is read once. */
function partFinder(parts: readonly string[]) {
  const shortest = Math.min(...parts.map(({ length }) => length))
  const byPrefix = new Map<string, string[]>()
  // The longest first: one may be the beginning of another.
  for (const part of parts.toSorted((a, b) => b.length - a.length)) {
    const prefix = part.slice(0, shortest)
    const known = byPrefix.get(prefix)
    if (known) known.push(part)
    else byPrefix.set(prefix, [part])
  }
  return {
    shortest,
    findAt: (text: string, at: number): string | undefined =>
      byPrefix.get(text.slice(at, at + shortest))?.find((part) => text.startsWith(part, at)),
  }
}

/** Masks what names a person, where users or facts say it: identifiers and names of members are left. */
export function personMask({ identifiers, longIdentifiers }: Omit<ErasedPerson, 'companyId'>) {
  const exact = new Set(identifiers)
  const parts = partFinder(longIdentifiers)

  function text<T>(value: T): T {
    if (typeof value !== 'string') return value
    if (exact.has(value)) return dots(value) as T
    let [masked, from] = ['', 0]
    for (let at = 0; at <= value.length - parts.shortest; at++) {
      const part = parts.findAt(value, at)
      if (part === undefined) continue
      masked += value.slice(from, at) + dots(part)
      from = at + part.length
      at = from - 1
    }
    return (masked + value.slice(from)) as T
  }

  /** Values that filters compare with, at any depth. */
  function filters<T>(value: T, isCompared = false): T {
    if (typeof value !== 'object' || value === null) return isCompared ? text(value) : value
    if (Array.isArray(value)) return value.map((item) => filters(item, isCompared)) as T
    const entries = Object.entries(value).map(([key, item]) => [key, filters(item, key === 'values')])
    return Object.fromEntries(entries) as T
  }

  const evidence = <E extends Pick<Evidence, 'query' | 'rows'>>({ query, rows, ...rest }: E) => ({
    ...rest,
    query: { ...query, filters: filters(query.filters) },
    rows: rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([column, cell]) => [column, { ...cell, value: text(cell.value) }]),
      ),
    ),
  })

  const section = ({ title, paragraphs, question, ...rest }: ReportSection): ReportSection => ({
    ...rest,
    title: text(title),
    paragraphs: paragraphs.map((paragraph) => ({ ...paragraph, text: text(paragraph.text) })),
    ...(question !== undefined && { question: text(question) }),
  })

  return { text, evidence, section }
}

/** Reports that name persons: what they were asked, what they say, and the evidence of it. */
export function createPersonsInReports({ db }: Pick<Relational, 'db'>) {
  const execute = sqlOn(db)

  /** @param isKept whether they are only counted */
  async function cleanEvidence(person: ErasedPerson, isKept: boolean): Promise<number> {
    const mask = personMask(person)
    let [cleaned, last] = [0, -1]
    for (;;) {
      const rows = await db
        .select()
        .from(reportEvidence)
        .where(and(eq(reportEvidence.companyId, person.companyId), sql`${reportEvidence.position} > ${last}`))
        .orderBy(asc(reportEvidence.position))
        .limit(atOnce)
      for (const { content, generationId, id, position } of rows) {
        last = position
        const clean = mask.evidence(content) as Evidence
        if (isDeepStrictEqual(clean, content)) continue
        cleaned++
        if (isKept) continue
        await db
          .update(reportEvidence)
          .set({ content: { ...clean, warning } })
          .where(and(eq(reportEvidence.generationId, generationId), eq(reportEvidence.id, id)))
      }
      if (rows.length < atOnce) return cleaned
    }
  }

  async function cleanGenerations(person: ErasedPerson): Promise<void> {
    const mask = personMask(person)
    const { id, companyId, question, sections, failure } = reportGenerations
    for (let last = ''; ; ) {
      const rows = await db
        .select({ id, question, sections, failure })
        .from(reportGenerations)
        .where(and(eq(companyId, person.companyId), sql`${id} > ${last}`))
        .orderBy(asc(id))
        .limit(atOnce)
      for (const { id: generationId, ...texts } of rows) {
        last = generationId
        const clean = {
          question: mask.text(texts.question),
          sections: texts.sections?.map(mask.section) ?? null,
          failure: texts.failure && {
            ...texts.failure,
            message: mask.text(texts.failure.message),
            evidence: texts.failure.evidence.map(mask.evidence) as Evidence[],
          },
        }
        if (isDeepStrictEqual(clean, texts)) continue
        await db.update(reportGenerations).set(clean).where(eq(id, generationId))
      }
      if (rows.length < atOnce) return
    }
  }

  async function cleanReports(person: ErasedPerson): Promise<void> {
    const mask = personMask(person)
    const rows = await db
      .select({ id: reports.id, title: reports.title, question: reports.question })
      .from(reports)
      .where(eq(reports.companyId, person.companyId))
    for (const { id, ...texts } of rows) {
      const clean = { title: mask.text(texts.title), question: mask.text(texts.question) }
      if (!isDeepStrictEqual(clean, texts)) await db.update(reports).set(clean).where(eq(reports.id, id))
    }
  }

  return {
    name: 'report_evidence',
    count: (person: ErasedPerson): Promise<number> => cleanEvidence(person, true),

    async remove(person: ErasedPerson): Promise<void> {
      // What is being written may rest on rows that are gone by now: it is begun again.
      await execute`
        update ${reportGenerations} set state = 'queued', due_at = now(), lease_until = null
        where company_id = ${person.companyId} and state = 'running'`
      await cleanEvidence(person, false)
      await cleanGenerations(person)
      await cleanReports(person)
    },
  }
}
