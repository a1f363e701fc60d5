import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { Operation } from '@millrace/contract/operation.ts'
import { parse as parseQuery } from 'fast-querystring'
import type { FastifyInstance } from 'fastify'
import { DomainError } from '../errors.ts'
import { newId } from '../ids.ts'
import { answerFailure, unexpectedError } from './failures.ts'
import { faultOfFraming } from './request-framing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Routes that are answered before the framework sees the request. */
    front: Front
  }
}

/** A request that is answered on Node's own objects. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What the pattern of the address leaves open; empty where it leaves nothing. */
  readonly part: string
  readonly query: () => Readonly<Record<string, unknown>>
  /** Of the client, behind trusted proxies; empty once it has left. */
  readonly address: string
  /** Whether the connection ends with an answer that is written now. */
  readonly isLast: () => boolean
}

export interface ExchangeRoute {
  /** Answers by itself, or rejects. */
  readonly answer: (exchange: Exchange) => Promise<void>
  /** Of the answer to a failure, beside those that all failures have. */
  readonly failureHeaders?: (error: DomainError, request: IncomingMessage) => Record<string, string>
}

type Place = Pick<Operation, 'method' | 'url'>

/** One segment without signs that need decoding; whatever else the pattern takes goes through the framework. */
const plainPart = /^[\w-]{1,100}$/

const noQuery = () => ({})

/**
 * Routes what is asked so often that routing, hooks and replies of the framework would be most of its cost. A request
 * is answered the same whether it comes through the framework, as it does with an address that needs decoding, or in
 * front of it.
 */
export function exchangeRoute(app: FastifyInstance, place: Place, route: ExchangeRoute): void {
  const answer = async (exchange: Exchange): Promise<void> => {
    try {
      await route.answer(exchange)
    } catch (error) {
      const { request } = exchange
      const failure =
        error instanceof DomainError
          ? error
          : unexpectedError(error, { raw: request, id: newId(), log: app.log })
      if (exchange.response.headersSent) exchange.response.destroy()
      else answerFailure(exchange, failure, route.failureHeaders?.(failure, request))
    }
  }
  app.route({
    ...place,
    // Nothing of the body is read before, whatever its type says of it.
    onRequest(request, reply) {
      reply.hijack()
      const { raw, ip = '' } = request
      const [part = ''] = Object.values(request.params as Record<string, string>)
      const query = () => request.query as Record<string, unknown>
      void answer({ request: raw, response: reply.raw, part, query, address: ip, isLast: app.isClosing })
    },
    handler: () => Promise.reject(new Error('answered before')),
  })
  app.front.add(place, answer)
}

interface FrontRoute {
  readonly method: string
  /** Of the address, before and behind what the pattern leaves open. */
  readonly before: string
  readonly after: string
  readonly answer: (exchange: Exchange) => Promise<void>
}

export interface FrontOptions {
  readonly trustedProxies: readonly string[]
  /** Sees each request. */
  readonly watch: (request: IncomingMessage) => void
}

type Front = ReturnType<typeof standInFront>

/** Takes the place of the framework as the listener of the server, and hands it what none of the routes takes. */
export function standInFront(app: FastifyInstance, { trustedProxies, watch }: FrontOptions) {
  const [framework] = app.server.listeners('request') as [RequestListener]
  const whole = new Map<string, FrontRoute>()
  const open: FrontRoute[] = []
  const addressOf = addressReader(trustedProxies)

  function take(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request
    const queryAt = url.indexOf('?')
    const path = queryAt === -1 ? url : url.slice(0, queryAt)
    let part = ''
    let route = whole.get(path)
    for (let i = 0; route === undefined && i < open.length; i++) {
      const { before, after } = open[i] as FrontRoute
      if (!path.startsWith(before) || !path.endsWith(after)) continue
      part = path.slice(before.length, path.length - after.length)
      if (plainPart.test(part)) route = open[i]
    }
    if (route === undefined) return false
    if (route.method !== method && !(route.method === 'GET' && method === 'HEAD')) return false
    watch(request)
    const query = queryAt === -1 ? noQuery : () => parseQuery(url.slice(queryAt + 1))
    const address = addressOf(request) ?? ''
    const exchange = { request, response, part, query, address, isLast: app.isClosing }
    const fault = faultOfFraming(request)
    if (fault) answerFailure(exchange, fault, { connection: 'close' })
    else void route.answer(exchange)
    return true
  }

  app.server.off('request', framework)
  app.server.on('request', (request, response) => {
    if (!take(request, response)) framework.call(app.server, request, response)
  })
  const front = {
    add({ method, url }: Place, answer: FrontRoute['answer']): void {
      const [before = '', name] = url.split(/:(\w+)/)
      const after = name === undefined ? '' : url.slice(before.length + name.length + 1)
      const route = { method, before, after, answer }
      if (name === undefined) whole.set(url, route)
      else open.push(route)
    },
  }
  app.decorate('front', front)
  return front
}

/** As the framework finds it for the routes behind. */
function addressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string | undefined {
  if (trustedProxies.length === 0) return (request) => request.socket.remoteAddress
  const isTrusted = proxyAddr.compile([...trustedProxies])
  return (request) => proxyAddr.all(request, isTrusted).at(-1)
}
