import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { permissionNames } from '@millrace/contract/permissions.ts'
import type { Datasource } from '@millrace/contract/resources/datasource.ts'
import type { DatasourceImport } from '@millrace/contract/resources/datasource-import.ts'
import type { WorkerField } from '@millrace/contract/resources/datasource-version.ts'
import type { FastifyInstance } from 'fastify'
import { insertCompany } from '../../src/features/identity/people/installation/operator-account-service.ts'
import { createPrincipal } from '../../src/features/identity/sessions/principal.ts'
import { newId } from '../../src/platform/ids.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import {
  createOutgoingClient,
  type OutgoingClientOptions,
} from '../../src/platform/outgoing/outgoing-client.ts'
import { rangesOf } from '../../src/platform/outgoing/public-addresses.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { callerToken, openTestService, type TestService, type TestServiceOptions } from './service.ts'

export interface Reply<T> {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly data: T
  readonly error_code?: number
  readonly paginationCount?: number
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Worker datasources on a service of their own, with a web server that stands for the addresses of sources. */
export interface WorkerDatasources {
  readonly database: TestDatabase
  readonly app: FastifyInstance
  readonly context: TestService['context']
  readonly companyId: string
  readonly teamId: string
  /** Whose requests are made; tests change it. */
  readonly caller: { companyId: string; userId: string; teamIds: string[] }
  call<T = Record<string, unknown>>(method: Method, path: string, body?: object): Promise<Reply<T>>
  /** Failures of the service's own, as its log has them. */
  readonly errors: unknown[]
  /** A datasource of mode `worker`. */
  create(fields?: object): Promise<Datasource>
  upload(id: string, content: string | Buffer, fileName?: string): Promise<Reply<Datasource>>
  /** Runs what is queued. @returns how many imports ran */
  work(): Promise<number>
  imports(id: string): Promise<DatasourceImport[]>
  /** Uploaded, with these fields, and live. */
  live(content: string, fields: readonly Partial<WorkerField>[], settings?: object): Promise<Datasource>
  /** Rows of the live version in order. */
  rows(id: string, query?: object): Promise<Record<string, unknown>[]>
  /** Address on the web server. */
  url(path: string): string
  /** Answers requests to the web server. */
  web: (request: IncomingMessage, response: ServerResponse) => void
  close(): Promise<void>
}

/** A field that takes a column of the same name. */
export function fieldOf(field: Partial<WorkerField> & { readonly name?: string }): WorkerField {
  const { name = 'value' } = field
  return {
    name,
    type: 'string',
    primitive: 'string',
    selected: true,
    ignoreIfMissing: true,
    rulesPerSources: { '0': [{ name: 'path', params: { value: name } }] },
    ...field,
  }
}

export async function openWorkerDatasources(
  options: Omit<TestServiceOptions, 'outgoing'> & { readonly outgoing?: OutgoingClientOptions } = {},
): Promise<WorkerDatasources> {
  const database = await createTestDatabase()
  const { companyId, teamId } = await database.transaction((tx) => insertCompany(tx, 'Acme'))
  const userId = newId()
  await database.pool.query(
    `insert into users (id, company_id, email, status, role_id)
     select $1, $2, 'ada@example.com', 'active', id from roles where company_id = $2 and name = 'admin'`,
    [userId, companyId],
  )
  const server = createServer((request, response) => world.web(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const caller = { companyId, userId, teamIds: [teamId] }
  const { outgoing, ...rest } = options
  const errors: unknown[] = []
  const logger = Object.assign(Object.create(silentLogger) as Logger, {
    error: (fields: { err?: unknown }) => void errors.push(fields.err ?? fields),
  })
  const { app, context } = await openTestService(database, {
    logger,
    ...rest,
    outgoing: createOutgoingClient({
      allow: rangesOf(['127.0.0.0/8']),
      resolve: async () => ['127.0.0.1'],
      ports: [port],
      stepMs: 1,
      log: silentLogger,
      ...outgoing,
    }),
    findPrincipal: async () =>
      createPrincipal({
        ...caller,
        email: 'ada@example.com',
        roleId: '65f0c0ffee5ca1ab1e0ddba4',
        clientId: '65f0c0ffee5ca1ab1e0ddba5',
        permissions: permissionNames,
      } as never),
  })

  async function call<T>(method: Method, path: string, body?: object): Promise<Reply<T>> {
    const reply = await app.inject({
      method,
      url: `/v2/datasources${path}`,
      headers: callerToken,
      ...(body && { payload: body }),
    })
    return { ...reply.json(), status: reply.statusCode }
  }

  const world: WorkerDatasources = {
    ...{ database, app, context, companyId, teamId, caller, call, errors },
    async create(fields = {}) {
      const reply = await call<Datasource>('POST', '', { name: 'Products', mode: 'worker', ...fields })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply))
      return reply.data
    },
    async upload(id, content, fileName) {
      const reply = await app.inject({
        method: 'PUT',
        url: `/v2/datasources/${id}/content${fileName === undefined ? '' : `?fileName=${fileName}`}`,
        headers: { ...callerToken, 'content-type': 'application/octet-stream' },
        payload: Buffer.from(content),
      })
      return { ...reply.json(), status: reply.statusCode }
    },
    async work() {
      let count = 0
      while (await context.services.datasourceImports.worker.runOne()) count++
      return count
    },
    async imports(id) {
      return (await call<DatasourceImport[]>('GET', `/${id}/imports?perPage=100`)).data
    },
    async live(content, fields, settings = {}) {
      const { id } = await world.create({ source: { type: 'file' }, ...settings })
      const uploaded = await world.upload(id, content)
      if (uploaded.status !== 200) throw new Error(JSON.stringify(uploaded))
      const chosen = await call('PATCH', `/${id}/fields`, { fields: fields.map(fieldOf) })
      if (chosen.status !== 200) throw new Error(JSON.stringify(chosen))
      const published = await call('POST', `/${id}/versions/live`)
      if (published.status !== 200) throw new Error(JSON.stringify(published))
      await world.work()
      const [last] = await world.imports(id)
      if (last?.state !== 'done') throw new Error(JSON.stringify(last), { cause: errors.at(-1) })
      return (await call<Datasource>('GET', `/${id}`)).data
    },
    async rows(id, query = {}) {
      const rows: Record<string, unknown>[] = []
      for (let page = 1; ; page++) {
        const reply = await call<Record<string, unknown>[]>('POST', `/query?perPage=100&page=${page}`, {
          datasourceId: id,
          query,
        })
        if (reply.status !== 200) throw new Error(JSON.stringify(reply))
        rows.push(...reply.data)
        if (reply.data.length < 100) return rows
      }
    },
    url: (path) => `http://feeds.example.test:${port}${path}`,
    web: (_, response) => void response.writeHead(404).end(),
    async close() {
      await app.close()
      await database.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return world
}
