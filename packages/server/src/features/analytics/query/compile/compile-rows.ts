import type { Dimension, Expression } from '../../catalogue/member.ts'
import { type CohortCondition, type DimensionFilter, type FilterTree, isGroup, leavesOf } from '../query.ts'
import { hullOf, type TimeSet } from '../time/interval.ts'
import { type CohortContext, eventInCohort, personInCohort } from './compile-cohorts.ts'
import { conditionOn, treeSql } from './compile-conditions.ts'
import { lookupSql, noDefinitions } from './compile-lookups.ts'
import { storedSql } from './compile-stored.ts'
import { concealedSql, interactionsTable, shownColumn, shownSql } from './compile-workflows.ts'
import { comparedNames, eventNameSql } from './event-name.ts'
import { nested, select } from './parameters.ts'
import type { RowsOptions, StoredRows } from './rows.ts'

export function rowsOf(options: RowsOptions): StoredRows {
  const {
    source,
    companyId,
    filters,
    times,
    eventAliases,
    visibleWorkflows,
    definitions = noDefinitions,
    parameters,
    conditions = [],
    allBindings = false,
  } = options
  const needed = new Set<string>()
  /** Columns of labels, with their keys. */
  const labels = new Map<string, string>()
  const hull = hullOf(times)
  const bounds: TimeSet = hull ? [hull] : []
  const ofCompany = `company = ${parameters.bind('String', companyId)}`
  let perItem = false
  /** Written on first use: a statement that names nothing of a workflow does not bind which are visible. */
  let shown: Expression | undefined

  function whereShown(): Expression | undefined {
    shown ??= shownSql(source, visibleWorkflows, eventAliases, parameters)
    return shown
  }

  /** What a condition compares; of an event's name the stored one. */
  function columnSql(dimension: Dimension): string {
    const sql = ownSql(dimension)
    if (!dimension.shownBy || !whereShown()) return sql
    needed.add(shownColumn)
    return concealedSql(shownColumn, sql)
  }

  /** The same over the table's own columns. */
  function storedColumnSql(dimension: Dimension): string {
    const sql = expressionSql(dimension)
    const where = dimension.shownBy && whereShown()
    return where ? concealedSql(where.sql, sql) : sql
  }

  function ownSql(dimension: Dimension): string {
    if (dimension.label !== undefined) return labelColumn(dimension.label)
    for (const name of dimension.columns) needed.add(name)
    if (dimension.perItem) perItem = true
    return expressionSql(dimension)
  }

  function expressionSql({ sql, lookup }: Dimension): string {
    return lookup ? lookupSql(sql, lookup, definitions, parameters) : sql
  }

  function dimensionSql(dimension: Dimension): string {
    const sql = columnSql(dimension)
    return dimension.eventName ? eventNameSql(sql, eventAliases, parameters) : sql
  }

  function labelColumn(key: string): string {
    const known = [...labels].find(([, each]) => each === key)
    const name = known?.[0] ?? `label_${labels.size + 1}`
    labels.set(name, key)
    needed.add(name)
    return name
  }

  /** Whether a condition needs the table's own columns alone, so that it comes before anything is joined. */
  function isStored({ label, columns, filterOnly }: Dimension): boolean {
    if (filterOnly) return source.table !== 'orders'
    return label === undefined && columns.every((name) => !(name in source.columns))
  }

  const early: string[] = [...conditions]
  const late: string[] = []
  const ofItems: FilterTree<DimensionFilter>[] = []
  const people: (readonly string[])[] = []
  for (const filter of filters) {
    const leaves = leavesOf([filter])
    // Rows of other persons count as soon as something else may hold in their stead: a group prunes nothing.
    if (
      !isGroup(filter) &&
      filter.dimension.columns.includes('person_text') &&
      filter.operator === 'equals'
    ) {
      people.push(filter.values)
    }
    if (leaves.some(({ dimension }) => dimension.perItem)) ofItems.push(filter)
    else if (leaves.every(({ dimension }) => isStored(dimension))) {
      early.push(conditionsSql(filter, storedColumnSql, eventInCohort))
    } else late.push(conditionsSql(filter, columnSql))
  }

  function conditionsSql(
    filter: FilterTree<DimensionFilter>,
    sqlOf: (dimension: Dimension) => string,
    inCohort = rowInCohort,
  ): string {
    return treeSql(filter, (leaf) => {
      const { dimension, operator, cohort } = leaf
      if (cohort) return inCohort(cohort, { companyId, eventAliases, visibleWorkflows, parameters, rowsOf })
      const sql = sqlOf(dimension)
      const compared = dimension.eventName
        ? comparedNames(sql, leaf, eventAliases, parameters)
        : { ...leaf, sql }
      return conditionOn(compared.sql, dimension, operator, compared.values, parameters)
    })
  }

  function rowInCohort(cohort: CohortCondition, context: CohortContext): string {
    needed.add('person')
    return personInCohort('person', cohort, context)
  }

  /** The condition of a filter on an identifier named `id`, and whatever else it names of the row. */
  function onItem(filter: FilterTree<DimensionFilter>): string {
    return conditionsSql(filter, (dimension) => (dimension.perItem ? 'id' : columnSql(dimension)))
  }

  /** The same condition on a row without any identifier. */
  function withoutItem(filter: FilterTree<DimensionFilter>): string {
    return treeSql(filter, (leaf) => {
      if (leaf.dimension.perItem) return leaf.operator === 'notSet' ? '1' : '0'
      return conditionsSql(leaf, columnSql)
    })
  }

  // Items alone are filtered where they are read. A row may pass without any by another part of a group, and by
  // `notSet`: then they are filtered once the whole row is there.
  const itemsAlone = leavesOf(ofItems).every(
    ({ dimension, operator }) => dimension.perItem && operator !== 'notSet',
  )
  const itemConditions = ofItems.map(onItem)
  const bareConditions = itemsAlone ? [] : ofItems.map(withoutItem)
  if (ofItems.length > 0) needed.add('items')
  if (ofItems.length > 0 && itemsAlone) late.push('notEmpty(items)')

  function itemsSql(ids: string): string {
    return itemConditions.length > 0 && itemsAlone
      ? `arrayFilter(id -> ${itemConditions.join(' AND ')}, ${ids})`
      : ids
  }

  function withFilteredItems(sql: string): string {
    const named = select(['* EXCEPT (items)', 'items AS all_items'], nested(sql), late)
    const kept = `arrayFilter(id -> ifNull(${itemConditions.join(' AND ')}, 0), all_items) AS items`
    const bare = `empty(all_items) AND ${bareConditions.join(' AND ')}`
    return select(['*'], nested(select(['*', kept], nested(named))), [`(notEmpty(items) OR (${bare}))`])
  }

  function conditionSql(asked: readonly FilterTree<DimensionFilter>[]): string {
    const onItems = asked.filter((each) => leavesOf([each]).some(({ dimension }) => dimension.perItem))
    const conditions = asked
      .filter((each) => !onItems.includes(each))
      .map((each) => `(${conditionsSql(each, columnSql)})`)
    if (onItems.length > 0) {
      needed.add('items')
      const one = `arrayExists(id -> ${onItems.map(onItem).join(' AND ')}, items)`
      const bare = `empty(items) AND ${onItems.map(withoutItem).join(' AND ')}`
      conditions.push(`(${one} OR (${bare}))`)
    }
    return conditions.length > 0 ? conditions.join(' AND ') : '1'
  }

  return {
    dimension: dimensionSql,
    condition: conditionSql,
    need(columns) {
      for (const name of columns) needed.add(name)
    },
    relation() {
      let sql = storedSql({
        source,
        table:
          source.table === 'workflow_events'
            ? interactionsTable(ofCompany, eventAliases, parameters)
            : source.table,
        ofCompany,
        columns: needed,
        labels,
        shown: needed.has(shownColumn) ? whereShown() : undefined,
        items: itemsSql('ids'),
        within: bounds,
        conditions: early,
        people,
        allBindings,
        parameters,
      })
      if (bareConditions.length > 0) sql = withFilteredItems(sql)
      else if (late.length > 0) sql = select(['*'], nested(sql), late)
      if (perItem) sql = select(['*', 'arrayJoin(arrayDistinct(items)) AS item'], nested(sql))
      return nested(sql)
    },
  }
}
