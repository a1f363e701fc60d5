import { hostOf, leadsWithin, webAddress } from '../../compile/addresses.ts'
import { modeParameter, redirectParameter, reservedPrefix } from '../../run/read-request.ts'

export interface ClickTarget {
  readonly parameters: ReadonlyMap<string, readonly string[]>
  /** That of the content. */
  readonly destination: string | undefined
  /** Hosts that the workflow's redirects name. */
  readonly hosts: ReadonlySet<string>
  readonly domain: string | undefined
  readonly workflowId: string
  readonly branchId: string | undefined
}

const maxLocationLength = 8_192

/**
 * Where a click leads: to the destination of the content, or to `trk-redirect` where that stays within the hosts that
 * the workflow itself leads to, with those of the content at hand. Parameters of the address go along unless the destination has them; a deep link stays
 * as it is.
 */
export function locationOf(target: ClickTarget): string | undefined {
  const { parameters, destination, hosts, domain } = target
  const wanted = parameters.get(redirectParameter)?.[0]
  const override = wanted === undefined ? undefined : webAddress(wanted)
  const isAllowed =
    override !== undefined &&
    (leadsWithin(override, hosts, domain) ||
      (destination !== undefined && hostOf(destination) === hostOf(override)))
  const chosen = isAllowed ? override : destination
  if (chosen === undefined) return undefined
  return hostOf(chosen) === undefined ? chosen : withParameters(chosen, target)
}

function withParameters(address: string, { parameters, workflowId, branchId }: ClickTarget): string {
  const url = new URL(address)
  const own = new Set(url.searchParams.keys())
  const added: (readonly [string, string])[] = []
  for (const [name, values] of parameters) {
    if (name === modeParameter || name.startsWith(reservedPrefix) || own.has(name)) continue
    for (const value of values) added.push([name, value])
  }
  const add = (name: string, value: string): void => {
    if (!own.has(name) && !parameters.has(name)) added.push([name, value])
  }
  add('trk_id', workflowId)
  if (branchId !== undefined) add('utm_term', branchId)
  // Added as text, so that the destination's own parameters stay written as they are.
  const query = added
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
    )
    .join('&')
  if (query !== '') url.search = url.search === '' ? query : `${url.search.slice(1)}&${query}`
  return url.href.length <= maxLocationLength ? url.href : address
}
