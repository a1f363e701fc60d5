import { type ErrorName, errorTable } from '@millrace/contract/errors.ts'
import { expect, test } from 'vitest'
import { DomainError } from '../errors.ts'
import { failure } from '../http/envelope.ts'
import { faultOfShape, validationError } from '../http/validation.ts'
import { frenchFailures } from './french-failures.ts'
import { frenchFault } from './french-faults.ts'

/** What stands in code, and names that no language changes. */
const namesIn = (text: string) =>
  [...new Set(text.match(/`[^`]+`|\{\w+\}|x-[a-z-]+|[a-z]+[A-Z]\w+|[a-z]+_[a-z_]+/g))].toSorted()

test('each failure is said in French with the same names', () => {
  for (const [name, french] of Object.entries(frenchFailures)) {
    const english = errorTable[name as ErrorName].message
    expect(french, name).not.toBe(english)
    // A sentence of an interface's developers keeps what is to be typed.
    for (const each of namesIn(english)) expect(french, name).toContain(each)
    expect(french, name).not.toMatch(/ $|\.$|'/)
  }
})

test('a failure in French keeps its codes and its data', () => {
  const error = new DomainError('dashboardNotFound', { id: '0123' })
  const { datetime: _, ...english } = failure(error)
  const { datetime: __, ...french } = failure(error, 'fr')
  expect(french).toEqual({ ...english, message: 'Ce tableau de bord n’existe pas' })
})

test('the first fault is named in French, and each of them', () => {
  const error = validationError([
    { path: 'name', message: 'is required' },
    { path: 'tiles', message: 'of another kind of sentence' },
  ])
  expect(failure(error, 'fr')).toMatchObject({
    message: 'La demande n’est pas valable : name est obligatoire',
    data: {
      errors: [
        { path: 'name', message: 'est obligatoire' },
        { path: 'tiles', message: 'of another kind of sentence' },
      ],
    },
  })
})

test('what the validator says of any schema is French', () => {
  const schema = (property: object, more: object = {}) => ({
    type: 'object',
    properties: { name: property },
    additionalProperties: false,
    ...more,
  })
  const cases: readonly (readonly [schema: object, value: unknown, french: string])[] = [
    [schema({}, { required: ['name'] }), {}, 'est obligatoire'],
    [schema({}, { required: ['name'] }), { nmae: 1 }, 'est obligatoire ; "nmae" n’est pas connu'],
    [schema({}), { nome: 1 }, 'n’est pas connu ; vouliez-vous dire « name » ?'],
    [schema({}), { zzzzzz: 1 }, 'n’est pas connu ; sont connus name'],
    [schema({ enum: ['day', 'week'] }), { name: 'x' }, 'doit être l’une des valeurs "day", "week"'],
    [
      schema({ enum: ['day', 'week'] }),
      { name: 'weak' },
      'doit être l’une des valeurs "day", "week" ; vouliez-vous dire "week" ?',
    ],
    [schema({ type: 'string' }), { name: 3 }, 'doit être un texte ; reçu : 3'],
    [schema({ type: 'boolean' }), { name: 3 }, 'doit être true ou false ; reçu : 3'],
    [schema({ type: ['string', 'null'] }), { name: 3 }, 'doit être un texte ou null ; reçu : 3'],
    [schema({ type: 'integer', minimum: 1 }), { name: 0 }, 'doit être au moins 1 ; reçu : 0'],
    [schema({ type: 'integer', maximum: 1 }), { name: 2 }, 'doit être au plus 1 ; reçu : 2'],
    [schema({ type: 'string', minLength: 1 }), { name: '' }, 'ne doit pas être vide'],
    [
      schema({ type: 'string', maxLength: 1 }),
      { name: 'ab' },
      'doit avoir au plus 1 caractère ; il y en a 2',
    ],
    [schema({ type: 'array', minItems: 2 }), { name: [1] }, 'doit avoir au moins 2 éléments ; il y en a 1'],
    [
      schema({ type: 'array', uniqueItems: true }),
      { name: [1, 1] },
      'ne doit pas avoir de doublons ; les éléments 0 et 1 sont les mêmes',
    ],
  ]
  for (const [shape, value, french] of cases)
    expect(frenchFault(faultOfShape(shape, value)?.message ?? '')).toBe(french)
})
