import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { publishWorkflow } from '../support/live-workflow.ts'
import { times } from '../support/long.ts'
import { edgesOf } from '../support/runner.ts'
import { type Service, startService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const kills = times(20, 1)
const dataDirectory = mkdtempSync(join(tmpdir(), 'millrace-runner-kill-'))

afterAll(() => rmSync(dataDirectory, { recursive: true, force: true }))

const definition = {
  entrypoints: { mail: { type: 'email', format: 'embed-image' } },
  nodes: {
    parts: {
      type: 'split',
      groups: [
        { id: 'A', share: 50 },
        { id: 'B', share: 50 },
      ],
    },
    a: { type: 'image', url: 'https://img.example/a.png', redirect: { value: 'https://shop.example/a' } },
    b: { type: 'image', url: 'https://img.example/b.png', redirect: { value: 'https://shop.example/b' } },
  },
  edges: edgesOf('mail>parts', 'parts.A>a', 'parts.B>b'),
}

/** Runs that were answered, by the name of their event. */
type Answered = Map<string, 'workflow_display' | 'workflow_click'>

/** Shows and clicks from several askers until the service is gone. */
async function askUntilGone(service: Service, path: string, answered: Answered): Promise<void> {
  const origin = service.baseUrl.replace(/\/v2$/, '')
  const asker = async (number: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const isClick = i % 3 === 2
      const query = `trk-u=person-${number}-${i}&trk-m=spring${isClick ? '&mode=click' : ''}`
      try {
        const reply = await fetch(`${origin}${path}?${query}`, { redirect: 'manual' })
        expect(reply.status).toBe(302)
        await reply.arrayBuffer()
        const runId = reply.headers.get('x-millrace-run-id')
        if (runId !== null) answered.set(runId, isClick ? 'workflow_click' : 'workflow_display')
      } catch (error) {
        if (error instanceof TypeError) return
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, number) => asker(number)))
}

/** How often each run is in the statistics, by the name of its event. */
async function countedAs(service: Service, name: string): Promise<Map<string, number>> {
  const counted = new Map<string, number>()
  for (let offset = 0; ; offset += 50_000) {
    const rows = await service.query({
      measures: ['events.count'],
      dimensions: ['events.label.runId'],
      filters: [{ member: 'events.name', operator: 'equals', values: [name] }],
      timeDimensions: [],
      limit: 50_000,
      offset,
    })
    for (const row of rows) counted.set(String(row['events.label.runId']), Number(row['events.count']))
    if (rows.length < 50_000) return counted
  }
}

test(
  `${kills} times SIGKILL under load: no display or click that was answered is lost, none counts twice`,
  async () => {
    const answered: Answered = new Map()
    let path = ''
    for (let round = 0; round < kills; round++) {
      const service = await startService({ dataDirectory })
      if (path === '') path = (await publishWorkflow(service, definition)).addresses.get('mail') ?? ''
      const asking = askUntilGone(service, path, answered)
      const enough = answered.size + randomInt(20, 600)
      await until(() => answered.size > enough)
      process.kill(service.pid, 'SIGKILL')
      await asking
      await service.stop('SIGKILL')
    }
    const service = await startService({ dataDirectory })
    try {
      await service.loaded()
      const displays = await countedAs(service, 'workflow_display')
      const clicks = await countedAs(service, 'workflow_click')
      const lost = [...answered].filter(
        ([runId, name]) => (name === 'workflow_display' ? displays : clicks).get(runId) !== 1,
      )
      console.log(`${kills} kills: ${answered.size} runs answered, ${displays.size + clicks.size} stored`)
      expect(lost).toEqual([])
      expect([...displays.values(), ...clicks.values()].every((count) => count === 1)).toBe(true)
      expect(answered.size).toBeGreaterThan(kills * 20)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  },
  600_000 + kills * 60_000,
)
