import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailTo } from '../support/outbox.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** A whole service: what was collected arrives as a file in the mail of the user who has scheduled it. */

let service: Service

beforeAll(async () => {
  service = await startService()
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

test('the result of a saved query comes by mail, and can be downloaded', async () => {
  const reply = await fetch(service.trackerUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      ['a', 'b', 'c'].map((tmpId) => ({
        ...{ key: service.companyId, name: 'page_view', url: 'https://shop.example/', tmpId },
        ...{ eventId: `event-${tmpId}`, data: {}, v: 1 },
      })),
    ),
  })
  expect(reply.status).toBe(200)
  const query = { measures: ['events.count'], dimensions: ['events.name'], filters: [], timeDimensions: [] }
  await expect.poll(() => service.query(query)).toEqual([{ 'events.name': 'page_view', 'events.count': 3 }])

  const { id } = await service.dataOf<{ id: string }>('POST', '/statistics/query/save', {
    name: 'Pages',
    queries: [query],
    schedule: { frequency: 'monthly', days: [31], time: '07:30', recipients: [service.admin.email] },
  })
  await service.dataOf('POST', `/statistics/query/${id}/run`)
  const mail = await mailTo(service, service.admin.email)
  const [, content = ''] = /filename=Pages\.csv\r?\n\r?\n([\w+/=\r\n]+)/.exec(mail) ?? []
  const csv = 'events.name,events.count\r\npage_view,3\r\n'
  expect(Buffer.from(content, 'base64').toString()).toBe(csv)

  const [run] = await service.dataOf<{ id: string; state: string }[]>('GET', `/statistics/query/${id}/runs`)
  expect(run?.state).toBe('delivered')
  const result = await service.call('GET', `/v2/statistics/query/${id}/runs/${run?.id}/results/0`)
  expect(await result.text()).toBe(csv)
})
