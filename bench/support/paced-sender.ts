import { connect, type Socket } from 'node:net'

interface Connection {
  readonly socket: Socket
  /** When the request under way was due, or nothing when the connection is free. */
  due: number | undefined
  received: string
}

/**
 * Sends single events at a fixed rate, whatever the answers take (an open loop): a latency counts from the
 * moment a request was due, so that waiting for a slow server is not left out.
 * Prints one JSON line: {sent, ok, failed, p50, p99, max} in milliseconds.
 * Arguments: url, company, events per second, seconds.
 */
const [url = '', key = '', rateText = '1000', secondsText = '5'] = process.argv.slice(2)
const { hostname, port, pathname } = new URL(url)
const rate = Number(rateText)
const until = Number(secondsText) * 1000
const run = Math.floor(Math.random() * 2 ** 32)
  .toString(16)
  .padStart(8, '0')

const latencies: number[] = []
const waiting: number[] = []
let sent = 0
let failed = 0
let counter = 0

function requestText(): string {
  counter++
  const body = JSON.stringify({
    key,
    name: 'product_page',
    url: 'https://shop.example/products/85123A?utm_source=news',
    tmpId: `c${String(counter % 50_000).padStart(24, '0')}`,
    data: { ids: ['85123A', '71053'], store: 'north' },
    eventId: `${run}-0000-4000-8000-${counter.toString(16).padStart(12, '0')}`,
    v: 1,
    timestamp: Date.now(),
  })
  return `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nUser-Agent: okhttp/4.12\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function send(connection: Connection, due: number): void {
  connection.due = due
  sent++
  connection.socket.write(requestText())
}

function onData(connection: Connection, chunk: string): void {
  connection.received += chunk
  const end = connection.received.indexOf('\r\n\r\n')
  if (end < 0 || connection.due === undefined) return
  if (connection.received.startsWith('HTTP/1.1 200')) latencies.push(performance.now() - connection.due)
  else failed++
  connection.received = ''
  connection.due = undefined
  const next = waiting.shift()
  if (next !== undefined) send(connection, next)
}

const connections: Connection[] = await Promise.all(
  Array.from(
    { length: 64 },
    () =>
      new Promise<Connection>((resolve, reject) => {
        const socket = connect(Number(port), hostname)
        socket.setEncoding('latin1').setNoDelay(true)
        const connection: Connection = { socket, due: undefined, received: '' }
        socket.on('data', (chunk: string) => onData(connection, chunk))
        socket.once('connect', () => resolve(connection)).once('error', reject)
      }),
  ),
)

const started = performance.now()
let issued = 0
await new Promise<void>((resolve) => {
  const timer = setInterval(() => {
    const elapsed = performance.now() - started
    for (; issued < (Math.min(elapsed, until) * rate) / 1000; issued++) {
      const due = started + (issued * 1000) / rate
      const free = connections.find((connection) => connection.due === undefined)
      if (free) send(free, due)
      else waiting.push(due)
    }
    const idle = waiting.length === 0 && connections.every((connection) => connection.due === undefined)
    if ((elapsed >= until && idle) || elapsed >= until + 10_000) {
      clearInterval(timer)
      resolve()
    }
  }, 1)
})
for (const { socket } of connections) socket.destroy()

latencies.sort((a, b) => a - b)
const at = (share: number) =>
  Number((latencies[Math.floor(latencies.length * share)] ?? Number.NaN).toFixed(2))
console.log(
  JSON.stringify({
    sent,
    ok: latencies.length,
    failed: failed + waiting.length,
    p50: at(0.5),
    p99: at(0.99),
    max: at(0.9999),
  }),
)
