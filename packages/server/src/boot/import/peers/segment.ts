import { mapCall } from '../../../features/events/collector/segment/map-call.ts'
import { eventOf, type Peer, type PeerEvent, textOf, timeOf } from './peer.ts'

/** Calls as its archives in an object store have them; the collector reads the same (docs/migrating.md). */
export const segment: Peer = {
  title: 'Segment',
  file: 'the files of an archive: one call as JSON a line',
  format: 'ndjson',
  lost: ['traits as profiles: they stand as labels of identify', 'what a call tells destinations'],
  read(call) {
    // It needs neither the company nor the present: a call of an archive has its time.
    const mapped = mapCall(call, undefined, { companyId: '', receivedAt: timeOf(call, 'timestamp') })
    if ('kept' in mapped) return `calls that are dropped: ${mapped.reason.rule} ${mapped.reason.path}`
    const { name, url, referrer, tmpId, clientId, eventId, timestamp, data } = mapped
    const event: PeerEvent = eventOf({
      ...{ name, url, data },
      referrer: textOf(referrer),
      tmpId: textOf(tmpId) ?? '',
      clientId: textOf(clientId),
      eventId: textOf(eventId),
      timestamp: Number(timestamp),
    })
    return [event]
  },
}
