import type { ExperimentCreation } from '@millrace/contract/resources/experiment.ts'

/** A body that creates an experiment of two variants with one metric. */
export const experimentBody = (fields: Partial<ExperimentCreation> = {}): ExperimentCreation => ({
  name: 'New product page',
  variants: [
    { id: 'control', name: 'Present page', allocation: 0.5 },
    { id: 'treatment', name: 'New page', allocation: 0.5 },
  ],
  metrics: [{ id: 'orders', kind: 'unique_conversion', source: { purchases: true } }],
  ...fields,
})
