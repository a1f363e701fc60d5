import type { Lookup } from '../../catalogue/member.ts'
import type { Parameters } from './parameters.ts'

/** Texts by the identifiers that they stand for. */
export type Texts = ReadonlyMap<string, string>

/** What a company's definitions say now about identifiers that its facts have; of those that a query needs. */
export interface Definitions {
  readonly workflowName: Texts
  /** Names of the teams of each workflow, as one text. */
  readonly workflowTeams: Texts
  readonly categoryName: Texts
  readonly categoryLevels: Readonly<Record<1 | 2 | 3, Texts>>
  /** By identifier of the key. */
  readonly tags: ReadonlyMap<string, TagTexts>
}

export interface TagTexts {
  /** Whether all values of a branch count, or the last of them alone. */
  readonly isMultiple: boolean
  readonly values: Texts
}

export const noDefinitions: Definitions = {
  workflowName: new Map(),
  workflowTeams: new Map(),
  categoryName: new Map(),
  categoryLevels: { 1: new Map(), 2: new Map(), 3: new Map() },
  tags: new Map(),
}

const absent = "CAST(NULL, 'Nullable(String)')"

/** The SQL of the text that stands for the identifier, or for the list of them, in a column. */
export function lookupSql(
  column: string,
  lookup: Lookup,
  definitions: Definitions,
  parameters: Parameters,
): string {
  switch (lookup.of) {
    case 'workflowName':
      return textSql(column, definitions.workflowName, parameters)
    case 'categoryName':
      return `nullIf(${textSql(column, definitions.categoryName, parameters)}, '')`
    case 'workflowTeams':
      return knownTextSql(column, definitions.workflowTeams, parameters)
    case 'categoryLevel':
      return knownTextSql(column, definitions.categoryLevels[lookup.level], parameters)
    case 'tag':
      return tagSql(column, definitions.tags.get(lookup.keyId), parameters)
    default:
      throw new Error(`no such lookup: ${lookup satisfies never}`)
  }
}

function bound(texts: Texts, parameters: Parameters): string {
  const ids = parameters.bind('Array(String)', [...texts.keys()])
  return `${ids}, ${parameters.bind('Array(String)', [...texts.values()])}`
}

/** An identifier without a text stands for itself. */
function textSql(column: string, texts: Texts, parameters: Parameters): string {
  // Without a default of its own, which would be computed row by row instead of once for each identifier.
  return texts.size === 0 ? column : `transform(${column}, ${bound(texts, parameters)})`
}

/** An identifier without a text has none. */
function knownTextSql(column: string, texts: Texts, parameters: Parameters): string {
  return texts.size === 0 ? absent : `nullIf(transform(${column}, ${bound(texts, parameters)}, ''), '')`
}

function tagSql(column: string, tag: TagTexts | undefined, parameters: Parameters): string {
  if (!tag || tag.values.size === 0) return absent
  const names = `arrayMap(tag -> transform(tag, ${bound(tag.values, parameters)}, ''), ${column})`
  return tag.isMultiple
    ? `nullIf(arrayStringConcat(arraySort(arrayFilter(name -> name != '', ${names})), ', '), '')`
    : `nullIf(arrayLast(name -> name != '', ${names}), '')`
}
