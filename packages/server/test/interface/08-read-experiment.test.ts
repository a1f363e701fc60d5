import type { Experiment } from '@millrace/contract/resources/experiment.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ExperimentsApp, openExperimentsApp } from '../support/experiments.ts'

let opened: ExperimentsApp
beforeAll(async () => {
  opened = await openExperimentsApp()
})
afterAll(() => opened.close())

const read = async (id: string, token?: string) => opened.call('GET', `/${id}`, undefined, token)

test('answers the experiment in the shape of the interface', async () => {
  const made = await opened.create({
    type: 'holdout',
    baselineVariantId: 'control',
    hypothesis: 'More orders',
  })
  const experiment = await opened.take(made, 'decided')
  const { status, code, message, data } = await read(made._id)
  expect({ status, code, message }).toEqual({ status: 200, code: 200, message: 'ok' })
  const fields =
    '_id companyId name hypothesis createdBy type unit successMetric status attachments variants baselineVariantId systemTagKeyId resourceGroupIds createdAt updatedAt scheduledAt startedAt readAt endedAt archivedAt outcome'
  for (const field of fields.split(' ')) expect(data, field).toHaveProperty(field)
  expect(data).toMatchObject({
    _id: made._id,
    type: 'holdout',
    unit: 'user',
    successMetric: 'unique_conversion',
    status: 'decided',
    outcome: { status: 'decided', routingVariantId: 'treatment' },
    startedAt: experiment.startedAt,
    endedAt: experiment.endedAt,
  })
})

test('X01: one that is absent, or of another company, answers 404 with 9000 and its id, another id 400', async () => {
  const { _id } = await opened.create()
  const nobody = 'f'.repeat(24)
  const bodyOf = (id: string) => ({
    status: 404,
    code: 404,
    error_code: 9000,
    message: 'Unable to find experiment',
    data: { id },
  })
  expect(await read(nobody)).toMatchObject(bodyOf(nobody))
  expect(await read(_id, opened.stranger.token)).toMatchObject(bodyOf(_id))
  for (const id of ['1', 'g'.repeat(24), `${_id}0`, `${_id}%0a`]) expect((await read(id)).status).toBe(400)
  expect(await read(_id.toUpperCase())).toMatchObject({ status: 200, data: { _id } })
})

test('X02: times that have not come, and numbers that are not defined, are null', async () => {
  const made = await opened.create()
  const times = ['scheduledAt', 'startedAt', 'readAt', 'endedAt', 'decidedAt', 'archivedAt'] as const
  for (const time of times) expect((await read(made._id)).data[time]).toBeNull()
  await opened.take(made, 'decided')
  const { outcome } = (await read(made._id)).data as unknown as Experiment
  expect(outcome).toMatchObject({
    validated: false,
    confidence: null,
    pValue: null,
    lift: { estimate: null, low: null, high: null },
  })
})

test('is read with Statistics: access by every team of the company', async () => {
  const { _id } = await opened.create({ resourceGroupIds: [await opened.app.team()] })
  const reader = await opened.app.personWith('statistics:access')
  expect(await read(_id, reader.token)).toMatchObject({ status: 200, data: { _id } })
  const other = await opened.app.personWith('workflowSettings:update')
  expect(await read(_id, other.token)).toMatchObject({ status: 403 })
})
