import { expect, test } from 'vitest'
import { faultsOf, silentAfterMs } from './progress.ts'
import { curlSnippet, pageSnippet, programSnippet, testPage } from './snippets.ts'

const at = '2026-01-15T12:00:00.000Z'
const line = (kind: 'dropped' | 'changed' | 'bot', rule: string) => ({
  ...{ id: rule, datasourceId: 'd', receivedAt: at, path: 'key', sample: '', count: 1 },
  ...{ kind, rule },
})

test('faults are the newest first, each rule once, changed fields left out', () => {
  const feed = [
    { at, outcome: 'bot', sample: 'googlebot' },
    { at, outcome: 'dropped', rule: 'key-mismatch', path: 'key' },
    { at, outcome: 'accepted' },
  ] as const
  const log = [line('dropped', 'key-mismatch'), line('changed', 'number-as-text'), line('bot', 'crawler')]
  expect(faultsOf(feed, log, false, 0)).toEqual([
    { kind: 'rule', rule: 'crawler', path: '' },
    { kind: 'rule', rule: 'key-mismatch', path: 'key' },
  ])
  expect(faultsOf([], log, true, 0)).toMatchObject([{ rule: 'key-mismatch' }, { rule: 'crawler' }])
})

test('silence is a fault after a while, as long as nothing has come', () => {
  expect(faultsOf([], [], false, silentAfterMs - 1)).toEqual([])
  expect(faultsOf([], [], false, silentAfterMs)).toEqual([{ kind: 'silent' }])
  expect(faultsOf([], [], true, silentAfterMs)).toEqual([])
})

test('every snippet holds the identifiers', () => {
  const ids = { origin: 'https://events.example', companyId: 'c'.repeat(24), datasourceId: 'd'.repeat(24) }
  for (const text of [pageSnippet(ids), curlSnippet(ids, 'order-1'), programSnippet(ids), testPage(ids)])
    for (const each of Object.values(ids)) expect(text).toContain(each)
  expect(JSON.parse(/'(\{.*\})'$/s.exec(curlSnippet(ids, 'order-1'))?.[1] ?? '')).toMatchObject({
    key: ids.companyId,
    eventId: 'order-1',
  })
})
