import type { Columnar } from '../../platform/stores/columnar.ts'

/** Time zones that the engine computes in; asked once, because they come with its binary. */
export function createTimezoneStore({ columnar }: { columnar: Pick<Columnar, 'query'> }) {
  let asked: Promise<ReadonlySet<string>> | undefined

  async function ask(): Promise<ReadonlySet<string>> {
    const rows = await columnar.query<{ zone: string }>({
      sql: 'select time_zone as zone from system.time_zones',
    })
    return new Set(rows.map(({ zone }) => zone))
  }

  return {
    /** Whether this is exactly the name of a zone; rejects while the engine cannot be asked. */
    async knowsTimezone(zone: string): Promise<boolean> {
      asked ??= ask().catch((error: unknown) => {
        asked = undefined
        throw error
      })
      return (await asked).has(zone)
    },
  }
}
