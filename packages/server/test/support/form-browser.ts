import type { FastifyInstance, LightMyRequestResponse } from 'fastify'

/** A page with its first form, as a browser without scripts would send it. */
export interface Shown {
  readonly reply: LightMyRequestResponse
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

function read(reply: LightMyRequestResponse): Shown {
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
export function createFormBrowser(app: FastifyInstance, from = '192.0.2.1') {
  const cookies = new Map<string, string>()

  async function send(
    method: 'GET' | 'POST',
    url: string,
    fields?: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const reply = await app.inject({
      method,
      url,
      remoteAddress: from,
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
      ...(fields ? { payload: new URLSearchParams(fields).toString() } : {}),
    })
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
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
