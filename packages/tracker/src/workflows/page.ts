import type { PageIntegrations } from '@millrace/contract/resources/page-integration.ts'
import type { Track } from '../track.ts'
import { attach } from './attach.ts'

/** The second file of the tracker, which loads it once the visitor's consent allows it. */
const script = document.currentScript
if (script instanceof HTMLScriptElement) void begin(script)

/** What the tracker knows; undefined while nothing may be stored. */
function visitorOf({ track }: { readonly track?: Track }) {
  const tmpId = track?.getTmpId()
  return tmpId === undefined ? undefined : { tmpId, clientId: track?.getClientId() ?? '' }
}

async function begin({ src, nonce }: HTMLScriptElement): Promise<void> {
  try {
    const settings = new URL('t-workflows.json', src)
    const { searchParams } = new URL(src)
    for (const name of ['company', 'datasource'])
      settings.searchParams.set(name, searchParams.get(name) ?? '')
    const reply = await fetch(settings, { credentials: 'omit' })
    if (!reply.ok) throw new Error(`the service answers ${reply.status}`)
    const { integrations, leftOut } = (await reply.json()) as PageIntegrations
    if (leftOut) console.warn(`Millrace: ${leftOut} integrations of workflows are too many for one page`)
    const visitor = () => visitorOf(window as { track?: Track })
    attach({ integrations, visitor, self: undefined, nonce, codeUrl: settings.href })
  } catch (error) {
    console.warn('Millrace: integrations of workflows cannot be loaded', error)
  }
}
