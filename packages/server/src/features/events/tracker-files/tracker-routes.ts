import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type KeptBody, keptBody, sendKept } from '../../../platform/http/compression.ts'
import { isId, normalizeId } from '../../../platform/ids.ts'
import type { TrackerScripts } from './tracker-scripts.ts'

export interface TrackerFilesDependencies {
  readonly scripts: TrackerScripts
  /** The company of an active tracking datasource; undefined where there is none. Rejects when the store fails. */
  findCompany(datasourceId: string, address: string): Promise<string | undefined>
  /**
   * The path of the script that attaches the web integrations of a company, with its query if it has one; undefined
   * where there is nothing to attach. Only asked for a datasource of that company. A rejection counts as undefined,
   * in an answer that is not cached.
   */
  integrationsScript(companyId: string, datasourceId: string): Promise<string | undefined>
}

/** Any page may run the scripts, those that isolate themselves too, and may measure how long they took. */
const openHeaders = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'content-type': 'text/javascript; charset=utf-8',
} as const

const fiveMinutes = 'public, max-age=300'
const forEver = 'public, max-age=31536000, immutable'

/** What a developer reads on the console. None holds a part of the request, which another site may have written. */
const faults = {
  company: 'company must be the 24 hexadecimal characters of a company id',
  datasource: 'datasource must be the 24 hexadecimal characters of a datasource id',
  unknown: 'no active tracking datasource has this id and belongs to this company',
} as const

/** Texts of the base script that are kept compressed: the paths behind it are few, one for each build. */
const maxBodies = 16

/** The tracker's scripts, which pages of any site load (docs/tracker.md). */
export function trackerRoutes({ scripts, findCompany, integrationsScript }: TrackerFilesDependencies) {
  const base = keptBody(scripts.base)
  const withIntegrations = new LRUCache<string, KeptBody>({ max: maxBodies })

  function baseFor(path: string | undefined): KeptBody {
    if (path === undefined) return base
    const known = withIntegrations.get(path)
    if (known) return known
    const made = keptBody(`${scripts.base}${loadLine(path)}`)
    withIntegrations.set(path, made)
    return made
  }

  async function sendBase(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { company, datasource } = request.query as Record<string, unknown>
    if (typeof company !== 'string' || !isId(company)) return sendFault(reply, 'company')
    if (typeof datasource !== 'string' || !isId(datasource)) return sendFault(reply, 'datasource')
    const ids = [normalizeId(company), normalizeId(datasource)] as const
    try {
      if ((await findCompany(ids[1], request.ip)) !== ids[0]) return sendFault(reply, 'unknown')
    } catch {
      // Events are taken while the store is down, so pages get the script that sends them.
      return send(request, reply.header('cache-control', 'no-cache'), base)
    }
    let cached: string = fiveMinutes
    const path = await integrationsScript(...ids).catch(() => {
      // Pages are not to be without integrations for longer than it lasts.
      cached = 'no-cache'
      return undefined
    })
    return send(request, reply.header('cache-control', cached), baseFor(path))
  }

  return async function routes(app: FastifyInstance): Promise<void> {
    app.get('/t.js', sendBase)
    app.get('/t.json', async (_request, reply) =>
      reply
        .headers({ ...openHeaders, 'content-type': 'application/json', 'cache-control': fiveMinutes })
        .send(JSON.stringify(scripts.copy)),
    )
    for (const [path, script] of scripts.copies) {
      app.get(path, async (request, reply) => send(request, reply.header('cache-control', forEver), script))
    }
  }
}

/** Loads the second file once the page may store and send, and not again where a page has the script twice. */
function loadLine(path: string): string {
  const literal = JSON.stringify(path).replaceAll('<', '\\u003c')
  return `;((s,p)=>{if(s&&!track[p]){track[p]=1;track.ready(()=>{const e=document.createElement("script");e.src=new URL(p.slice(1),new URL(".",s.src))+(p.includes("?")?"&":"?")+new URL(s.src).searchParams;if(s.nonce)e.nonce=s.nonce;document.head.append(e)})}})(document.currentScript,${literal});`
}

function send(request: FastifyRequest, reply: FastifyReply, script: KeptBody): Promise<FastifyReply> {
  return sendKept(request, reply.headers(openHeaders), script)
}

/**
 * A browser runs no script that comes with a failure, and its developer would see a status without a reason: this is
 * a script that names it on the console.
 */
function sendFault(reply: FastifyReply, fault: keyof typeof faults): FastifyReply {
  return reply
    .headers({ ...openHeaders, 'cache-control': 'no-store' })
    .send(`console.error("Millrace: t.js was not started: ${faults[fault]}");`)
}
