import { describe, expect, it } from 'vitest'
import { personMask } from './persons-in-reports-store.ts'

const mask = personMask({
  identifiers: ['ada', 'ada@example.com', 'purchase', 'client-4711', 'client-47'],
  longIdentifiers: ['ada@example.com', 'purchase', 'client-47', 'client-4711'],
})

describe('what names a person', () => {
  it('is masked by as many dots, alone or where it is long enough as a part', () => {
    expect(mask.text('ada')).toBe('•••')
    expect(mask.text('Canada')).toBe('Canada')
    expect(mask.text('from ada@example.com, twice: ada@example.com')).toBe(
      `from ${'•'.repeat(15)}, twice: ${'•'.repeat(15)}`,
    )
    expect(mask.text('client-4711 and client-47')).toBe(`${'•'.repeat(11)} and ${'•'.repeat(9)}`)
    expect(mask.text(null)).toBe(null)
  })

  it('leaves members, numbers and identifiers of evidence', () => {
    const evidence = {
      id: 'purchase',
      query: {
        measures: ['purchase'],
        dimensions: ['events.person'],
        filters: [{ or: [{ dimension: 'purchase', operator: 'equals' as const, values: ['ada', 'bob'] }] }],
        timeDimensions: [],
      },
      rows: [{ 'events.person': { value: 'ada' }, 'events.count': { value: 7 } }],
    }
    expect(mask.evidence(evidence as never)).toEqual({
      ...evidence,
      query: {
        ...evidence.query,
        filters: [{ or: [{ dimension: 'purchase', operator: 'equals', values: ['•••', 'bob'] }] }],
      },
      rows: [{ 'events.person': { value: '•••' }, 'events.count': { value: 7 } }],
    })
  })

  it('leaves the figures of a section in their places', () => {
    const figures = [{ start: 16, end: 18 }]
    const section = {
      ...{ id: 'purchase', kind: 'answer', generationId: 'purchase', title: 'Of ada@example.com' },
      paragraphs: [{ text: 'ada@example.com 12', figures }],
    }
    expect(mask.section(section as never)).toEqual({
      ...section,
      title: `Of ${'•'.repeat(15)}`,
      paragraphs: [{ text: `${'•'.repeat(15)} 12`, figures }],
    })
  })
})
