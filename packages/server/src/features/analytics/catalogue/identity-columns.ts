import type { RowColumn } from './member.ts'

/**
 * The person of an event (docs/statistics.md): its `clientId`, else the one that an `identify` bound to its `tmpId`
 * at any time, else the `tmpId`. The number counts, the text is shown; both name the same persons, since
 * the number is the hash of the text.
 */
export const identityColumns: Readonly<Record<string, RowColumn>> = {
  person: {
    sql: 'multiIf(client != 0, client, bound != 0, bound, device)',
    columns: ['client', 'device'],
    identity: ['bound'],
  },
  person_text: {
    sql: "multiIf(client_id != '', client_id, bound_id != '', bound_id, tmp_id)",
    columns: ['client_id', 'tmp_id'],
    identity: ['bound_id'],
  },
  identified: {
    sql: 'client != 0 OR bound != 0',
    columns: ['client'],
    identity: ['bound'],
  },
}
