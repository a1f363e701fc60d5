import type { FieldLocale } from './field-types.ts'

/** Words for yes and no with the languages that have them; without a language they are of none. */
const words: readonly (readonly [yes: string, no: string, locales: readonly FieldLocale[]])[] = [
  ['true', 'false', []],
  ['t', 'f', []],
  ['on', 'off', []],
  ['1', '0', []],
  ['yes', 'no', ['en']],
  ['y', 'n', ['en']],
  ['ja', 'nein', ['de']],
  ['j', 'n', ['de']],
  ['wahr', 'falsch', ['de']],
  ['oui', 'non', ['fr']],
  ['o', 'n', ['fr']],
  ['vrai', 'faux', ['fr']],
  ['sí', 'no', ['es']],
  ['si', 'no', ['es']],
  ['verdadero', 'falso', ['es']],
  ['sim', 'não', ['pt']],
  ['sim', 'nao', ['pt']],
  ['verdadeiro', 'falso', ['pt']],
  ['ja', 'nee', ['nl']],
  ['waar', 'onwaar', ['nl']],
  ['да', 'нет', ['ru']],
  ['истина', 'ложь', ['ru']],
  ['так', 'ні', ['uk']],
  ['はい', 'いいえ', ['ja']],
  ['是', '否', ['zh']],
]

const values = new Map<string, boolean>()
for (const [yes, no] of words) {
  values.set(yes, true)
  values.set(no, false)
}

/** A word for yes or no in any of the languages, also `1` and `0`. */
export function readBoolean(text: string): boolean | undefined {
  return values.get(text.trim().toLowerCase())
}

/** What the words of a column say: a pair of a language, or one word of it that is no single letter or digit. */
export function booleanWords(distinct: readonly string[]): { locale: FieldLocale | undefined } | undefined {
  const given = new Set(distinct.map((text) => text.trim().toLowerCase()))
  if (given.size === 0 || given.size > 2) return undefined
  const fitting = words.filter(([yes, no]) => [...given].every((word) => word === yes || word === no))
  const only = [...given][0] as string
  if (fitting.length === 0 || (given.size === 1 && (only.length < 2 || /^(on|off)$/.test(only))))
    return undefined
  const locales = new Set(fitting.flatMap(([, , each]) => each))
  return {
    locale:
      locales.size === 1 && fitting.every(([, , each]) => each.length > 0) ? [...locales][0] : undefined,
  }
}
