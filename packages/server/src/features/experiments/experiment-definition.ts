import {
  type ExperimentCreation,
  type ExperimentUpdate,
  experimentLimits,
  type Metric,
  type MetricInput,
  type MetricKind,
  type Variant,
} from '@millrace/contract/resources/experiment.ts'
import { newId } from '../../platform/ids.ts'
import { invalid } from '../../platform/invalid.ts'
import type { StoredExperiment } from './experiment-store.ts'

/** What decides the numbers of an experiment: fixed once it is no longer a draft. */
export type Definition = Pick<
  StoredExperiment,
  | 'type'
  | 'unit'
  | 'variants'
  | 'baselineVariantId'
  | 'metrics'
  | 'conversionWindowHours'
  | 'plannedSample'
  | 'outlierCap'
  | 'cupedDays'
>

const defaultWindowHours = 168
/** What `click_rate` counts where the request names no event. */
const clickEvent = 'workflow_click'

/** The fields of a definition, and the one that a metric stands for. */
const fields = [
  'type',
  'unit',
  'variants',
  'baselineVariantId',
  'metrics',
  'successMetric',
  'conversionWindowHours',
  'plannedSample',
  'outlierCap',
  'cupedDays',
] as const satisfies (keyof ExperimentUpdate)[]

/** @throws {DomainError} `validation` */
export function defineExperiment(body: ExperimentCreation): Definition {
  if (!body.metrics && !body.successMetric) {
    throw invalid('successMetric', 'is needed where there are no metrics')
  }
  const conversionWindowHours = body.conversionWindowHours ?? defaultWindowHours
  const variants = body.variants.map((variant) => variantOf(variant))
  return checked({
    type: body.type ?? 'ab',
    unit: body.unit ?? 'user',
    variants,
    baselineVariantId: body.baselineVariantId ?? variants[0]?.id ?? '',
    metrics: metricsOf(body, conversionWindowHours, []),
    conversionWindowHours,
    plannedSample: body.plannedSample ?? null,
    outlierCap: body.outlierCap ?? null,
    cupedDays: body.cupedDays ?? null,
  })
}

/**
 * A definition as a partial update makes it.
 * @throws {DomainError} `validation`
 */
export function redefineExperiment(present: Definition, body: ExperimentUpdate): Definition {
  return checked(merged(present, body))
}

/** The fields of the definition that an update would change, by their names in the request. */
export function changedDefinition(present: Definition, body: ExperimentUpdate): string[] {
  const wanted = merged(present, body)
  const changed = fields.filter((field) => {
    if (body[field] === undefined) return false
    if (field === 'successMetric') return body.successMetric !== present.metrics[0]?.kind
    return !same(wanted[field], present[field])
  })
  return changed
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function merged(present: Definition, body: ExperimentUpdate): Definition {
  const conversionWindowHours = body.conversionWindowHours ?? present.conversionWindowHours
  const stays = <T>(wanted: T | undefined, is: T): T => (wanted === undefined ? is : wanted)
  return {
    type: body.type ?? present.type,
    unit: body.unit ?? present.unit,
    variants: body.variants?.map((variant) => variantOf(variant, present.variants)) ?? present.variants,
    baselineVariantId: body.baselineVariantId ?? present.baselineVariantId,
    metrics:
      body.metrics || body.successMetric
        ? metricsOf(body, conversionWindowHours, present.metrics)
        : present.metrics,
    conversionWindowHours,
    plannedSample: stays(body.plannedSample, present.plannedSample),
    outlierCap: stays(body.outlierCap, present.outlierCap),
    cupedDays: stays(body.cupedDays, present.cupedDays),
  }
}

/** A variant that is there already keeps its tag value. */
function variantOf(
  { id = newId(), name, allocation }: ExperimentCreation['variants'][number],
  present: readonly Variant[] = [],
): Variant {
  const tagValueId = present.find((each) => each.id === id)?.tagValueId
  return { id, name: name.trim(), allocation, ...(tagValueId !== undefined && { tagValueId }) }
}

type MetricFields = Pick<ExperimentUpdate, 'metrics' | 'successMetric'>

/** Without a list the first metric alone gets another kind. */
function metricsOf(
  { metrics, successMetric }: MetricFields,
  windowHours: number,
  present: readonly Metric[],
): Metric[] {
  if (metrics) {
    const resolved = metrics.map((metric, i) => metricOf(metric, i, windowHours))
    const kind = resolved[0]?.kind
    if (successMetric && successMetric !== kind) {
      throw invalid('successMetric', `must be ${kind}, the kind of the first of the metrics`)
    }
    return resolved
  }
  const [first, ...guards] = present
  if (!successMetric || successMetric === first?.kind) return [...present]
  const source = sourceFor(successMetric, first?.source)
  return [metricOf({ ...first, kind: successMetric, source }, 0, windowHours), ...guards]
}

function sourceFor(kind: MetricKind, present: Metric['source'] = { purchases: true }): Metric['source'] {
  if (kind === 'revenue_per_user') return { purchases: true }
  return kind === 'click_rate' && 'purchases' in present ? { event: clickEvent } : present
}

function metricOf(metric: MetricInput, index: number, windowHours: number): Metric {
  return {
    id: metric.id ?? newId(),
    kind: metric.kind,
    source: metric.source,
    role: metric.role ?? (index === 0 ? 'success' : 'guard'),
    direction: metric.direction ?? 'increase',
    windowHours: metric.windowHours ?? windowHours,
  }
}

function checked(definition: Definition): Definition {
  const { type, variants, baselineVariantId, metrics } = definition
  refuseRepeated('variants', variants)
  refuseRepeated('metrics', metrics)
  const sum = variants.reduce((total, { allocation }) => total + allocation, 0)
  if (Math.abs(sum - 1) > experimentLimits.allocationError) {
    throw invalid('variants', `must have allocations that add up to 1, they add up to ${sum}`)
  }
  if (type === 'holdout' && variants.length !== 2) {
    throw invalid('variants', 'must be two of a holdout: who gets nothing, and who gets it')
  }
  if (!variants.some(({ id }) => id === baselineVariantId)) {
    throw invalid('baselineVariantId', `must be one of ${namesOf(variants)}`)
  }
  for (const [i, { kind, source, role }] of metrics.entries()) {
    const expected = i === 0 ? 'success' : 'guard'
    if (role !== expected) {
      throw invalid(`metrics.${i}.role`, `must be ${expected}: the first metric is the success metric`)
    }
    if (kind === 'revenue_per_user' && 'event' in source) {
      throw invalid(`metrics.${i}.source`, 'must be {"purchases": true}: other events have no value')
    }
    if (kind === 'click_rate' && 'purchases' in source) {
      throw invalid(`metrics.${i}.source`, `must name an event, as {"event": "${clickEvent}"}`)
    }
  }
  return definition
}

function refuseRepeated(path: string, items: readonly { readonly id: string }[]): void {
  const seen = new Set<string>()
  for (const [i, { id }] of items.entries()) {
    if (seen.has(id)) throw invalid(`${path}.${i}.id`, 'must differ from those before it')
    seen.add(id)
  }
}

/** Identifiers as messages name them. */
export function namesOf(variants: readonly Variant[]): string {
  return variants.map(({ id }) => id).join(', ')
}
