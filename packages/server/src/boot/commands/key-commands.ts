import {
  isComplete,
  type KeyRotationReport,
  type RotatedTable,
} from '../../features/encryption/key-rotation-service.ts'
import { list, type OperatorCommand } from './operator-command.ts'

export const forgetKeysCommand: OperatorCommand = {
  name: 'key forget',
  summary: 'Forgets encryption keys under which nothing is sealed, for when a key is lost.',
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

/** How many ids a line lists. */
const maxNamed = 20

function troublesOf({ table, missing, damaged, waiting }: RotatedTable): string[] {
  const named = damaged.slice(0, maxNamed).join(', ')
  const more = damaged.length > maxNamed ? ` and ${damaged.length - maxNamed} more` : ''
  return [
    ...missing.map(
      ({ keyId, rows }) =>
        `Cannot be opened: ${rows} of ${table}, sealed under ${keyId}. Add that key after the present one.`,
    ),
    ...(damaged.length > 0
      ? [
          `Cannot be opened: ${damaged.length} of ${table}, which were modified or belong to other rows: ${named}${more}.`,
        ]
      : []),
    ...(waiting > 0
      ? [
          `Left: ${waiting} of ${table}, which were locked or sealed under an older key meanwhile. Run this again.`,
        ]
      : []),
  ]
}

function linesOf({ present, tables, needed, notNeeded }: KeyRotationReport): string[] {
  const width = Math.max(...tables.map(({ table }) => table.length))
  return [
    `Re-encrypting under ${present}.`,
    ...tables.map(
      ({ table, reencrypted, current }) =>
        `  ${table.padEnd(width)}  ${reencrypted} re-encrypted, ${current} already current`,
    ),
    ...tables.flatMap(troublesOf),
    `Still needed, besides ${present}: ${list(needed)}.`,
    `No longer needed: ${list(notNeeded)}.`,
    ...(notNeeded.length > 0 ? ['Remove them from MILLRACE_ENCRYPTION_KEY and restart each process.'] : []),
  ]
}

export const rotateKeyCommand: OperatorCommand = {
  name: 'key rotate',
  summary: 'Re-encrypts every stored secret under the first key of MILLRACE_ENCRYPTION_KEY.',
  options: {},
  async run(_values, { keys }) {
    const report = await keys.rotate()
    return {
      data: { ...report },
      lines: linesOf(report),
      ...(isComplete(report) ? {} : { exitCode: 1 }),
    }
  },
}
