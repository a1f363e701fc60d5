import type { StoredEvent } from './statistics-events.ts'
import { eventFacts, type Fact, purchaseFacts } from './statistics-oracle-facts.ts'

/** A display, or a click (kind 1). */
export interface Interaction {
  readonly time: number
  readonly person: string
  readonly identified: boolean
  readonly kind: number
  readonly workflow: string
  readonly texts: Fact['texts']
}

/** What one interaction gets of one purchase, by a plain computation that knows nothing of the service. */
export interface Credit {
  readonly purchase: Fact
  readonly interaction: Interaction
  readonly workflow: string
  /** Cents. */
  readonly value: bigint
  readonly direct: bigint
  /** Of a purchase. */
  readonly millionths: bigint
  /** Seconds since the click, where it is the last one. */
  readonly secondsFromClick: number | undefined
}

export type Model = 'last-touch' | 'linear' | 'decay'

const kinds = ['workflow_display', 'workflow_click']

/** Displays and clicks that name a workflow, but for previews. */
export function interactionsOf(events: readonly StoredEvent[]): Interaction[] {
  return eventFacts(events).flatMap(({ time, person, identified, texts }) => {
    const kind = kinds.indexOf(texts.get('name') ?? '')
    const workflow = texts.get('label.workflowId') ?? ''
    const counts = kind !== -1 && workflow !== '' && texts.get('label.preview') !== 'true'
    return counts ? [{ time, person, identified, kind, workflow, texts }] : []
  })
}

export function creditsOf(
  events: readonly StoredEvent[],
  model: Model,
  hours: { readonly clickHours: number; readonly displayHours: number },
): Credit[] {
  const interactions = interactionsOf(events)
  interactions.sort((a, b) => a.time - b.time || a.kind - b.kind || (a.workflow < b.workflow ? -1 : 1))
  return purchaseFacts(events).flatMap((purchase) => {
    const qualifying = interactions.filter(({ person, time, kind }) => {
      const window = (kind === 1 ? hours.clickHours : hours.displayHours) * 3_600_000
      return person === purchase.person && time <= purchase.time && purchase.time - time <= window
    })
    const weights = qualifying.map((_, i) => {
      if (model === 'last-touch') return i === qualifying.length - 1 ? 1n : 0n
      return model === 'linear' ? 1n : BigInt(i + 1)
    })
    const values = divide(purchase.value, weights)
    const counts = divide(1_000_000n, weights)
    const lastClick = qualifying.findLastIndex(({ kind }) => kind === 1)
    return qualifying.flatMap((interaction, i): Credit[] => {
      const { time, workflow } = interaction
      if (weights[i] === 0n && i !== lastClick) return []
      const direct = i === qualifying.length - 1 ? purchase.value : 0n
      const secondsFromClick = i === lastClick ? (purchase.time - time) / 1000 : undefined
      return [
        {
          purchase,
          interaction,
          workflow,
          value: values[i] ?? 0n,
          direct,
          millionths: counts[i] ?? 0n,
          secondsFromClick,
        },
      ]
    })
  })
}

/** Parts of a whole by weights: each ends where the exact sum of the parts so far, cut toward zero, ends. */
function divide(whole: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  let before = 0n
  let sum = 0n
  return weights.map((weight) => {
    sum += weight
    const end = (whole * sum) / total
    const part = end - before
    before = end
    return part
  })
}
