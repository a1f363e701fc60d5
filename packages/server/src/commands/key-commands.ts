import { isComplete, type ResealedTable, type ResealReport } from '../features/encryption/reseal-service.ts'
import type { OperatorCommand } from './operator-command.ts'

const list = (ids: readonly string[]) => (ids.length === 0 ? 'none' : ids.join(', '))

export const forgetKeysCommand: OperatorCommand = {
  name: 'key forget',
  summary: 'Forgets encryption keys under which nothing is sealed, for when such a key is lost.',
  options: {},
  async run(_values, { keys }) {
    const { forgotten, kept } = await keys.forgetIdle()
    return {
      data: { forgotten, kept },
      lines: [
        `Forgotten: ${list(forgotten)}.`,
        `Kept, because secrets are sealed under them: ${list(kept)}.`,
      ],
    }
  },
}

/** How many rows a line names one by one. */
const mostNamed = 20

function troublesOf({ table, missing, damaged, waiting }: ResealedTable): string[] {
  const named = damaged.slice(0, mostNamed).join(', ')
  const more = damaged.length > mostNamed ? ` and ${damaged.length - mostNamed} more` : ''
  return [
    ...missing.map(
      ({ keyId, rows }) =>
        `Cannot be opened: ${rows} of ${table}, sealed under ${keyId}. Give that key too, behind the present one.`,
    ),
    ...(damaged.length > 0
      ? [
          `Cannot be opened: ${damaged.length} of ${table}, which were changed or belong elsewhere: ${named}${more}.`,
        ]
      : []),
    ...(waiting > 0
      ? [
          `Left: ${waiting} of ${table}, which somebody held or sealed under an older key meanwhile. Run this again.`,
        ]
      : []),
  ]
}

function linesOf({ present, tables, needed, notNeeded }: ResealReport): string[] {
  const width = Math.max(...tables.map(({ table }) => table.length))
  return [
    `Sealing under ${present}.`,
    ...tables.map(
      ({ table, resealed, current }) =>
        `  ${table.padEnd(width)}  ${resealed} sealed anew, ${current} current already`,
    ),
    ...tables.flatMap(troublesOf),
    `Still needed, besides ${present}: ${list(needed)}.`,
    `Not needed any more: ${list(notNeeded)}.`,
    ...(notNeeded.length > 0
      ? ['Take them out of MILLRACE_ENCRYPTION_KEY and start each process again.']
      : []),
  ]
}

export const resealCommand: OperatorCommand = {
  name: 'key reseal',
  summary: 'Seals every stored secret anew under the first key of MILLRACE_ENCRYPTION_KEY.',
  options: {},
  async run(_values, { keys }) {
    const report = await keys.reseal()
    return {
      data: { ...report },
      lines: linesOf(report),
      ...(isComplete(report) ? {} : { exitCode: 1 }),
    }
  },
}
