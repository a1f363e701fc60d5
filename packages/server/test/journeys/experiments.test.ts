import type { Assignment, Experiment } from '@millrace/contract/resources/experiment.ts'
import { expect, test } from 'vitest'
import { experimentBody } from '../support/experiments.ts'
import { inFullLengthOnly } from '../support/long.ts'
import { removeData, startService } from '../support/running-service.ts'

test('a scheduled experiment starts by itself, and its units get variants', async (context) => {
  inFullLengthOnly(context)
  const service = await startService()
  try {
    const path = '/statistics/experiments'
    const { _id } = await service.dataOf<Experiment>('POST', path, experimentBody())
    const scheduledAt = new Date(Date.now() + 3000).toISOString()
    await service.dataOf('POST', `${path}/${_id}/schedule`, { scheduledAt })
    const read = () => service.dataOf<Experiment>('GET', `${path}/${_id}`)
    await expect.poll(async () => (await read()).status, { interval: 1000 }).toBe('running')
    const { startedAt } = await read()
    expect(Date.parse(startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(scheduledAt))
    const assigned = await service.dataOf<Assignment>('GET', `${path}/${_id}/assignment?unit=ada`)
    expect(assigned).toMatchObject({ reason: 'allocation', exposuresRead: true })
  } finally {
    await service.stop()
    removeData(service)
  }
})
