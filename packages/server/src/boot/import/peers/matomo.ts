import {
  eventOf,
  type Fields,
  labelsOf,
  listOf,
  type Peer,
  type PeerEvent,
  required,
  textOf,
  timeOf,
} from './peer.ts'

const kinds: Readonly<Record<string, (action: Fields) => Pick<PeerEvent, 'name' | 'data'> | undefined>> = {
  action: (action) => ({ name: 'page_view', data: labelsOf(action, { title: 'pageTitle' }) }),
  event: (action) => ({
    name: textOf(action.eventAction) ?? 'event',
    data: labelsOf(action, {
      category: 'eventCategory',
      eventName: 'eventName',
      'matomo.value': 'eventValue',
    }),
  }),
  search: (action) => ({ name: 'search', data: labelsOf(action, { keyword: 'siteSearchKeyword' }) }),
  download: () => ({ name: 'download', data: {} }),
  outlink: () => ({ name: 'outlink', data: {} }),
  goal: (action) => ({ name: `goal ${textOf(action.goalName) ?? ''}`.trim(), data: {} }),
  ecommerceOrder(action) {
    const ids = listOf(action.itemDetails).flatMap(({ itemSKU }) => textOf(itemSKU) ?? [])
    return {
      name: 'purchase',
      data: {
        ...(ids.length > 0 && { ids }),
        ...labelsOf(action, { value: 'revenue', transId: 'orderId' }),
      },
    }
  },
}

/** The visits of the method Live.getLastVisitsDetails of its API. */
export const matomo: Peer = {
  title: 'Matomo',
  file: 'visits, one a line: method=Live.getLastVisitsDetails&format=JSON&filter_limit=-1 | jq -c ".[]"',
  format: 'ndjson',
  lost: [
    'device, system, browser and country: they stand as labels matomo.device and so on',
    'abandoned carts, contents, media, forms, heatmaps and recordings',
    'durations: sessions are computed anew',
  ],
  read(visit) {
    const id = required(visit, 'idVisit')
    const about = labelsOf(visit, {
      ...{ 'matomo.device': 'deviceType', 'matomo.os': 'operatingSystemName' },
      ...{ 'matomo.browser': 'browserName', 'matomo.country': 'countryCode' },
      ...{ utm_campaign: 'campaignName', utm_source: 'campaignSource', utm_medium: 'campaignMedium' },
    })
    const actions = listOf(visit.actionDetails)
    const events = actions.flatMap((action, i): PeerEvent[] => {
      const made = kinds[textOf(action.type) ?? '']?.(action)
      if (!made) return []
      return [
        eventOf({
          ...made,
          url: textOf(action.url) ?? '',
          referrer: i === 0 ? textOf(visit.referrerUrl) : undefined,
          tmpId: required(visit, 'visitorId'),
          clientId: textOf(visit.userId),
          eventId: `matomo-${id}-${i}`,
          timestamp: timeOf(action, 'timestamp', 1_000),
          data: { ...about, ...made.data },
        }),
      ]
    })
    return events.length === 0 ? 'visits without an action that is known' : events
  },
}
