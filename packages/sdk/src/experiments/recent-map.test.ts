import { expect, test } from 'vitest'
import { RecentMap } from './recent-map.ts'

test('holds no more entries than it may, the last ones', () => {
  const map = new RecentMap<number>(3)
  for (let i = 0; i < 10; i++) map.set(`${i}`, i)
  map.set('9', 90)
  map.delete('8')
  expect(['6', '7', '8', '9'].map((key) => map.get(key))).toEqual([undefined, 7, undefined, 90])
})
