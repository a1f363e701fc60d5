import type { FastifyInstance } from 'fastify'

/** What came back. */
export interface Reply {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Carries a request to the service. */
export type Transport = (request: {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}) => Promise<Reply>

/** To an instance in this process, from an address. */
export const injected =
  (app: FastifyInstance, remoteAddress = '192.0.2.1'): Transport =>
  ({ method, url, headers, body }) =>
    app.inject({ method, url, headers, remoteAddress, ...(body === undefined ? {} : { payload: body }) })

/** To a service that listens. */
export const fetched =
  (origin: string): Transport =>
  async ({ method, url, headers, body }) => {
    const address = url.startsWith('http') ? url : `${origin}${url}`
    const reply = await fetch(address, {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    })
    const lines = Object.fromEntries(reply.headers)
    return {
      statusCode: reply.status,
      headers: { ...lines, 'set-cookie': reply.headers.getSetCookie() },
      body: await reply.text(),
    }
  }

/** A page with its first form, as a browser without scripts would send it. */
export interface Shown {
  readonly reply: Reply
  readonly status: number
  readonly text: string
  /** What the form carries by itself. */
  readonly hidden: Readonly<Record<string, string>>
  readonly action: string
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

const decode = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (each) => entities[each] ?? each)

function read(reply: Reply): Shown {
  const text = reply.body
  const inputs = text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return {
    reply,
    status: reply.statusCode,
    text,
    hidden: Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, decode(value)])),
    action: /<form method="post" action="([^"]*)"/.exec(text)?.[1] ?? '',
  }
}

/** A browser that keeps its cookies, follows nothing by itself and says where its forms come from. */
export function createFormBrowser(transport: Transport) {
  const cookies = new Map<string, string>()

  async function send(
    method: 'GET' | 'POST',
    url: string,
    fields?: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const reply = await transport({
      method,
      url,
      headers: {
        accept: 'text/html,application/xhtml+xml',
        ...(cookies.size > 0 ? { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') } : {}),
        ...(fields
          ? {
              'content-type': 'application/x-www-form-urlencoded',
              origin: 'null',
              'sec-fetch-site': 'same-origin',
            }
          : {}),
        ...headers,
      },
      body: fields && new URLSearchParams(fields).toString(),
    })
    for (const line of [reply.headers['set-cookie'] ?? []].flat() as string[]) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return read(reply)
  }

  return {
    cookies,
    send,
    open: (url: string) => send('GET', url),
    /** Sends the form of a page with what a person typed into it. */
    submit: (page: Shown, typed: Readonly<Record<string, string>>) =>
      send('POST', page.action, { ...page.hidden, ...typed }),
  }
}

export type FormBrowser = ReturnType<typeof createFormBrowser>
