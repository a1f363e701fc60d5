import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { createOutgoingClient } from '../../src/platform/outgoing/outgoing-client.ts'
import { OutgoingError } from '../../src/platform/outgoing/outgoing-error.ts'
import { rangesOf } from '../../src/platform/outgoing/public-addresses.ts'
import { callerToken } from '../support/service.ts'
import { tls } from '../support/tls.ts'
import { fieldOf, openWorkerDatasources, type WorkerDatasources } from '../support/worker-datasources.ts'

/** Bad inputs of datasources: docs/faults.md, D01 to D09. */

let world: WorkerDatasources
/** What a name leads to; tests change it. */
let resolved: readonly string[] = ['127.0.0.1']

beforeAll(async () => {
  world = await openWorkerDatasources({ outgoing: { resolve: async () => resolved } })
})

afterEach(() => {
  resolved = ['127.0.0.1']
  world.web = (_, response) => void response.writeHead(404).end()
})

afterAll(() => world.close())

const analyze = (id: string) =>
  world.call<{ fields?: { name: string }[]; url?: string; err?: string }>('POST', `/worker/${id}/analyzer`)
const ofAddress = async (url = world.url('/feed.csv'), further: object = {}) =>
  (await world.create({ source: { type: 'url', url, ...further } })).id
const ofContent = async (content: string | Buffer, options: object = {}, fileName?: string) => {
  const { id } = await world.create({ source: { type: 'file', ...options } })
  const reply = await world.upload(id, content, fileName)
  if (reply.status !== 200) throw new Error(reply.message)
  return id
}

describe('D01: the analyser', () => {
  test('answers 404 for none, 404 for one of another company, and 400 for what is no identifier', async () => {
    const id = await ofContent('a,b\n1,2\n')
    expect((await analyze(newId())).error_code).toBe(1000)
    const { companyId } = world.caller
    Object.assign(world.caller, { companyId: newId() })
    const foreign = await analyze(id)
    Object.assign(world.caller, { companyId })
    expect([foreign.status, foreign.error_code]).toEqual([404, 1000])
    expect((await analyze('nothing')).status).toBe(400)
  })

  test('ignores a body, whatever it is', async () => {
    const id = await ofContent('a,b\n1,2\n')
    for (const [type, payload] of [
      ['application/json', '{"x":'],
      ['application/json', '{}'],
      ['application/octet-stream', 'x'.repeat(2_000_000)],
      ['what/ever', 'y'],
    ] as const) {
      const reply = await world.app.inject({
        method: 'POST',
        url: `/v2/datasources/worker/${id}/analyzer`,
        headers: { ...callerToken, 'content-type': type },
        payload,
      })
      expect([reply.statusCode, reply.json().data.fields.length]).toEqual([200, 2])
    }
  })

  test('says what a datasource without source, or without content, lacks', async () => {
    const { id } = await world.create()
    expect(await analyze(id)).toMatchObject({
      error_code: 1010,
      message: expect.stringContaining(`PATCH /v2/datasources/${id}`),
    })
    const { id: empty } = await world.create({ source: { type: 'file' } })
    expect(await analyze(empty)).toMatchObject({
      error_code: 1010,
      message: expect.stringContaining(`PUT /v2/datasources/${empty}/content`),
    })
  })
})

describe('D02, D05: addresses that are refused as they are given', () => {
  const strict = createOutgoingClient()
  test.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://0/',
    'https://127.1/',
    'https://0177.0.0.1/',
    'https://2130706433/',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://100.64.0.1/',
    'http://shop.example/feed.csv',
    'ftp://shop.example/feed.csv',
    'gopher://shop.example/',
    'file:///etc/passwd',
    'unix:/run/x',
    'https://shop.example:25/',
    'https://shop.example:6379/',
    'https://user:password@shop.example/',
    'https://shop.example\\@evil.example/',
    'https://shop.example/a\tb',
    'https://shop.example/a\nb',
  ])('%j', (url) => {
    expect(() => strict.validate(url)).toThrow(OutgoingError)
  })

  test('the failure names the address, and no connection is made', async () => {
    let connections = 0
    world.web = (_, response) => {
      connections++
      response.end()
    }
    const reply = await world.call('POST', '', {
      name: 'Feed',
      mode: 'worker',
      source: { type: 'url', url: 'https://10.0.0.1/' },
    })
    expect([reply.status, reply.error_code]).toEqual([400, 1034])
    expect((reply.data as { errors: { path: string }[] }).errors[0]?.path).toBe('source.url')
    expect(connections).toBe(0)
  })
})

describe('D03: names that lead to addresses that are not public', () => {
  test.each([[['10.0.0.1']], [['93.184.216.34', '10.0.0.1']], [['::ffff:10.0.0.1']], [['169.254.169.254']]])(
    '%j is refused at the connection',
    async (addresses) => {
      const id = await ofAddress()
      resolved = addresses
      const reply = await analyze(id)
      expect([reply.status, reply.error_code]).toEqual([400, 1011])
      expect(JSON.stringify(reply)).not.toContain(addresses.at(-1))
    },
  )
})

describe('D04: redirects', () => {
  const redirect = (location: string) => {
    world.web = (_, response) => void response.writeHead(302, { location }).end()
  }

  test.each(['http://10.0.0.1/', 'file:///etc/passwd', 'http://169.254.169.254/'])(
    'to %s is refused',
    async (location) => {
      const id = await ofAddress()
      redirect(location)
      expect((await analyze(id)).error_code).toBe(1011)
    },
  )

  test('more than three are refused', async () => {
    const id = await ofAddress()
    let hops = 0
    world.web = (_, response) => void response.writeHead(302, { location: `/${++hops}` }).end()
    expect((await analyze(id)).data.err).toMatch(/redirects more than 3 times/)
    expect(hops).toBe(4)
  })

  test('credentials go to the host of the address alone', async () => {
    const seen: (string | undefined)[] = []
    world.web = (incoming, response) => {
      seen.push(incoming.headers.authorization)
      const to = { '/feed.csv': '/same', '/same': world.url('/other').replace('feeds.', 'cdn.') }[
        incoming.url ?? ''
      ]
      if (to) response.writeHead(302, { location: to }).end()
      else response.end('a,b\n1,2\n')
    }
    const id = await ofAddress(undefined, { headers: { authorization: 'Bearer feed' } })
    expect((await analyze(id)).status).toBe(200)
    expect(seen).toEqual(['Bearer feed', 'Bearer feed', undefined])
  })
})

describe('D06: answers that take long or are large', () => {
  const limits = { limitBytes: 1_000_000, idleMs: 400, timeoutMs: 1_500, beyondLimit: 'fail' } as const
  const client = () =>
    createOutgoingClient({
      allow: rangesOf(['127.0.0.0/8']),
      resolve: async () => ['127.0.0.1'],
      ports: [Number(new URL(world.url('/')).port)],
      stepMs: 1,
    })
  const download = async (options: object = {}) => {
    let bytes = 0
    const onPiece = async (piece: Buffer) => {
      bytes += piece.length
    }
    const error = await client()
      .download(world.url('/'), { ...limits, onPiece, ...options })
      .then(
        () => undefined,
        (failure: unknown) => failure as OutgoingError,
      )
    return { bytes, fault: error?.fault, message: error?.message }
  }

  test('silence ends the download', async () => {
    world.web = (_, response) => void response.writeHead(200).write('a')
    const fault = await download({ timeoutMs: 600_000 })
    expect(fault).toMatchObject({ fault: 'timeout', message: expect.stringContaining('0.4 s') })
  })

  test('one byte at a time ends at the limit of all of it', async () => {
    world.web = (_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('a'), 50)
      response.once('close', () => clearInterval(timer))
    }
    const fault = await download({ idleMs: 600_000 })
    expect(fault).toMatchObject({ fault: 'timeout', message: expect.stringContaining('1.5 s') })
  })

  test('more bytes than may be are refused, or left out of a sample', async () => {
    world.web = (_, response) => void response.end(Buffer.alloc(3_000_000, 'a'))
    expect(await download()).toMatchObject({ fault: 'reply' })
    const { fault, bytes } = await download({ beyondLimit: 'cut' })
    expect([fault, bytes <= 1_000_000, bytes > 800_000]).toEqual([undefined, true, true])
  })

  test('one layer of gzip stays packed, any other coding is refused', async () => {
    const packed = gzipSync(Buffer.alloc(100_000, 'a'))
    const answer = (coding: string) => {
      world.web = (_, response) => void response.writeHead(200, { 'content-encoding': coding }).end(packed)
    }
    answer('gzip')
    expect(await download()).toMatchObject({ fault: undefined, bytes: packed.length })
    for (const coding of ['br', 'gzip, gzip', Array.from({ length: 200 }, () => 'gzip').join(', ')]) {
      answer(coding)
      expect((await download()).fault).toBe('reply')
    }
  })

  test('a bomb of gzip fails the import, in bounded memory', async () => {
    const { id } = await world.live('a,b\n1,2\n', [{ name: 'a' }, { name: 'b' }])
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'))
    await world.upload(id, bomb, 'bomb.csv.gz')
    await world.work()
    const [failed] = await world.imports(id)
    expect(failed).toMatchObject({ state: 'failed', fault: { reason: 'content-unreadable' } })
    expect(await world.rows(id)).toEqual([{ a: '1', b: '2' }])
  })

  test('a line without end and a row of too many columns fail with what would be right', async () => {
    const wide = Array.from({ length: 3_000 }, (_, i) => `c${i}`).join(',')
    for (const content of [`a,b\n${'x'.repeat(3_000_000)}`, `${wide}\n`]) {
      const reply = await analyze(await ofContent(content, { format: 'csv' }))
      expect([reply.status, reply.error_code]).toEqual([400, 1012])
      expect(reply.data.err).toMatch(/longer than 1 MB|at most 2000/)
      expect(reply.message).toBe(`Failed to get sample: ${reply.data.err}`)
    }
  })

  test('an upload that breaks off leaves no file, and is cancelled instead of a failure of the service', async () => {
    const lines: { level: number; msg: string }[] = []
    const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
    const small = await openWorkerDatasources({ logger })
    try {
      const { id } = await small.create({ source: { type: 'file' } })
      const address = await small.app.listen({ port: 0, host: '127.0.0.1' })
      const sent = request(`${address}/v2/datasources/${id}/content`, {
        method: 'PUT',
        headers: { ...callerToken, 'content-type': 'text/csv', 'content-length': 1_000_000 },
      })
      sent.on('error', () => {})
      sent.write('a,b\n1,2\n')
      const files = () => readdirSync(small.context.config.contentDirectory)
      await expect.poll(files).toHaveLength(1)
      sent.destroy()
      const messages = () => lines.map(({ msg }) => msg)
      await expect.poll(messages).toContain('request cancelled: the client has left')
      expect(files()).toEqual([])
      expect(lines.filter(({ level }) => level >= 40)).toEqual([])
      expect((await small.call('GET', `/${id}`)).data).not.toHaveProperty('source.content')
    } finally {
      await small.close()
    }
  })
})

describe('D07: content that is not what it says', () => {
  test.each([
    [
      'an entity',
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x><i><a>&e;</a></i></x>',
      'a.xml',
    ],
    [
      'billion laughs',
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x><i><a>&b;</a></i></x>',
      'a.xml',
    ],
    ['JSON that ends early', '[{"a":1},{"a":', 'a.json'],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'a.png'],
  ])('%s is refused with a reason', async (_, content, fileName) => {
    const reply = await analyze(await ofContent(content, {}, fileName))
    if (reply.status === 200) {
      // What stands before the fault may be enough for a proposal; no import takes the rest.
      expect(fileName).toBe('a.json')
      return
    }
    expect([reply.status, reply.error_code]).toEqual([400, 1012])
    expect(reply.data.err).toEqual(expect.any(String))
    expect(JSON.stringify(reply)).not.toContain('root:')
  })

  test('names of columns become names of fields', async () => {
    const { data } = await analyze(await ofContent('__proto__,=cmd|x,Prix €,A B\n1,2,3,4\n'))
    const names = data.fields?.map(({ name }) => name) ?? []
    expect(names).toHaveLength(4)
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9_-]*$/)
  })

  test('UTF-16 is read as it is', async () => {
    const content = Buffer.from('\ufeffsku;name\nA;Été\n', 'utf16le')
    const { data } = await analyze(await ofContent(content))
    expect(data.fields?.map(({ name }) => name)).toEqual(['sku', 'name'])
  })
})

describe('D08: many analyses at once', () => {
  test('wait for their turn, and each is answered', async () => {
    const id = await ofContent('a,b\n1,2\n')
    const replies = await Promise.all(Array.from({ length: 20 }, () => analyze(id)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const { config } = world.context
    const downloads = join(dirname(config.contentDirectory), 'run', 'downloads')
    expect(readdirSync(downloads)).toEqual([])
  })
})

describe('D09: certificates', () => {
  let server: Server
  beforeAll(async () => {
    server = createServer({ key: tls.key, cert: tls.certificate }, (_, response) =>
      response.end('a,b\n1,2\n'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void server.close())

  test('one that no authority has issued is refused, whatever the environment says', async () => {
    const { port } = server.address() as AddressInfo
    const options = {
      allow: rangesOf(['127.0.0.0/8']),
      resolve: async () => ['127.0.0.1'],
      ports: [port],
      stepMs: 1,
    }
    const limits = { limitBytes: 1_000, idleMs: 5_000, timeoutMs: 5_000, beyondLimit: 'fail' } as const
    const text: string[] = []
    const get = (authorities?: string) =>
      createOutgoingClient({ ...options, ...(authorities && { authorities }) }).download(
        `https://hooks.example.test:${port}/`,
        { ...limits, onPiece: async (piece) => void text.push(piece.toString()) },
      )
    await expect(get()).rejects.toMatchObject({ fault: 'tls' })
    expect(text).toEqual([])
    await get(tls.authority)
    expect(text.join('')).toBe('a,b\n1,2\n')
  })

  test('nothing in the service turns verification off', () => {
    const source = readFileSync(
      new URL('../../src/platform/outgoing/outgoing-request.ts', import.meta.url),
      'utf8',
    )
    expect(source).toContain('rejectUnauthorized: true')
    expect(source).not.toContain('rejectUnauthorized: false')
  })
})

test('rows of an import that are refused are in the log, masked', async () => {
  const { id } = await world.live('sku,price\nA,1\n', [
    fieldOf({ name: 'sku', isKey: true }),
    fieldOf({ name: 'price', type: 'number', primitive: 'number' }),
  ])
  await world.upload(id, 'sku,price\nB,secret-word\nC,2\nD,3\n')
  await world.work()
  const { data } = await world.call<{ kind: string; rule: string; path: string; sample: string }[]>(
    'GET',
    `/${id}/logs?rule=invalid_type`,
  )
  expect(data).toEqual([
    expect.objectContaining({ kind: 'changed', path: 'price', sample: expect.any(String) }),
  ])
  expect(JSON.stringify(data)).not.toContain('secret-word')
})
