import { isDeepStrictEqual } from 'node:util'
import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import { reportEvidence, reportGenerations, reports } from '../../database/tables/report.ts'
import { and, asc, eq, or, type PgColumn, type SQL, sql } from '../../platform/stores/postgres/drizzle.ts'
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

/** Evidence of one statement. */
const atOnce = 50

/** As many dots, so that the figures of a text stay in their places. */
const dots = (text: string): string => '•'.repeat(text.length)

/** Masks what names a person, where users or facts say it: identifiers and names of members are left. */
export function personMask({ identifiers, longIdentifiers }: Omit<ErasedPerson, 'companyId'>) {
  const exact = new Set(identifiers)
  // The longest first: one may be a part of another.
  const parts = longIdentifiers.toSorted((a, b) => b.length - a.length)

  function text<T>(value: T): T {
    if (typeof value !== 'string') return value
    if (exact.has(value)) return dots(value) as T
    return parts.reduce((whole: string, part) => whole.replaceAll(part, dots(part)), value) as T
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

  /** That a column may hold one of the identifiers, which JSON writes with escapes. */
  function mayName(column: PgColumn, { identifiers }: ErasedPerson): SQL {
    const texts = [...identifiers, ...identifiers.map((id) => JSON.stringify(id).slice(1, -1))]
    return sql`exists (select from unnest(${sql.param(texts)}::text[]) as id where strpos(${column}::text, id) > 0)`
  }

  /** @param isKept whether they are only counted */
  async function cleanEvidence(person: ErasedPerson, isKept: boolean): Promise<number> {
    const mask = personMask(person)
    let [cleaned, last] = [0, -1]
    for (;;) {
      const rows = await db
        .select()
        .from(reportEvidence)
        .where(
          and(
            eq(reportEvidence.companyId, person.companyId),
            sql`${reportEvidence.position} > ${last}`,
            mayName(reportEvidence.content, person),
          ),
        )
        .orderBy(asc(reportEvidence.position))
        .limit(atOnce)
      for (const { content, generationId, id } of rows) {
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
      last = rows.at(-1)?.position ?? last
    }
  }

  async function cleanTexts(person: ErasedPerson): Promise<void> {
    const mask = personMask(person)
    const { id, companyId, question, sections, failure } = reportGenerations
    const generations = await db
      .select({ id, question, sections, failure })
      .from(reportGenerations)
      .where(
        and(
          eq(companyId, person.companyId),
          or(mayName(question, person), mayName(sections, person), mayName(failure, person)),
        ),
      )
    for (const generation of generations) {
      await db
        .update(reportGenerations)
        .set({
          question: mask.text(generation.question),
          sections: generation.sections?.map(mask.section) ?? null,
          failure: generation.failure && {
            ...generation.failure,
            message: mask.text(generation.failure.message),
            evidence: generation.failure.evidence.map(mask.evidence) as Evidence[],
          },
        })
        .where(eq(reportGenerations.id, generation.id))
    }
    const named = await db
      .select({ id: reports.id, title: reports.title, question: reports.question })
      .from(reports)
      .where(
        and(
          eq(reports.companyId, person.companyId),
          or(mayName(reports.title, person), mayName(reports.question, person)),
        ),
      )
    for (const report of named) {
      await db
        .update(reports)
        .set({ title: mask.text(report.title), question: mask.text(report.question) })
        .where(eq(reports.id, report.id))
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
      await cleanTexts(person)
    },
  }
}
