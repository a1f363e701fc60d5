import type { Columnar } from '../../../../platform/stores/columnar.ts'

/** Zones by the names that Node gives them; statistics take their offsets from it, so that any of them will do. */
const zones: ReadonlySet<string> = new Set(Intl.supportedValuesOf('timeZone'))

/** Names of time zones: Node's, and others of the same zones, which the engine lists in their exact spelling. */
export function createTimezoneStore({ columnar }: { columnar: Pick<Columnar, 'query'> }) {
  let asked: Promise<ReadonlySet<string>> | undefined

  async function ask(): Promise<ReadonlySet<string>> {
    const rows = await columnar.query<{ zone: string }>({
      sql: 'select time_zone as zone from system.time_zones',
    })
    return new Set(rows.map(({ zone }) => zone))
  }

  return {
    /** Whether this is exactly a name of a zone; rejects while the engine would have to be asked and cannot. */
    async knowsTimezone(zone: string): Promise<boolean> {
      if (zones.has(zone) || zone === 'UTC') return true
      asked ??= ask().catch((error: unknown) => {
        asked = undefined
        throw error
      })
      return (await asked).has(zone)
    },
  }
}
