import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Operation } from '@millrace/contract/operation.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { type Client, createClient, type OperationId } from '@millrace/sdk'
import { createEventSender } from '@millrace/sdk/events'
import { describe, expect, expectTypeOf, it } from 'vitest'

const source = new URL('../../../sdk/src/', import.meta.url).pathname

interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
}

/** A client that sends nothing, and what it would have sent. */
function recordingClient(): { client: Record<string, unknown>; sent: Sent[] } {
  const sent: Sent[] = []
  const client = createClient({
    baseUrl: 'https://millrace.example/v2/',
    collectorUrl: 'https://collector.example',
    accessToken: 'the-token',
    maxRetries: 0,
    fetch: async (url, init = {}) => {
      sent.push({ url: String(url), method: init.method ?? 'GET', headers: new Headers(init.headers) })
      return new Response(null, { status: 500 })
    },
  })
  return { client: client as unknown as Record<string, unknown>, sent }
}

type Method = ((request?: object, options?: object) => Promise<unknown>) & Record<string, unknown>

describe('the client', () => {
  it('has a method for every operation of the contract', () => {
    const { client } = recordingClient()
    const ids = allOperations.map(({ id }) => id)
    for (const id of ids) expect(client[id], id).toBeTypeOf('function')
    expect(Object.keys(client).filter((name) => !ids.includes(name))).toEqual([
      'query',
      'streamRows',
      'signOut',
    ])
    expectTypeOf<OperationId>().toExtend<keyof Client>()
    expectTypeOf<'listWorkflows' | 'collectEvents' | 'runWorkflow'>().toExtend<OperationId>()
    expectTypeOf<'listWorkflow'>().not.toExtend<OperationId>()
  })

  it('calls fetch without a receiver, which browsers insist on', async () => {
    let receiver: unknown = 'not called'
    const client = createClient({
      baseUrl: 'https://millrace.example',
      accessToken: 'the-token',
      maxRetries: 0,
      async fetch(this: unknown) {
        receiver = this
        return new Response(null, { status: 500 })
      },
    })
    await expect(client.readProfile()).rejects.toThrow('is no answer of the service')
    expect(receiver).toBeUndefined()
  })

  it.each(allOperations.map((operation) => [operation.id, operation] as const))(
    'sends %s to its address',
    async (id, { method, url, scope }: Operation) => {
      const { client, sent } = recordingClient()
      const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
      const params = Object.fromEntries(names.map((name) => [name, `a ${name}/?`]))
      await expect((client[id] as Method)({ params })).rejects.toThrow('is no answer of the service')
      const path = url.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(`a ${name}/?`))
      const base = scope === 'collector' ? 'https://collector.example' : 'https://millrace.example'
      expect(sent).toMatchObject([{ method, url: base + path }])
      expect(sent[0]?.headers.get('authorization')).toBe(
        scope === 'authenticated' ? 'Bearer the-token' : null,
      )
    },
  )

  it('has the forms of a method that its operation has', () => {
    const { client } = recordingClient()
    const formsOf = (id: string) => Object.keys(client[id] as Method)
    expect(formsOf('readWorkflow')).toEqual(['reply', 'raw'])
    expect(formsOf('listWorkflows')).toEqual(['reply', 'raw', 'all'])
    expect(formsOf('runQuery')).toEqual(['reply', 'raw', 'rows', 'csv'])
    expect(formsOf('exploreFunnel')).toEqual(['reply', 'raw', 'rows', 'csv'])
    expect(formsOf('listAuditEntries')).toEqual(['reply', 'raw', 'all', 'csv'])
    const typed = client as unknown as Client
    expectTypeOf(typed.listWorkflows).toHaveProperty('all')
    expectTypeOf(typed.readWorkflow).not.toHaveProperty('all')
    expectTypeOf(typed.exploreFunnel).toHaveProperty('rows')
    expectTypeOf(typed.listAuditEntries).not.toHaveProperty('rows')
  })

  it('writes lists of a query as one parameter for each value, and leaves out what is undefined', async () => {
    const { client, sent } = recordingClient()
    const query = { hierarchy: ['Shop', 'A&B'], name: undefined, page: 2, includeHidden: false }
    await expect((client.listWorkflows as Method)({ query })).rejects.toThrow()
    expect(sent[0]?.url).toBe(
      'https://millrace.example/v2/workflows?hierarchy=Shop&hierarchy=A%26B&page=2&includeHidden=false',
    )
  })

  it.each(['', '.', '..', undefined, null, {}])('refuses %j as a parameter of a path', async (id) => {
    const { client, sent } = recordingClient()
    await expect((client.deleteWorkflow as Method)({ params: { id } })).rejects.toThrow(
      'deleteWorkflow needs params.id',
    )
    expect(sent).toEqual([])
  })

  it.each([
    'millrace.example',
    'ftp://millrace.example',
    'https://millrace.example/?a=1',
    'https://ada:secret@millrace.example',
    'https://ada:secret@millrace.example/?a=1',
    '',
  ])('refuses %j as the address of a service', (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(/^baseUrl must (?!.*secret)/)
  })

  it('refuses the address that a start prints for the collector, and names the one to give', () => {
    const collectorUrl = `https://millrace.example/below/collect/${'a'.repeat(24)}/tracker`
    expect(() => createClient({ baseUrl: collectorUrl })).toThrow('as https://millrace.example/below:')
    const ids = { companyId: 'b'.repeat(24), datasourceId: 'a'.repeat(24) }
    expect(() => createEventSender({ ...ids, collectorUrl })).toThrow('as https://millrace.example/below:')
  })

  it('keeps a path that the service is mounted under', async () => {
    const urls: string[] = []
    const client = createClient({
      baseUrl: 'https://example.com/millrace/v2',
      accessToken: 'a',
      fetch: async (url) => {
        urls.push(String(url))
        return Response.json({ status: 'success', data: {} })
      },
    })
    await client.readProfile()
    expect(urls).toEqual(['https://example.com/millrace/v2/entities/users/me'])
  })
})

describe('the source of the client', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )

  it.each(files)('imports only itself and the contract: %s', (file) => {
    const text = readFileSync(join(source, file), 'utf8')
    const imports = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
      ([, name]) => name,
    )
    for (const name of imports) expect(name).toMatch(/^(\.{1,2}\/|@millrace\/contract\/)/)
    expect(text).not.toMatch(/\b(process|Buffer|require|__dirname)\b[.(]/)
  })

  it('is found', () => {
    expect(files).toContain('client.ts')
  })
})
