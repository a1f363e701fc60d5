import { ga4 } from './ga4.ts'
import { matomo } from './matomo.ts'
import { millrace } from './millrace.ts'
import { mixpanel } from './mixpanel.ts'
import type { Peer } from './peer.ts'
import { plausible } from './plausible.ts'
import { posthog } from './posthog.ts'
import { segment } from './segment.ts'
import { umami } from './umami.ts'

/** Products whose exports are read, by what `--from` calls them. */
export const peers: ReadonlyMap<string, Peer> = new Map(
  Object.entries({ umami, plausible, posthog, matomo, ga4, mixpanel, segment, millrace }),
)
