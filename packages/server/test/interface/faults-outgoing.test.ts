import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  createOutgoingClient,
  type OutgoingClientOptions,
} from '../../src/platform/outgoing/outgoing-client.ts'
import { OutgoingError } from '../../src/platform/outgoing/outgoing-error.ts'
import { isPublicAddress, rangesOf } from '../../src/platform/outgoing/public-addresses.ts'
import { tls } from '../support/tls.ts'

/** Inputs of docs/faults.md that are about requests to addresses of users. */

type Handler = (request: IncomingMessage, reply: ServerResponse) => void

let server: Server
let port = 0
/** Connections that anything opened to a server of this file. */
let sockets = 0
let handle: Handler = (_request, reply) => reply.end('ok')
const received: {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
}[] = []
const others: { close(): unknown }[] = []

const listen = async (each: Server | TcpServer): Promise<number> => {
  await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))
  return (each.address() as AddressInfo).port
}

beforeAll(async () => {
  server = createTlsServer({ key: tls.key, cert: tls.certificate }, async (request, reply) => {
    let body = ''
    for await (const piece of request) body += piece
    const { method, url, headers } = request
    received.push({ method, url, headers, body })
    handle(request, reply)
  })
  server.on('connection', () => sockets++)
  server.on('clientError', (_error, socket) => socket.destroy())
  port = await listen(server)
})

afterEach(() => {
  handle = (_request, reply) => reply.end('ok')
  received.length = 0
  sockets = 0
  for (const other of others.splice(0)) other.close()
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** May go to this machine at the ports of this file, and nowhere else but to the public internet. */
const loopback = rangesOf(['127.0.0.1'])

function clientWith(options: OutgoingClientOptions = {}) {
  return createOutgoingClient({
    allow: loopback,
    authorities: tls.authority,
    ports: [port],
    resolve: async () => ['127.0.0.1'],
    stepMs: 1,
    ...options,
  })
}

const failure = async (promise: Promise<unknown>): Promise<OutgoingError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OutgoingError)
  return error as OutgoingError
}

const limits = { limitBytes: 10_000, timeoutMs: 3_000 }
const at = (path = '/', host = 'hooks.example.test') => `https://${host}:${port}${path}`

describe('D02: addresses that are not public', () => {
  const spellings = [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    '00000000',
    '1',
    '%31%32%37.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::8.8.8.8]',
    '[64:ff9b:1::a00:1]',
    '[2002:7f00:1::]',
    '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
    '[fd00::1]',
    '[fd00:ec2::254]',
    '[fc00::1]',
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[100::1]',
    '[3fff::1]',
    '[5f00::1]',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '169.254.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '0xa9fea9fe',
    '2852039166',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'shop.localhost',
    'a.shop.localhost.',
  ]

  test.each(spellings)('%s is refused and no socket is opened', async (host) => {
    const client = createOutgoingClient({ authorities: tls.authority, ports: [port], connectMs: 500 })
    const asked = [
      async () => client.validate(at('/', host)),
      () => client.postJson(at('/', host), '{}'),
      () => client.fetchDocument(at('/', host), limits),
    ]
    const message = /^[\x21-\x7e]+$/.test(host)
      ? /leads to an address that is not public$/
      : /printable ASCII/
    for (const ask of asked)
      expect(await failure(ask())).toMatchObject({
        fault: 'refused',
        message: expect.stringMatching(message),
      })
    expect(sockets).toBe(0)
  })

  test('localhost is asked where the operator allows its address', async () => {
    await clientWith({ allow: rangesOf(['127.0.0.1']) }).postJson(at('/hook', 'localhost'), '{"a":1}')
    expect(received).toHaveLength(1)
  })

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each(['', 'x', '1.2.3', 'fe80::1%eth0', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '64:ff9b::1'])(
    '%j from a resolver is not public',
    (address) => {
      expect(isPublicAddress(address)).toBe(false)
    },
  )

  test('the service itself is refused by its name, whatever that name leads to', async () => {
    const client = clientWith({ ownHosts: () => ['Stats.example.test'], resolve: async () => ['8.8.8.8'] })
    for (const host of ['stats.example.test', 'STATS.EXAMPLE.TEST', 'stats.example.test.'])
      expect((await failure(client.postJson(at('/', host), '{}'))).message).toMatch(/this service itself/)
  })

  test('what the operator allows is asked, over plain http too', async () => {
    await clientWith().postJson(at('/hook', '127.0.0.1'), '{"a":1}')
    const plain = createServer((_request, reply) => reply.end('text'))
    others.push(plain)
    const plainPort = await listen(plain)
    const client = clientWith({ ports: [plainPort] })
    expect(await client.fetchDocument(`http://intra.example.test:${plainPort}/`, limits)).toBe('text')
    const strict = createOutgoingClient({ ports: [plainPort], resolve: async () => ['127.0.0.1'] })
    expect(
      (await failure(strict.fetchDocument(`http://intra.example.test:${plainPort}/`, limits))).message,
    ).toBe('the address must begin with https://')
    const elsewhere = clientWith({ ports: [80], resolve: async () => ['8.8.8.8'] })
    expect((await failure(elsewhere.postJson('http://shop.example.test/', '{}'))).message).toBe(
      'the address must begin with https://',
    )
  })
})

describe('D03: names', () => {
  test('a name is refused at the connection when its address has changed to a private one', async () => {
    let asked = 0
    const client = clientWith({
      allow: rangesOf(['127.0.0.1']),
      resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']),
    })
    await client.postJson(at('/'), '{}')
    expect((await failure(client.postJson(at('/'), '{}'))).fault).toBe('unreachable')
    expect([asked, sockets]).toEqual([2, 1])
  })

  test('the connection goes to the address that was checked: nothing resolves the name again', async () => {
    let asked = 0
    const client = clientWith({
      resolve: async () => {
        asked++
        return ['127.0.0.1']
      },
    })
    await client.postJson(at('/', 'nobody-knows-this.example.test'), '{}')
    expect([asked, sockets]).toEqual([1, 1])
    expect(received[0]?.headers.host).toBe(`nobody-knows-this.example.test:${port}`)
  })

  test.each([
    [['127.0.0.1', '10.0.0.1']],
    [['10.0.0.1', '127.0.0.1']],
    [['8.8.8.8', '::1']],
    [['8.8.8.8', '169.254.169.254', '1.1.1.1']],
    [['::ffff:10.0.0.1']],
    [['not an address']],
  ])('a name with the addresses %j is refused whole', async (addresses) => {
    const client = clientWith({ resolve: async () => addresses })
    expect((await failure(client.postJson(at('/'), '{}'))).fault).toBe('unreachable')
    expect(sockets).toBe(0)
  })

  test('a name without address, and a name server that does not answer, end in time', async () => {
    expect((await failure(clientWith({ resolve: async () => [] }).postJson(at('/'), '{}'))).fault).toBe(
      'unreachable',
    )
    const failing = clientWith({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect((await failure(failing.postJson(at('/'), '{}'))).message).toBe(
      'hooks.example.test cannot be reached: there is no such name, or no public address answers there',
    )
    const silent = clientWith({ resolve: () => new Promise(() => {}), connectMs: 100 })
    // The places of those that hang are taken: who waits behind them ends in time too.
    const all = await Promise.all(Array.from({ length: 6 }, () => failure(silent.postJson(at('/'), '{}'))))
    expect(all.map(({ fault }) => fault)).toEqual(Array(6).fill('timeout'))
  })
})

test('who asks learns neither by the words nor by the time whether a name is one of our own network', async () => {
  const stepMs = 300
  const lines: { host: string; err: Error }[] = []
  const log = { info: (fields: { host: string; err: Error }) => void lines.push(fields) }
  const kinds: OutgoingClientOptions['resolve'][] = [
    async () => ['10.0.0.1'],
    () => Promise.reject(new Error('ENOTFOUND')),
    async () => [],
    // Nothing listens at the discard port.
    async () => ['127.0.0.1'],
  ]
  const answers = []
  for (const resolve of kinds) {
    const client = clientWith({ resolve, ports: [9], stepMs, log } as OutgoingClientOptions)
    for (const promise of [
      () => client.postJson('https://hooks.example.test:9/', '{}'),
      () => client.fetchDocument('https://hooks.example.test:9/', limits),
    ]) {
      const began = performance.now()
      const { fault, message } = await failure(promise())
      // A timer fires up to two milliseconds before its time, by another clock; without the wait it takes a few.
      expect(performance.now() - began).toBeGreaterThanOrEqual(stepMs * 0.9)
      answers.push({ fault, message })
    }
  }
  expect(answers[0]?.fault).toBe('unreachable')
  for (const answer of answers) expect(answer).toEqual(answers[0])
  // The operator may know.
  const reasons = lines.filter((_line, index) => index % 2 === 0).map(({ err }) => err.message)
  expect(reasons).toEqual([
    expect.stringContaining('10.0.0.1'),
    'ENOTFOUND',
    'the name has no address',
    expect.stringContaining('ECONNREFUSED'),
  ])
  expect(sockets).toBe(0)
})

describe('D04: redirects', () => {
  test('a message follows none', async () => {
    handle = (_request, reply) => reply.writeHead(302, { location: at('/elsewhere') }).end()
    expect(await failure(clientWith().postJson(at('/'), '{}'))).toMatchObject({
      fault: 'status',
      status: 302,
    })
    expect(received).toHaveLength(1)
  })

  test('a document follows three, and no fourth', async () => {
    let hops = 0
    handle = (_request, reply) => {
      if (hops-- > 0) reply.writeHead(302, { location: `/${hops}` }).end()
      else reply.end('found')
    }
    hops = 3
    expect(await clientWith().fetchDocument(at('/'), limits)).toBe('found')
    expect(received).toHaveLength(4)
    hops = 30
    expect((await failure(clientWith().fetchDocument(at('/'), limits))).message).toMatch(/more than 3 times/)
    expect(received).toHaveLength(8)
  })

  test.each([
    ['https://10.0.0.1/', 'refused'],
    ['https://169.254.169.254/latest/meta-data/', 'refused'],
    ['https://[::1]/', 'refused'],
    ['//10.0.0.1/', 'refused'],
    ['https://private.example.test/', 'unreachable'],
    ['file:///etc/passwd', 'refused'],
    ['gopher://127.0.0.1:6379/_x', 'refused'],
    ['https://user:password@hooks.example.test/', 'refused'],
    ['https://hooks.example.test:6379/', 'refused'],
    ['http://shop.example.test/', 'refused'],
    ['https://', 'reply'],
  ])('a document is not followed to %s', async (location, fault) => {
    handle = (_request, reply) => reply.writeHead(302, { location }).end()
    const places: Record<string, string> = {
      'private.example.test': '10.0.0.1',
      'shop.example.test': '8.8.8.8',
    }
    const client = clientWith({
      resolve: async (host) => [places[host] ?? '127.0.0.1'],
      ports: [port, 80, 443],
    })
    expect((await failure(client.fetchDocument(at('/'), limits))).fault).toBe(fault)
    expect(received).toHaveLength(1)
  })

  test('no hop carries a credential, and a cookie that was set is not kept', async () => {
    handle = (request, reply) =>
      request.url === '/'
        ? reply.writeHead(302, { location: at('/next', 'other.example.test'), 'set-cookie': 'a=b' }).end()
        : reply.end('x')
    await clientWith().fetchDocument(at('/'), limits)
    for (const { headers } of received)
      expect(Object.keys(headers).sort()).toEqual(['accept-encoding', 'connection', 'host', 'user-agent'])
    expect(received[1]?.headers.host).toBe(`other.example.test:${port}`)
  })
})

describe('D05: the text of an address', () => {
  test.each([
    'ftp://hooks.example.test/',
    'gopher://hooks.example.test/',
    'file:///etc/passwd',
    'unix:/run/x.sock',
    'javascript:alert(1)',
    'data:text/plain,x',
    'HTTPS:hooks.example.test',
    'https:/hooks.example.test',
    '//hooks.example.test',
    'hooks.example.test',
    '',
    ' ',
    'https://',
    'https:///x',
    'https://hooks.example.test:25/',
    'https://hooks.example.test:6379/',
    'https://hooks.example.test:22/',
    'https://hooks.example.test:0/',
    'https://hooks.example.test:99999/',
    'https://user@hooks.example.test/',
    'https://user:pass@hooks.example.test/',
    'https://@hooks.example.test/',
    'https://:@hooks.example.test/',
    'https://8.8.8.8@10.0.0.1/',
    'https://hooks.example.test\\@10.0.0.1/',
    'https:\\\\hooks.example.test/',
    'https://hooks.example.test/\\x',
    'https://hooks.example.test\t/',
    'https://hooks.exa\nmple.test/',
    'https://hooks.example.test/a\r\nHost: x',
    'https://hooks.example.test/\u0000',
    ' https://hooks.example.test/',
    'https://hooks.example.test/ b',
    'https://höoks.example.test/',
    `https://hooks.example.test/${'a'.repeat(2100)}`,
    'https://[::1',
    'https://a b/',
    'https://exa%00mple.test/',
    'https://./',
  ])('%j is refused before anything is resolved', async (url) => {
    let asked = 0
    const client = clientWith({
      allow: rangesOf([]),
      ports: [443, 8443],
      resolve: async () => {
        asked++
        return ['8.8.8.8']
      },
    })
    const { fault, message } = await failure(client.postJson(url, '{}'))
    expect(fault).toBe('refused')
    expect(message.length).toBeLessThan(120)
    expect(asked).toBe(0)
  })
})

describe('answers that take long or are large', () => {
  test('D06: a document larger than its limit, or compressed, is refused and cut off', async () => {
    handle = (_request, reply) => {
      const pump = (): void => {
        while (!reply.destroyed && reply.write('x'.repeat(64_000)));
        if (!reply.destroyed) reply.once('drain', pump)
      }
      pump()
    }
    expect((await failure(clientWith().fetchDocument(at('/'), limits))).message).toMatch(
      /larger than 10000 bytes/,
    )
    await clientWith().postJson(at('/'), '{}')
    handle = (_request, reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'))
    expect((await failure(clientWith().fetchDocument(at('/'), limits))).fault).toBe('reply')
    handle = (_request, reply) => reply.end(Buffer.from([0x61, 0xff]))
    expect((await failure(clientWith().fetchDocument(at('/'), limits))).message).toMatch(/no text in UTF-8/)
  })

  test('D06: an answer of one byte at a time ends at the limit of time', async () => {
    handle = (_request, reply) => {
      reply.writeHead(200)
      const timer = setInterval(() => (reply.destroyed ? clearInterval(timer) : reply.write('x')), 20)
    }
    const { fault } = await failure(
      clientWith().fetchDocument(at('/'), { limitBytes: 1_000, timeoutMs: 300 }),
    )
    expect(fault).toBe('timeout')
    handle = () => {}
    expect((await failure(clientWith({ postMs: 300 }).postJson(at('/'), '{}'))).fault).toBe('timeout')
  })

  test('a server that accepts and says nothing, or breaks off, or is none for HTTP, is told apart', async () => {
    const mute = createTcpServer((socket) => {
      socket.on('error', () => {})
    })
    const rude = createTcpServer((socket) => socket.destroy())
    const noHttp = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.end('220 mail.example.test ESMTP\r\n')
    })
    others.push(rude, noHttp, { close: () => mute.close() })
    const [mutePort, rudePort, noHttpPort] = [await listen(mute), await listen(rude), await listen(noHttp)]
    const client = clientWith({ ports: [mutePort, rudePort, noHttpPort, 9], connectMs: 200 })
    const post = (where: number, scheme = 'https') =>
      failure(client.postJson(`${scheme}://hooks.example.test:${where}/`, '{}'))
    expect((await post(mutePort)).fault).toBe('timeout')
    expect((await post(rudePort)).fault).toBe('unreachable')
    expect((await post(noHttpPort, 'http')).fault).toBe('reply')
    expect((await post(noHttpPort)).fault).toBe('tls')
    expect((await post(9)).fault).toBe('unreachable')
  })

  test.each([400, 404, 410, 500, 503])(
    'status %i is a failure that repeats nothing of the answer',
    async (status) => {
      handle = (_request, reply) => reply.writeHead(status).end('secret of the inside')
      const error = await failure(clientWith().postJson(at('/services/T0/B0/secret'), '{}'))
      expect(error).toMatchObject({
        fault: 'status',
        status,
        message: `hooks.example.test answered with status ${status}`,
      })
    },
  )
})

describe('D09: certificates', () => {
  const serve = async (cert: string): Promise<number> => {
    const other = createTlsServer({ key: tls.key, cert }, (_request, reply) => reply.end('ok'))
    others.push(other)
    return listen(other)
  }

  test('an expired one, one of an unknown authority, and one for another name are refused', async () => {
    const expired = await serve(tls.expired)
    const { message, fault } = await failure(
      clientWith({ ports: [expired] }).postJson(`https://hooks.example.test:${expired}/`, '{}'),
    )
    expect([fault, message]).toEqual([
      'tls',
      'hooks.example.test has no valid certificate (CERT_HAS_EXPIRED)',
    ])
    const unknown = createOutgoingClient({
      allow: loopback,
      ports: [port],
      resolve: async () => ['127.0.0.1'],
    })
    expect((await failure(unknown.postJson(at('/'), '{}'))).fault).toBe('tls')
    expect((await failure(clientWith().postJson(at('/', 'hooks.other.test'), '{}'))).fault).toBe('tls')
    expect(received).toHaveLength(0)
  })

  test('no setting of the environment turns the check off', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const unknown = createOutgoingClient({
        allow: loopback,
        ports: [port],
        resolve: async () => ['127.0.0.1'],
      })
      expect((await failure(unknown.postJson(at('/'), '{}'))).fault).toBe('tls')
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })
})

test('a message arrives as it was given', async () => {
  await clientWith().postJson(at('/services/T0?x=%2F1#part'), '{"text":"Grüße"}', { 'x-own': '1' })
  expect(received).toEqual([
    {
      method: 'POST',
      url: '/services/T0?x=%2F1',
      body: '{"text":"Grüße"}',
      headers: {
        host: `hooks.example.test:${port}`,
        'accept-encoding': 'identity',
        connection: 'close',
        'content-length': '18',
        'content-type': 'application/json; charset=utf-8',
        'user-agent': expect.stringMatching(/^millrace\/\d/),
        'x-own': '1',
      },
    },
  ])
})
