import { createHash, createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'

export const s3Keys = { accessKey: 'S3RVER', secretKey: 'S3RVER' }

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/**
 * Signature Version 4 as its specification computes it, since the server takes every one.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
function isSigned({ method, url = '', headers }: IncomingMessage, host: string): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (!found) return false
  const [, key, day = '', region = '', names = '', signature] = found
  const { pathname, searchParams } = new URL(url, 'http://server')
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  const path = decodeURIComponent(pathname).split('/').map(encode).join('/')
  const query = [...searchParams].map((pair) => pair.map(encode).join('=')).sort()
  const lines = names.split(';').map((name) => `${name}:${name === 'host' ? host : headers[name]}\n`)
  const canonical = [method, path, query.join('&'), lines.join(''), names, headers['x-amz-content-sha256']]
  const scope = `${day}/${region}/s3/aws4_request`
  const text = [
    ...['AWS4-HMAC-SHA256', headers['x-amz-date'], scope],
    createHash('sha256').update(canonical.join('\n')).digest('hex'),
  ].join('\n')
  const signing = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${s3Keys.secretKey}`)
  return key === s3Keys.accessKey && hmac(signing, text).toString('hex') === signature
}

/** An S3-compatible server with a bucket `exports`, which takes requests alone that are signed with `s3Keys`. */
export async function startS3Server() {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-s3-'))
  const server = new S3rver({
    ...{ port: 0, address: '127.0.0.1', silent: true, directory },
    configureBuckets: [{ name: 'exports' }],
  })
  const { port } = await server.run()
  /** What a request is answered at once instead. */
  const fault: { status: number | undefined } = { status: undefined }
  const front = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const host = headers.host ?? ''
    const refused = fault.status ?? (isSigned(incoming, host) ? undefined : 403)
    if (refused !== undefined) {
      incoming.resume()
      outgoing.writeHead(refused).end()
      return
    }
    const forwarded = request({ port, host: '127.0.0.1', method, path: url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}/exports/millrace`,
    fault,
    async close(): Promise<void> {
      front.closeAllConnections()
      front.close()
      await server.close()
      rmSync(directory, { recursive: true })
    },
  }
}
