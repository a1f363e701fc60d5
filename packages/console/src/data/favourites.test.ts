import { expect, test } from 'vitest'
import { favouriteOf, placeOf, readFavourite } from './favourites.ts'

test('the same view is the same place, however it came about', () => {
  expect(placeOf('/explore?range=30d&compare=year#content')).toBe(placeOf('/explore?compare=year&range=30d'))
  expect(placeOf('/explore?')).toBe('/explore')
})

test('a favourite keeps its name, whatever letters it has', () => {
  const text = favouriteOf('/saved/1?x=%22a%22', 'Été #1 <b>\nof all') ?? ''
  expect(readFavourite(text)).toEqual({ text, place: '/saved/1?x=%22a%22', name: 'Été #1 <b> of all' })
})

test('what is too long to be kept is none, a long name is cut', () => {
  expect(favouriteOf(`/explore?query=${'a'.repeat(500)}`, 'Long')).toBeUndefined()
  expect(favouriteOf('/', 'n'.repeat(600))).toHaveLength(500)
})

test('one without a name is called by its place', () => {
  expect(readFavourite('/live')).toMatchObject({ place: '/live', name: '/live' })
  expect(readFavourite('//elsewhere.example/x').place).toBe('/x')
})
