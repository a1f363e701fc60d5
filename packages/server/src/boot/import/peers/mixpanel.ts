import { eventOf, fieldsOf, type Peer, remaining, required, textOf, timeOf } from './peer.ts'

const names: Readonly<Record<string, string>> = {
  $mp_web_page_view: 'page_view',
  $identify: 'identify',
}
const kept = /^(\$os|\$browser|\$device|mp_country_code)$/

/** The lines of its raw export (`GET /api/2.0/export`). */
export const mixpanel: Peer = {
  title: 'Mixpanel',
  file: 'the JSON lines of its raw event export',
  format: 'ndjson',
  lost: [
    'profiles of users and groups, and identities that were merged',
    'device, system, browser and country: they stand as labels $device, $os and so on',
    'the zone: times of projects made before 2023 are those of the project, and are read as UTC',
  ],
  read(record) {
    const event = required(record, 'event')
    const properties = fieldsOf(record.properties)
    if (event === '$create_alias' || event === '$merge') return event
    const person = required(properties, 'distinct_id').replace(/^\$device:/, '')
    const user = textOf(properties.$user_id)
    return [
      eventOf({
        name: names[event] ?? event,
        url: textOf(properties.$current_url) ?? textOf(properties.current_url) ?? '',
        referrer: textOf(properties.$referrer)?.replace(/^\$direct$/, '') || undefined,
        tmpId: textOf(properties.$device_id) ?? person,
        clientId: user,
        eventId: textOf(properties.$insert_id),
        timestamp: timeOf(properties, 'time', 1_000),
        data: remaining(
          properties,
          (name) =>
            (name.startsWith('$') && !kept.test(name)) ||
            (name.startsWith('mp_') && !kept.test(name)) ||
            name === 'time' ||
            name === 'distinct_id' ||
            name === 'current_url',
        ),
      }),
    ]
  },
}
