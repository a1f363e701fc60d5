import { readJsonEntry } from './json-values.ts'
import { tooLarge } from './source-fault.ts'
import { type ReaderOptions, sizeText, type TextReader } from './text-reader.ts'

/** One JSON object a line. A line that is none is left out; empty lines are no entries. */
export function createNdjsonReader({ sink, limits }: ReaderOptions): TextReader {
  let text = ''
  let line = 0
  let entry = 0

  function readLine(content: string): void {
    line++
    if (content.length > limits.entryBytes) refuseLength(line)
    if (content.trim() === '') return
    entry++
    const read = readJsonEntry(content, limits)
    if ('row' in read) sink.row(entry, read.row)
    else sink.fault({ rule: 'invalid_line', entry, line, message: `Line ${line} ${read.problem}` })
  }

  function refuseLength(number: number): never {
    throw tooLarge(
      `Line ${number} is longer than ${sizeText(limits.entryBytes)}: NDJSON has one object a line, a list is JSON`,
      { line: number },
    )
  }

  return {
    write(piece) {
      text = text === '' ? piece : text + piece
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        readLine(text.slice(from, end))
        from = end + 1
      }
      text = text.slice(from)
      if (text.length > limits.entryBytes) refuseLength(line + 1)
    },
    end(isCut) {
      if (!isCut && text !== '') readLine(text)
    },
  }
}
