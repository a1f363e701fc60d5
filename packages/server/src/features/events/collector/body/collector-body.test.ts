import { expect, test } from 'vitest'
import { parseBody } from './collector-body.ts'

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

// docs/faults.md, B20
test.each([
  ['a line that nests', 'lines', deep(500_000)],
  ['lines that nest, each less than a short body', 'lines', `${deep(100_000)}\n`.repeat(5)],
  ['data of a form that nests', 'form', `name=seen&data=${deep(500_000)}`],
] as const)('%s costs no more than what it is read from', async (_name, format, text) => {
  const body = Buffer.from(format === 'lines' ? `${text}\n{}` : text)
  const parse = () => parseBody(body, { format, charset: undefined })
  const [event] = parse().events
  expect(event).toEqual(format === 'lines' ? {} : { name: 'seen', data: deep(500_000) })
  await expect(parse).toCostAtMost(4, () => [...body.subarray(0, 250_000)])
})

test('encoded signs of a form, one by one, cost as much as those in a run', async () => {
  const parse = (text: string) => () => {
    const { events } = parseBody(Buffer.from(`name=${text}`), { format: 'form', charset: undefined })
    expect(events).toHaveLength(1)
  }
  await expect(parse('%41+'.repeat(300_000))).toCostAtMost(4, parse('%41'.repeat(400_000)))
})

test('reads signs that encode nothing as they stand, and bytes that are no UTF-8 as U+FFFD', () => {
  const read = (value: string) =>
    parseBody(Buffer.from(`name=${value}`), { format: 'form', charset: undefined })
  const named = (value: string) => ({ events: [{ name: value }], dropped: [] })
  expect(read('a+b%20%C3%A9é%e2%82%ac')).toEqual(named('a b éé€'))
  expect(read('100%+%4%g1%%41%')).toEqual(named('100% %4%g1%A%'))
  expect(read('%ff%41')).toEqual(named('\ufffdA'))
})
