import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  actionsFrom,
  experimentActions,
  experimentStatuses,
  transitionOf,
} from '@millrace/contract/resources/experiment.ts'
import { expect, test } from 'vitest'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/experiments.md'), 'utf8')
/** The cells of the rows of the table of states, by their first one. */
const rows = [...page.matchAll(/^\| `POST \/(\w+)`([^|]*)\|([^|]*)\|([^|]*)\|/gm)].map(
  ([, action = '', further = '', from = '', to = '']) => ({
    action: further.includes('null') ? 'unschedule' : action,
    from: from.trim().split(', '),
    to: to.trim(),
  }),
)

test('the page has the transitions of the contract', () => {
  const known = experimentActions.map((action) => {
    const { from, to = 'the same' } = transitionOf(action)
    return { action, from: [...from], to }
  })
  expect(rows).toEqual(known)
})

test('every state can be reached, and only the archived one allows nothing', () => {
  const reached = new Set(experimentActions.map((action) => transitionOf(action).to))
  for (const status of experimentStatuses) {
    expect(reached.has(status), status).toBe(true)
    expect(actionsFrom(status).length === 0, status).toBe(status === 'archived')
  }
})
