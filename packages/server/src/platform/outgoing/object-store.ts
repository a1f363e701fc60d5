import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../clock.ts'
import type { BucketPlace } from '../config/config.ts'
import { createOutgoingClient } from './outgoing-client.ts'
import { OutgoingError } from './outgoing-error.ts'
import { rangesOf } from './public-addresses.ts'

export interface StoredObject {
  readonly path: string
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

export type ObjectStore = ReturnType<typeof openObjectStore>

const timeoutMs = 600_000
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** Of one page of a list. */
const listBytes = 4 * 1024 * 1024

/**
 * Objects below a place, by keys of letters, digits and `-_=./`. Requests are signed with Signature Version 4, and pass
 * the outgoing guard. An object is one PUT, so it has 5 GB at most.
 */
export function openObjectStore(
  place: BucketPlace,
  { outgoingAllow, clock }: { readonly outgoingAllow: readonly string[]; readonly clock: Clock },
) {
  const base = new URL(place.url)
  // The port of an address that the operator gives is as good as any.
  const ports = [Number(base.port) || (base.protocol === 'http:' ? 80 : 443)]
  const outgoing = createOutgoingClient({ allow: rangesOf(outgoingAllow), ports })
  const [bucket = '', ...rest] = base.pathname.split('/').filter((part) => part !== '')
  const prefix = rest.map((part) => `${part}/`).join('')
  const { region, accessKey: accessKeyId, secretKey: secretAccessKey } = place

  /** @param path behind the bucket */
  async function ask(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    {
      body,
      signal,
      onPiece,
    }: {
      body?: StoredObject
      signal?: AbortSignal | undefined
      onPiece?: (piece: Buffer) => Promise<void>
    } = {},
  ): Promise<Buffer> {
    const datetime = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const signer = new AwsV4Signer({
      ...{ method, url: `${base.origin}/${bucket}${path}`, accessKeyId, secretAccessKey, region, datetime },
      service: 's3',
      headers: { 'x-amz-content-sha256': body?.sha256 ?? emptySha256 },
    })
    const { url, headers } = await signer.sign()
    const answer = await outgoing.send(url.href, {
      method,
      headers: {
        ...Object.fromEntries(headers),
        ...(body && { 'content-length': String(body.bytes) }),
      },
      ...(body && { body: createReadStream(body.path) }),
      ...{ limitBytes: onPiece ? Number.MAX_SAFE_INTEGER : listBytes, timeoutMs },
      ...(onPiece && { onPiece }),
      ...(signal && { signal }),
    })
    return answer.body
  }

  /** The bytes of each object below a folder, by its key. */
  async function list(folder: string): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    let token: string | undefined
    do {
      const query = new URLSearchParams({ 'list-type': '2', prefix: `${prefix}${folder}` })
      if (token !== undefined) query.set('continuation-token', token)
      const page = (await ask('GET', `?${query}`)).toString('utf8')
      for (const [, contents = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = textOf(contents, 'Key')
        if (key?.startsWith(prefix)) found.set(key.slice(prefix.length), Number(textOf(contents, 'Size')))
      }
      token = textOf(page, 'NextContinuationToken')
    } while (token !== undefined)
    return found
  }

  const remove = async (key: string): Promise<void> => {
    try {
      await ask('DELETE', `/${prefix}${key}`)
    } catch (error) {
      if (!(error instanceof OutgoingError) || error.status !== 404) throw error
    }
  }

  return {
    list,
    remove,
    put: async (key: string, object: StoredObject, signal?: AbortSignal): Promise<void> =>
      void (await ask('PUT', `/${prefix}${key}`, { body: object, signal })),

    /** Writes an object to a file, whose folder is made. */
    async get(key: string, path: string): Promise<void> {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const file = createWriteStream(path, { mode: 0o600, flush: true })
      // What fails is thrown where the file is written to.
      file.on('error', () => {})
      try {
        await ask('GET', `/${prefix}${key}`, {
          onPiece: (piece) =>
            new Promise((resolve, reject) =>
              file.write(piece, (error) => (error ? reject(error) : resolve())),
            ),
        })
        file.end()
        await finished(file)
      } catch (error) {
        file.destroy()
        throw error
      }
    },

    async removeAll(folder: string): Promise<void> {
      for (const key of (await list(folder)).keys()) await remove(key)
    },
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function textOf(xml: string, element: string): string | undefined {
  const [, text] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? []
  return text?.replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
}
