import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import type { RawRow } from '../formats/source-options.ts'
import { type Convert, converterOf } from './convert.ts'
import { isEmptyValue } from './empty-values.ts'
import { type FieldLocale, primitiveOfType } from './field-types.ts'
import type { MappedRow, RowFault, RowValue } from './row.ts'
import { compileRules, RuleFault, type Rules, textOf } from './rules.ts'

interface MappedField {
  readonly name: string
  readonly type: WorkerField['type']
  readonly rules: Rules
  readonly convert: Convert
  readonly expected: string
  readonly locale: FieldLocale | undefined
  readonly isRequired: boolean
}

const maxSample = 100
const none: readonly RowFault[] = []

/**
 * Makes rows of entries by the fields that are selected: their rules give the values, their types convert them, read
 * in their language. The function given never throws: what cannot be taken is a fault, and the field is left out.
 * @param source index of the source that the entries come from
 * @throws RuleFault naming a field whose rules cannot be applied
 */
export function rowMapper(fields: readonly WorkerField[], source = 0): (raw: RawRow) => MappedRow {
  const mapped = fields.filter(({ selected }) => selected).map((field) => mappedField(field, source))
  return (raw) => {
    const row: Record<string, RowValue> = {}
    let faults: RowFault[] | undefined
    let isWhole = true
    for (const field of mapped) {
      const value = field.rules(raw)
      let fault: RowFault | undefined
      if (isEmptyValue(value)) {
        if (field.isRequired) fault = missing(field)
      } else {
        const converted = field.convert(value, field.locale)
        if (converted === undefined) fault = invalid(field, value)
        else if (isEmptyValue(converted)) fault = field.isRequired ? missing(field) : undefined
        else row[field.name] = converted
      }
      if (fault === undefined) continue
      faults ??= []
      faults.push(fault)
      if (field.isRequired) isWhole = false
    }
    return isWhole ? { row, faults: faults ?? none } : { faults: faults ?? none }
  }
}

/** What is wrong with the rules of fields, without mapping anything: a message that names the field. */
export function ruleFaults(
  fields: readonly WorkerField[],
): { field: string; source: string; message: string }[] {
  return fields.flatMap(({ name, rulesPerSources }) =>
    Object.entries(rulesPerSources).flatMap(([source, rules]) => {
      try {
        compileRules(rules)
        return []
      } catch (error) {
        if (!(error instanceof RuleFault)) throw error
        return [{ field: name, source, message: `${name}: ${error.message}` }]
      }
    }),
  )
}

function mappedField(field: WorkerField, source: number): MappedField {
  const { name, type, rulesPerSources, ignoreIfMissing, metadata } = field
  const rules = rulesPerSources[String(source)]
  try {
    return {
      name,
      type,
      // A field that another source gives has no value in this one.
      rules: rules === undefined || rules.length === 0 ? () => undefined : compileRules(rules),
      ...converterOf(type, primitiveOfType[type]),
      locale: metadata?.locale,
      isRequired: ignoreIfMissing !== true,
    }
  } catch (error) {
    throw error instanceof RuleFault ? new RuleFault(`${name}: ${error.message}`) : error
  }
}

function missing({ name }: MappedField): RowFault {
  return {
    field: name,
    rule: 'required_values_empty',
    message: `${name} has no value: give one, or let the field be missing (ignoreIfMissing)`,
  }
}

function invalid({ name, type, expected, locale }: MappedField, value: unknown): RowFault {
  const sample = textOf(value).slice(0, maxSample)
  const language = locale === undefined ? '' : `, read as ${locale}`
  return {
    field: name,
    rule: 'invalid_type',
    message: `${name} (${type}${language}) is ${expected}, not ${sample}`,
    sample,
  }
}
