import { createHash } from 'node:crypto'

const ignorable = /\p{Default_Ignorable_Code_Point}/gu

/**
 * The form in which names are compared: compatibility forms are one (NFKC), case is folded, characters that are not
 * seen and the spaces around are left out. Folding is Unicode's full one, in which ß is ss, the three sigmas are one,
 * and İ and ı stay apart from i. Empty for a name of which nothing is seen.
 */
export function comparedName(name: string): string {
  return foldCase(name.normalize('NFKC').replaceAll(ignorable, '')).normalize('NFKC').trim()
}

/** Upper case makes ß two letters, not ẞ, and would make ı an i, which folding does not. */
function foldCase(text: string): string {
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ')
}

/** What the unique indexes hold of a name: NFKC can make it 18 times as long. */
export function hashOfName(name: string): Buffer {
  return createHash('sha256').update(comparedName(name)).digest()
}
