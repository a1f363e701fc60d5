import { createDecipheriv, createHash } from 'node:crypto'
import { searchSteps } from '../../../../platform/text/search-steps.ts'
import { localeOf } from './locales.ts'
import { checkPattern, extractPattern, replacePattern } from './patterns.ts'
import {
  type AssertTime,
  constant,
  optional,
  type TransformFunction,
  takes,
  transformLimits,
  WrongArgument,
  withVariables,
} from './transform-function.ts'

function replaceText(text: string, search: string, replacement: string, assertTime: AssertTime): string {
  if (search === '') throw new WrongArgument('search must not be empty')
  assertTime(searchSteps(text, search))
  const parts = text.split(search)
  const length = text.length + (parts.length - 1) * (replacement.length - search.length)
  if (length > transformLimits.text)
    throw new WrongArgument(`the result must have at most ${transformLimits.text} characters`)
  return parts.join(replacement)
}

const replace: TransformFunction = {
  description: 'Every occurrence of `search` replaced; with `pattern` it is a regular expression of RE2',
  parameters: [
    takes.text,
    constant('search', 'text'),
    constant('replacement', 'text'),
    optional(constant('mode', 'text', ['text', 'pattern'])),
  ],
  result: 'text',
  evaluate: ([text, search, replacement, mode], assertTime) =>
    mode === 'pattern'
      ? replacePattern(text as string, search as string, replacement as string, assertTime)
      : replaceText(text as string, search as string, replacement as string, assertTime),
  check([, search, , mode], spend) {
    if (search === '') throw new WrongArgument('search must not be empty')
    if (mode === 'pattern' && search !== undefined) checkPattern(search as string, spend)
  },
}

const capitalized = (text: string, locale: string): string => {
  const [first = ''] = text
  return first.toLocaleUpperCase(locale) + text.slice(first.length).toLocaleLowerCase(locale)
}

/** `%s`, `%5d`, `%.2f`, `%2$s`, `%%`. */
const conversion = /%(?:(\d)\$)?([-0+]{0,3})(\d{0,3})(?:\.(\d))?(.?)/gsu

function converted(value: unknown, kind: string, flags: string, width: string, digits?: string): string {
  let text = value === undefined ? '' : String(value)
  if (value !== undefined && kind !== 's') {
    if (typeof value !== 'number') throw new WrongArgument(`%${kind} takes a number; use %s or parse-number`)
    text = kind === 'd' ? String(Math.trunc(value)) : value.toFixed(Number(digits ?? 6))
    if (flags.includes('+') && value >= 0) text = `+${text}`
  }
  if (flags.includes('-')) return text.padEnd(Number(width))
  if (!flags.includes('0') || kind === 's') return text.padStart(Number(width))
  const sign = /^[+-]/.test(text) ? text.slice(0, 1) : ''
  return sign + text.slice(sign.length).padStart(Number(width) - sign.length, '0')
}

function sprintf(format: string, values: readonly unknown[]): string {
  let next = 0
  let length = 0
  return format.replace(
    conversion,
    (whole, place: string, flags: string, width: string, digits, kind: string) => {
      if (whole === '%%') return '%'
      if (!['s', 'd', 'f'].includes(kind))
        throw new WrongArgument(`"${whole}" is not known; conversions are %s, %d, %f and %%`)
      const text = converted(values[place ? Number(place) - 1 : next++], kind, flags, width, digits)
      length += text.length
      if (length > transformLimits.text)
        throw new WrongArgument(`the result must have at most ${transformLimits.text} characters`)
      return text
    },
  )
}

function decipher(data: Buffer, key: Buffer, mode: string): string {
  const bits = key.length * 8
  if (mode === 'gcm') {
    const [iv, body, tag] = [data.subarray(0, 12), data.subarray(12, -16), data.subarray(-16)]
    const decipher = createDecipheriv(`aes-${bits}-gcm` as 'aes-256-gcm', key, iv, { authTagLength: 16 })
    decipher.setAuthTag(tag)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  }
  const decipher = createDecipheriv(`aes-${bits}-cbc`, key, data.subarray(0, 16))
  return Buffer.concat([decipher.update(data.subarray(16)), decipher.final()]).toString('utf8')
}

const keyForm = /^(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{48}|[0-9a-fA-F]{64})$/

function keyOf(key: string): Buffer {
  if (!keyForm.test(key)) throw new WrongArgument('key must be 32, 48 or 64 hexadecimal digits')
  return Buffer.from(key, 'hex')
}

function paddedLength(length: unknown): number {
  const wanted = length as number
  if (wanted < 0 || wanted > 1_000) throw new WrongArgument('length must be between 0 and 1000')
  return wanted
}

/** Functions over texts (docs/workflows.md, Transform functions). */
export const textFunctions = {
  truncate: {
    description: 'At most `length` characters, the ending included, which is `…` when absent',
    parameters: [takes.text, constant('length', 'number'), optional(constant('ending', 'text'))],
    result: 'text',
    evaluate([text, length, ending = '…']) {
      const [characters, end] = [[...(text as string)], [...(ending as string)]]
      const max = Math.max(0, Math.trunc(length as number))
      if (characters.length <= max) return text
      return [...characters.slice(0, Math.max(0, max - end.length)), ...end].slice(0, max).join('')
    },
  },
  case: {
    description: 'In upper or lower case, or the first letter in upper and the rest in lower case',
    parameters: [takes.text, constant('mode', 'text', ['upper', 'lower', 'capitalize']), takes.locale],
    result: 'text',
    evaluate([text, mode, locale]) {
      const [given, language] = [text as string, localeOf(locale)]
      if (mode === 'upper') return given.toLocaleUpperCase(language)
      return mode === 'lower' ? given.toLocaleLowerCase(language) : capitalized(given, language)
    },
    check: ([, , locale]) => void localeOf(locale),
  },
  replace,
  'replace-var': withVariables(replace, ['search', 'replacement']),
  split: {
    description: 'The parts of a text between separators',
    parameters: [takes.text, constant('separator', 'text')],
    result: 'list',
    evaluate([text, separator], assertTime) {
      assertTime(searchSteps(text as string, separator as string))
      const parts = (text as string).split(separator as string, transformLimits.items + 1)
      if (parts.length > transformLimits.items)
        throw new WrongArgument(`the text must have at most ${transformLimits.items} parts`)
      return parts
    },
    check([, separator]) {
      if (separator === '') throw new WrongArgument('separator must not be empty')
    },
  },
  extract: {
    description:
      'What the first group of a regular expression of RE2 matches, or the whole match where it has none; absent without a match',
    parameters: [takes.text, constant('pattern', 'text')],
    result: 'text',
    evaluate: ([text, pattern], assertTime) => extractPattern(text as string, pattern as string, assertTime),
    check: ([, pattern], spend) => checkPattern(pattern as string, spend),
  },
  template: {
    description:
      'A format with `%s` (text), `%d` (whole number), `%f` (number, `%.2f` with two digits) and `%%`',
    parameters: [constant('format', 'text')],
    rest: 'any',
    takesAbsent: true,
    result: 'text',
    evaluate: ([format, ...values]) => sprintf(format as string, values),
    check: ([format]) =>
      void sprintf(
        format as string,
        Array.from({ length: 9 }, () => undefined),
      ),
  },
  length: {
    description: 'Characters of a text, or items of a list',
    parameters: [{ name: 'value', type: 'any' }],
    result: 'number',
    evaluate: ([value]) => (Array.isArray(value) ? value.length : [...String(value)].length),
  },
  pad: {
    description: 'Filled to `length` characters at its start or end; with spaces at the start when absent',
    parameters: [
      takes.text,
      constant('length', 'number'),
      optional(constant('fill', 'text')),
      optional(constant('side', 'text', ['start', 'end'])),
    ],
    result: 'text',
    evaluate([text, length, fill = ' ', side]) {
      const [given, wanted] = [text as string, paddedLength(length)]
      return side === 'end' ? given.padEnd(wanted, fill as string) : given.padStart(wanted, fill as string)
    },
    check: ([, length]) => void paddedLength(length),
  },
  'create-hash': {
    description: 'A hash of a text in UTF-8, as hexadecimal digits when `encoding` is absent',
    parameters: [
      takes.text,
      constant('algorithm', 'text', ['sha256', 'sha512', 'sha1', 'md5', 'sha224']),
      optional(constant('encoding', 'text', ['hex', 'base64'])),
    ],
    result: 'text',
    evaluate: ([text, algorithm, encoding = 'hex']) =>
      createHash(algorithm as string)
        .update(text as string)
        .digest(encoding as 'hex' | 'base64'),
  },
  'aes-decrypt': {
    description:
      'The text of an AES cipher: `cbc` (16 bytes of initialisation vector first) or `gcm` (12 bytes first, the tag of 16 bytes last); `cbc` and `base64` when absent',
    parameters: [
      takes.text,
      constant('key', 'text'),
      optional(constant('mode', 'text', ['cbc', 'gcm'])),
      optional(constant('encoding', 'text', ['base64', 'hex'])),
    ],
    result: 'text',
    evaluate([text, key, mode = 'cbc', encoding = 'base64']) {
      const data = Buffer.from(text as string, encoding as 'base64' | 'hex')
      const secret = keyOf(key as string)
      try {
        return decipher(data, secret, mode as string)
      } catch {
        throw new WrongArgument('the text is not encrypted with this key and mode')
      }
    },
    check: ([, key]) => void keyOf(key as string),
  },
} as const satisfies Record<string, TransformFunction>
