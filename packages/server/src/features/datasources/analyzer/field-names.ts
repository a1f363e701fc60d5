/** Letters that have no base letter to be reduced to. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
}

const maxLength = 60
/** Characters of a column's name that are looked at. */
const maxNameLength = 200

/** The words of a column's name in lower case without accents: `ImageURL` and `image_url` are `image url`. */
export function wordsOf(name: string): string {
  return name
    .slice(0, maxNameLength)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[ßæøœłđðþ]/g, (letter) => letters[letter] as string)
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{Mn}+/gu, '$1')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** A name that a field can have, `^[a-z][a-z0-9_-]*$`, made of any text; `fallback` where nothing of it remains. */
export function fieldName(text: string, fallback: string): string {
  const name = wordsOf(text)
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  if (name === '') return fallback
  return (/^[a-z]/.test(name) ? name : `field_${name}`).slice(0, maxLength).replace(/_+$/, '')
}
