/** A message of a stream of server-sent events. */
export interface StreamMessage {
  readonly event: string
  readonly data: string
}

/**
 * Reads server-sent events (HTML Standard, 9.2.6) from text that comes in pieces cut anywhere. Ids and retry times are
 * ignored: nothing is repeated.
 * @returns a function that takes a piece and gives the messages that it completes
 */
export function createStreamReader(): (piece: string) => StreamMessage[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  let isFirst = true

  function readLine(line: string, messages: StreamMessage[]): void {
    if (line === '') {
      if (data.length > 0) messages.push({ event: event || 'message', data: data.join('\n') })
      event = ''
      data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }

  return (piece) => {
    const messages: StreamMessage[] = []
    rest += isFirst ? piece.replace(/^\ufeff/, '') : piece
    isFirst = isFirst && piece === ''
    // The other half of a line end may be in the next piece.
    const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest
    const lines = whole.split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? '') + rest.slice(whole.length)
    for (const line of lines) readLine(line, messages)
    return messages
  }
}
