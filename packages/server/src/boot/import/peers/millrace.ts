import { eventOf, fieldsOf, type Peer, required, textOf, timeOf } from './peer.ts'

export const millrace: Peer = {
  title: 'Millrace',
  file: 'a file of an export of events as NDJSON (POST /v2/statistics/exports)',
  format: 'ndjson',
  lost: [
    'device, system, browser and country, which come from the sender of a request',
    'when it was received',
  ],
  read(record) {
    const host = textOf(record.referrer_host)
    const ids = Array.isArray(record.ids) && record.ids.length > 0 ? { ids: record.ids } : {}
    const value = textOf(record.value)
    const transId = textOf(record.trans_id)
    return [
      eventOf({
        name: required(record, 'name'),
        url: textOf(record.url) ?? '',
        referrer: host && `https://${host}/`,
        tmpId: required(record, 'tmp_id'),
        clientId: textOf(record.client_id),
        eventId: required(record, 'event_id'),
        timestamp: timeOf(record, 'time'),
        data: { ...fieldsOf(record.labels), ...ids, ...(value && { value }), ...(transId && { transId }) },
      }),
    ]
  },
}
