import type { Meta } from '../../data/format.ts'

/** A small model of two sources, for tests. */
const measure = (source: string, title: string, more: object = {}) => ({
  title,
  description: `Meaning of ${title}`,
  source,
  type: 'number' as const,
  format: 'integer' as const,
  virtual: false,
  ...more,
})
const dimension = (source: string, title: string, more: object = {}) => ({
  title,
  description: `Meaning of ${title}`,
  source,
  type: 'string' as const,
  operators: ['equals', 'notEquals', 'contains', 'set', 'notSet'],
  ...more,
})
const time = { type: 'time', operators: ['inDateRange', 'afterDate'], granularities: ['day'] }

export const meta = {
  measures: {
    'events.count': measure('events', 'Events'),
    'events.people': measure('events', 'People', { exactUpTo: 65_536, relativeError: 0.01 }),
    'events.perPerson': measure('events', 'Events per person', { virtual: true, format: 'decimal' }),
    'purchases.revenue': measure('purchases', 'Revenue', { format: 'amount' }),
  },
  dimensions: {
    'events.time': dimension('events', 'Time', time),
    'events.name': dimension('events', 'Event'),
    'events.path': dimension('events', 'Path'),
    'events.os': dimension('events', 'Operating system'),
    'events.label.store': dimension('events', 'store'),
    'purchases.time': dimension('purchases', 'Time', time),
    'purchases.item': dimension('purchases', 'Item'),
    'purchases.os': dimension('purchases', 'Operating system'),
    'persons.cohort': dimension('persons', 'Cohort', {
      filterOnly: true,
      operators: ['equals', 'notEquals'],
    }),
  },
  queryCompatibility: {
    components: [
      [
        'events.count',
        'events.people',
        'events.perPerson',
        'events.time',
        'purchases.time',
        'events.name',
        'events.path',
        'events.os',
        'purchases.os',
        'events.label.store',
        'persons.cohort',
      ],
      [
        'purchases.revenue',
        'events.time',
        'purchases.time',
        'purchases.item',
        'events.os',
        'purchases.os',
        'persons.cohort',
      ],
      [
        'events.count',
        'events.people',
        'events.perPerson',
        'purchases.revenue',
        'events.time',
        'purchases.time',
        'events.os',
        'purchases.os',
        'persons.cohort',
      ],
    ],
    measureSources: {},
  },
} as unknown as Meta
