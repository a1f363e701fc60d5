import { readFileSync } from 'node:fs'

/**
 * What a `stat` of Linux's /proc holds after the program's name, which may hold spaces and parentheses: the state comes
 * first, which is the third field of proc(5).
 * @throws Error when there is no such process or thread
 */
export function readStatFields(path: string): string[] {
  const text = readFileSync(path, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
