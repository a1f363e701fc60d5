import { readJsonEntry } from './json-values.ts'
import { escapeName, leadsTo, type Path, parsePath } from './path.ts'
import { malformed, noEntries, tooLarge } from './source-fault.ts'
import { type ReaderOptions, sizeText, type TextReader } from './text-reader.ts'

export interface JsonOptions {
  /** Absent: the first list of objects. */
  readonly rootPath?: string
  /** Whether the text begins somewhere within the entries of `rootPath`, in front of one of them. */
  readonly isWithin?: boolean
  readonly onRoot?: (rootPath: string) => void
}

/** A list or object that is open; `name` is the name or the index of the value in it that is read. */
interface Level {
  readonly isList: boolean
  name: string | undefined
}

/** Levels around the entries. */
const maxLevels = 100

const spaces = /[\s,]*/y
const scalar = /[^\s,:\]}"{[]+/y
const bracketOrQuote = /["{}[\]]/g

/**
 * The entries of a list or an object within a JSON document. Only brackets and texts are followed to find where an
 * entry ends, which is then parsed by itself: so an entry that is no JSON is left out and the next one is read,
 * integers keep all digits, and a list of any length costs the memory of one entry.
 */
export function createJsonReader({ sink, limits, ...options }: ReaderOptions & JsonOptions): TextReader {
  let root: Path | undefined = options.rootPath === undefined ? undefined : parsePath(options.rootPath)
  const levels: Level[] = []
  let text = ''
  let at = 0
  /** Characters in front of `text`. */
  let before = 0
  let entry = 0
  let isDone = false
  /** Whether a name was read whose value follows. */
  let isAfterName = false
  /** Within an entry: where it begins, how deep it is, whether in a text. */
  let inside: { start: number; depth: number; isText: boolean } | undefined

  if (options.isWithin && root !== undefined) {
    for (const step of root) levels.push({ isList: true, name: 'name' in step ? step.name : '0' })
  }

  function refuse(message: string): never {
    throw malformed(`Not JSON at character ${before + at + 1}: ${message}`, { entry })
  }

  function refuseLength(): never {
    throw tooLarge(
      `Entry ${entry + 1} at character ${before + at + 1} is larger than ${sizeText(limits.entryBytes)}: does the root path lead to a list of entries?`,
      { entry: entry + 1 },
    )
  }

  function isAtEntry(): boolean {
    if (root === undefined || levels.length !== root.length) return false
    return root.every((step, index) => leadsTo(step, levels[index]?.name))
  }

  function findRoot(): void {
    root = levels.map((level, index) =>
      index === levels.length - 1 || level.isList ? { every: true } : { name: level.name as string },
    )
    options.onRoot?.(root.map((step) => ('every' in step ? '*' : escapeName(step.name))).join('.'))
  }

  function finishEntry(end: number): void {
    const content = text.slice((inside as { start: number }).start, end)
    inside = undefined
    at = end
    entry++
    if (content.length > limits.entryBytes) refuseLength()
    const read = readJsonEntry(content, limits)
    if ('row' in read) sink.row(entry, read.row)
    else sink.fault({ rule: 'invalid_line', entry, message: `Entry ${entry} ${read.problem}` })
  }

  /** Follows the entry that is read; false where the text ends first. */
  function readEntry(entryIn: { start: number; depth: number; isText: boolean }): boolean {
    for (;;) {
      if (entryIn.isText) {
        const end = endOfText(at)
        if (end === -1) return false
        at = end
        entryIn.isText = false
      }
      bracketOrQuote.lastIndex = at
      const found = bracketOrQuote.exec(text)
      if (found === null) {
        at = text.length
        return false
      }
      at = found.index + 1
      const character = found[0]
      if (character === '"') entryIn.isText = true
      else if (character === '{' || character === '[') entryIn.depth++
      else if (--entryIn.depth === 0) {
        finishEntry(at)
        return true
      }
    }
  }

  /** The position behind the text whose first character is at `from`; -1 where it is not finished. */
  function endOfText(from: number): number {
    for (let close = text.indexOf('"', from); close !== -1; close = text.indexOf('"', close + 1)) {
      let escapes = 0
      while (close - escapes > from && text.charCodeAt(close - escapes - 1) === 92) escapes++
      if (escapes % 2 === 0) return close + 1
    }
    return -1
  }

  /** Reads one token outside of entries; false where the text ends within it. */
  function readToken(isEnd: boolean): boolean {
    const level = levels.at(-1)
    spaces.lastIndex = at
    spaces.exec(text)
    at = spaces.lastIndex
    if (at >= text.length) return false
    const character = text[at] as string
    if (character === '}' || character === ']') {
      if (level === undefined || (!options.isWithin && level.isList !== (character === ']'))) {
        refuse(`${character} closes nothing that is open`)
      }
      at++
      close()
      return true
    }
    if (levels.length === 0 && isDone)
      refuse('more than one document: with one object a line, the format is ndjson')
    if (level !== undefined && !level.isList && !isAfterName && !(options.isWithin && isAtEntry())) {
      return readName(level, isEnd)
    }
    return readValue(character, isEnd)
  }

  function readName(level: Level, isEnd: boolean): boolean {
    if (text[at] !== '"') refuse(`a name in quotes is expected, not ${text[at]}`)
    const end = endOfText(at + 1)
    if (end === -1) {
      if (isEnd) refuse('the text is not closed')
      return false
    }
    const colon = /\s*:/y
    colon.lastIndex = end
    if (colon.exec(text) === null) {
      if (!isEnd && text.slice(end).trim() === '') return false
      refuse('a colon is expected behind a name')
    }
    try {
      level.name = JSON.parse(text.slice(at, end)) as string
    } catch {
      refuse('a name with a wrong escape')
    }
    isAfterName = true
    at = colon.lastIndex
    return true
  }

  function readValue(character: string, isEnd: boolean): boolean {
    const level = levels.at(-1)
    if (level?.isList && !options.isWithin)
      level.name = level.name === undefined ? '0' : String(Number(level.name) + 1)
    if (root === undefined && level?.isList && character === '{') findRoot()
    if (isAtEntry() && (character === '{' || character === '[')) {
      isAfterName = false
      inside = { start: at, depth: 0, isText: false }
      return readEntry(inside)
    }
    if (character === '{' || character === '[') {
      if (levels.length >= maxLevels) refuse(`more than ${maxLevels} levels`)
      levels.push({ isList: character === '[', name: undefined })
      isAfterName = false
      at++
      return true
    }
    let end: number
    if (character === '"') end = endOfText(at + 1)
    else {
      scalar.lastIndex = at
      if (scalar.exec(text) === null) refuse(`a value is expected, not ${character}`)
      end = scalar.lastIndex >= text.length && !isEnd ? -1 : scalar.lastIndex
    }
    if (end === -1) {
      if (isEnd) refuse('the text is not closed')
      // The value is read again from its beginning.
      if (level?.isList && !options.isWithin)
        level.name = level.name === '0' ? undefined : String(Number(level.name) - 1)
      return false
    }
    if (isAtEntry()) {
      inside = { start: at, depth: 0, isText: false }
      finishEntry(end)
    }
    isAfterName = false
    at = end
    if (levels.length === 0) isDone = true
    return true
  }

  function close(): void {
    levels.pop()
    isAfterName = false
    if (levels.length === 0) isDone = true
  }

  function drain(isEnd: boolean): void {
    while (inside === undefined ? readToken(isEnd) : readEntry(inside)) {
      if (options.isWithin && isDone) break
    }
    const kept = inside?.start ?? at
    text = text.slice(kept)
    before += kept
    at -= kept
    if (inside !== undefined) inside.start = 0
    if (text.length > limits.entryBytes) refuseLength()
  }

  return {
    write(piece) {
      if (options.isWithin && isDone) return
      text = text === '' ? piece : text + piece
      drain(false)
    },
    end(isCut) {
      if (isCut || (options.isWithin && isDone)) return
      drain(true)
      if (inside !== undefined || levels.length > 0) {
        throw malformed(
          `The file ends within ${inside === undefined ? 'a list or an object' : `entry ${entry + 1}`}: it is not whole`,
          { entry },
        )
      }
      if (!isDone) throw noEntries('The file is empty: JSON with a list of objects is expected')
      if (entry === 0) {
        throw noEntries(
          options.rootPath === undefined
            ? 'There is no list of objects: give the root path, such as `*` for the values of an object'
            : `There are no entries at the root path ${options.rootPath}`,
        )
      }
    },
  }
}
