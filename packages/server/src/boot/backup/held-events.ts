import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import {
  type ColumnarFigures,
  cloneTable,
  columnarFigures,
  copyTable,
  dropClones,
} from '../../database/columnar-tables.ts'
import { migrateColumnar } from '../../database/migrate.ts'
import { silentLogger } from '../../platform/logger.ts'
import type { Columnar } from '../../platform/stores/columnar.ts'
import { embeddedColumnar } from '../../platform/stores/columnar-embedded.ts'
import type { PostgresAddress } from '../../platform/stores/relational.ts'
import { removeFrom, requireFreeBytes } from './backup-files.ts'

export { listClones } from '../../database/columnar-tables.ts'

/** The columnar store, held as it is at a moment while a backup reads it. */
export interface HeldEvents {
  /** Removes what a backup that was killed has left. */
  clear(): Promise<void>
  /** Keeps all rows as they are now: takes neither time nor room. */
  hold(): Promise<void>
  /** Tables as they were held; the path of each is the directory of its frozen parts. */
  freeze(): Promise<Pick<ColumnarFigures, 'migration' | 'tables'>>
  release(): Promise<void>
}

/** Of hard links that an engine makes, below its home. */
const shadow = join('columnar', 'shadow')

/** @param name of the hard links @param prefix of such a name */
export function eventsInDirectory({
  columnar,
  dataDirectory,
  prefix,
  name,
}: {
  readonly columnar: Pick<Columnar, 'query' | 'command'>
  readonly dataDirectory: string
  readonly prefix: string
  readonly name: string
}): HeldEvents {
  let frozen: ReturnType<HeldEvents['freeze']>
  return {
    clear: () => removeFrom(join(dataDirectory, shadow), (left) => left.startsWith(prefix)),
    async hold() {
      frozen = freezeTables(columnar, dataDirectory, name)
      await frozen
    },
    freeze: () => frozen,
    release: () => removeAll(join(dataDirectory, shadow, name)),
  }
}

/**
 * Clones of the tables; their rows are brought to an engine of our own, so that the backup is as any other.
 * @param home directory of that engine
 * @param keepsFree bytes of the disk that stay free
 */
export function eventsAtServer({
  columnar: server,
  home,
  name,
  keepsFree,
  lockAt,
}: {
  readonly columnar: Pick<Columnar, 'query' | 'command' | 'stream'>
  readonly home: string
  readonly name: string
  readonly keepsFree: number
  readonly lockAt: PostgresAddress
}): HeldEvents {
  const clones = new Map<string, string>()
  let migration = 0
  return {
    clear: () => dropClones(server),
    async hold() {
      const figures = await columnarFigures(server)
      migration = figures.migration
      for (const table of figures.tables) clones.set(table.name, await cloneTable(server, table.name))
    },
    async freeze() {
      const { columnar, child } = embeddedColumnar({ dataDirectory: home, logger: silentLogger })
      try {
        await child.start()
        await migrateColumnar({ columnar, lockAt, logger: silentLogger, upTo: migration })
        const onPartition = () => requireFreeBytes(home, keepsFree)
        for (const [table, source] of clones)
          await copyTable(server, columnar, table, { source, onPartition })
        return await freezeTables(columnar, home, name)
      } finally {
        await columnar.close()
        await child.stop()
      }
    },
    async release() {
      await removeAll(home)
      await dropClones(server).catch(() => {})
    },
  }
}

/** Hard links of all parts. */
async function freezeTables(
  columnar: Pick<Columnar, 'query' | 'command'>,
  home: string,
  name: string,
): Promise<ColumnarFigures> {
  const figures = await columnarFigures(columnar)
  for (const table of figures.tables)
    await columnar.command({ sql: `ALTER TABLE ${table.name} FREEZE WITH NAME '${name}'` })
  const pathOf = (path: string) => join(home, shadow, name, relative(figures.root, path))
  return { ...figures, tables: figures.tables.map((table) => ({ ...table, path: pathOf(table.path) })) }
}

async function removeAll(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
}
