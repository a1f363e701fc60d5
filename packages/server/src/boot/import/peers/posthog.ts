import { ImportFault } from '../import-fault.ts'
import {
  eventOf,
  type Fields,
  fieldsOf,
  labelsOf,
  type Peer,
  remaining,
  required,
  textOf,
  timeOf,
} from './peer.ts'

/** Events of its own that tell of no behaviour. */
const technical = new Set([
  ...['$feature_flag_called', '$pageleave', '$web_vitals', '$set', '$groupidentify', '$opt_in', '$heatmap'],
  ...['$exception', '$snapshot', '$performance_event', '$create_alias', '$merge_dangerously'],
])
const names: Readonly<Record<string, string>> = {
  $pageview: 'page_view',
  $screen: 'page_view',
  $identify: 'identify',
}

/** Some of its exports have them as text. */
function propertiesOf(value: unknown): Fields {
  if (typeof value !== 'string') return fieldsOf(value)
  try {
    return fieldsOf(JSON.parse(value))
  } catch (error) {
    throw new ImportFault(`its "properties" are not JSON: ${(error as Error).message}`)
  }
}

/** The fields that its API of events and its batch exports give as JSON lines. */
export const posthog: Peer = {
  title: 'PostHog',
  file: 'events as JSON lines, of a batch export or of its API',
  format: 'ndjson',
  lost: [
    'properties of persons and groups, feature flags, recordings, heatmaps, web vitals',
    'device, system, browser and country: they stand as labels $device_type, $os and so on',
  ],
  read(record) {
    const event = required(record, 'event')
    if (technical.has(event)) return event
    const properties = propertiesOf(record.properties)
    const person = required(record, 'distinct_id')
    const device = textOf(properties.$anon_distinct_id) ?? textOf(properties.$device_id)
    const isKnown = properties.$is_identified === true || event === '$identify' || person !== device
    return [
      eventOf({
        name: names[event] ?? event,
        url: textOf(properties.$current_url) ?? textOf(properties.$screen_name) ?? '',
        referrer: textOf(properties.$referrer)?.replace(/^\$direct$/, '') || undefined,
        tmpId: device ?? person,
        clientId: isKnown ? person : undefined,
        eventId: textOf(record.uuid),
        timestamp: timeOf(record, 'timestamp'),
        data: {
          ...remaining(
            properties,
            (name) => name.startsWith('$') || name === 'token' || name === 'distinct_id',
          ),
          ...labelsOf(properties, { $os: '$os', $browser: '$browser', $device_type: '$device_type' }),
          ...labelsOf(properties, { $country: '$geoip_country_code' }),
        },
      }),
    ]
  },
}
