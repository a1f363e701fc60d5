import { createHash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  type ZlibOptions,
} from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesEntityTag } from './entity-tag.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether answers may be compressed; by default those of operations that need a token and hold no secret. */
    compressed?: boolean
  }
}

type Coding = 'br' | 'gzip'

/** The better one first. */
const codings: readonly Coding[] = ['br', 'gzip']

/** Shorter answers fit into a packet or two as they are. */
const minBytes = 1_024

/**
 * Texts, among them lines of JSON. What is compressed already, as pictures and archives, is none of them, nor are
 * server-sent events: each is small, and must not wait for a proxy that holds what is compressed.
 */
const compressible =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml|x-ndjson|javascript)\b|image\/svg\+xml)/i

/** The coding of those that are there which a client likes best (RFC 9110 12.5.3); undefined for none. */
export function codingFor(
  acceptEncoding: string | undefined,
  there: readonly Coding[] = codings,
): Coding | undefined {
  const weights = new Map<string, number>()
  for (const each of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0)
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const [best] = [...there].sort((a, b) => weightOf(b) - weightOf(a))
  const isWanted = best && weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0)
  return isWanted ? best : undefined
}

const brotli = (quality: number, more: BrotliOptions = {}): BrotliOptions => ({
  ...more,
  params: { [constants.BROTLI_PARAM_QUALITY]: quality },
})

const whole: Readonly<Record<Coding, (body: Buffer, isKept: boolean) => Promise<Buffer>>> = {
  // What is kept is worth more work, and the best of all takes seconds for a long text.
  br: (body, isKept) =>
    promisify(brotliCompress)(body, brotli(isKept ? (body.length > 500_000 ? 9 : 11) : 4)),
  gzip: (body, isKept) =>
    promisify<Buffer, ZlibOptions, Buffer>(gzip)(body, {
      level: isKept ? 9 : constants.Z_DEFAULT_COMPRESSION,
    }),
}

/** Each piece comes out when it is written, so that rows of a slow stream arrive when they are there. */
const flushing = {
  br: () => createBrotliCompress(brotli(4, { flush: constants.BROTLI_OPERATION_FLUSH })),
  gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH }),
} as const

/** Names a header of the request on which the answer depends, once. */
export function varyBy(reply: FastifyReply, name: string): void {
  const known = String(reply.getHeader('vary') ?? '')
  if (
    known
      .toLowerCase()
      .split(/\s*,\s*/)
      .includes(name.toLowerCase())
  )
    return
  reply.header('vary', known === '' ? name : `${known}, ${name}`)
}

/** A text that is sent again and again: compressed once for each coding, when it is first asked for. */
export type KeptBody = ReturnType<typeof keptBody>

export function weakTagOf(text: string | Buffer): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

export function keptBody(text: string) {
  const identity = Buffer.from(text)
  const compressed = new Map<Coding, Promise<Buffer>>()
  return {
    identity,
    /** Weak, because the bodies of one text differ by their coding. */
    etag: weakTagOf(identity),
    compress(coding: Coding): Promise<Buffer> {
      const known = compressed.get(coding) ?? whole[coding](identity, true)
      compressed.set(coding, known)
      return known
    },
  }
}

/** Sends it in the client's coding, or 304. */
export async function sendKept(
  request: FastifyRequest,
  reply: FastifyReply,
  body: KeptBody,
): Promise<FastifyReply> {
  varyBy(reply, 'Accept-Encoding')
  reply.header('etag', body.etag)
  if (matchesEntityTag(request.headers['if-none-match'], body.etag)) return reply.code(304).send()
  const coding = body.identity.length < minBytes ? undefined : codingFor(request.headers['accept-encoding'])
  if (coding === undefined) return reply.send(body.identity)
  const bytes = await body.compress(coding)
  return reply.header('content-encoding', coding).send(bytes)
}

const isStream = (payload: unknown): payload is Readable =>
  typeof (payload as Readable | null)?.pipe === 'function'

/**
 * Compresses answers of routes that are declared so: in the contract every operation with a bearer token but those with
 * `holdsSecret`, elsewhere by `config.compressed`. A secret is never compressed beside what a sender chose: the length
 * of the answer would tell of it (BREACH). That is why pages with CSRF tokens and answers with tokens are left out.
 */
export function compressReplies(app: FastifyInstance): void {
  /** Replies whose coding is named here; the failure that takes the place of one is another body. */
  const coded = new WeakSet<FastifyReply>()

  app.addHook('onRoute', (route) => {
    const { scope, holdsSecret } = route as { scope?: string; holdsSecret?: true }
    if (scope === 'authenticated' && !holdsSecret)
      route.config = { compressed: true, ...(route.config as object | undefined) }
  })

  app.addHook('onSend', async (request, reply, payload) => {
    if (coded.delete(reply)) reply.removeHeader('content-encoding')
    const { statusCode } = reply
    if (!request.routeOptions.config.compressed || statusCode === 204 || statusCode === 206) return payload
    if (!compressible.test(String(reply.getHeader('content-type') ?? ''))) return payload
    if (reply.hasHeader('content-encoding')) return payload
    varyBy(reply, 'Accept-Encoding')
    const coding = codingFor(request.headers['accept-encoding'])
    if (coding === undefined || payload === null || payload === undefined || request.method === 'HEAD')
      return payload
    const { length } = isStream(payload)
      ? { length: Number(reply.getHeader('content-length') ?? minBytes) }
      : { length: Buffer.byteLength(payload as string | Buffer) }
    if (length < minBytes) return payload
    coded.add(reply)
    reply.header('content-encoding', coding)
    reply.removeHeader('content-length')
    const tag = reply.getHeader('etag')
    if (typeof tag === 'string' && !tag.startsWith('W/')) reply.header('etag', `W/${tag}`)
    if (!isStream(payload)) return whole[coding](Buffer.from(payload as string | Buffer as Buffer), false)
    // Either end of it ends the other: a caller who leaves ends the work, and a failure is never a whole answer.
    return pipeline(payload, flushing[coding](), () => {})
  })
}
