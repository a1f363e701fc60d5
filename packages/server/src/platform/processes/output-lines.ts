import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A longer line is cut into pieces of this many characters: a child must not fill our memory. */
const maxLineLength = 8192
/** How many lines are kept to explain a failure. */
const keptLines = 40

/** The lines that a child writes, as they come, with the last ones kept. */
export type OutputLines = ReturnType<typeof createOutputLines>

export function createOutputLines() {
  const recent: string[] = []
  const listeners = new Set<(line: string) => void>()

  function take(line: string, onLine: (line: string) => void): void {
    if (line === '') return
    recent.push(line)
    if (recent.length > keptLines) recent.shift()
    for (const listener of listeners) listener(line)
    onLine(line)
  }

  return {
    /** The last lines, oldest first. */
    recent: (): readonly string[] => [...recent],
    /** Calls the listener for every line from now on, after telling it those that are kept. */
    listen(listener: (line: string) => void): () => void {
      for (const line of recent) listener(line)
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    attach(stream: Readable, onLine: (line: string) => void): void {
      const decoder = new StringDecoder('utf8')
      let rest = ''
      const cut = (text: string): void => {
        rest += text
        for (
          let end = rest.indexOf('\n');
          end >= 0 || rest.length > maxLineLength;
          end = rest.indexOf('\n')
        ) {
          const upTo = end >= 0 && end <= maxLineLength ? end : maxLineLength
          take(rest.slice(0, upTo).replace(/\r$/, ''), onLine)
          rest = rest.slice(upTo === end ? upTo + 1 : upTo)
        }
      }
      stream.on('data', (chunk: Buffer) => cut(decoder.write(chunk)))
      stream.on('end', () => {
        cut(decoder.end())
        take(rest, onLine)
        rest = ''
      })
      // A pipe that breaks says no more than the exit of the child does.
      stream.on('error', () => {})
    },
  }
}
