import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { findRunningService } from '../../platform/files/data-directory.ts'
import { StartRefused } from '../../platform/start-refused.ts'
import { yieldToOthers } from '../../platform/stores/chdb/priority.ts'
import { engineSocketPath } from '../../platform/stores/chdb/socket.ts'
import { openColumnar } from '../../platform/stores/columnar-client.ts'
import { embeddedAddresses } from '../../platform/stores/embedded-postgres.ts'
import { openBackupCopies } from '../backup/backup-copies.ts'
import { BackupRefused, listBackups, readManifest, removeBackups } from '../backup/backup-files.ts'
import { createBackup } from '../backup/create-backup.ts'
import { restoreBackup, verifyBackup } from '../backup/restore-backup.ts'
import type { CommandTerminal } from './operator-command.ts'

const usage = `Usage: millrace backup COMMAND [options]

  create                        backs up the running service; it goes on meanwhile
  list                          backups that are whole, the newest first
  verify [ID]                   restores one to a place that is removed again, and compares it; the newest by default
  restore [ID] --to DIRECTORY   makes a data directory of one, and fills the empty databases of DATABASE_URL and
                                CLICKHOUSE_URL where those are set; the newest by default
  prune --keep N                removes all but the newest N
  fetch [ID]                    brings one back from the bucket of MILLRACE_BACKUP_S3_URL; the newest by default

  --directory DIRECTORY         where backups are, in the place of MILLRACE_BACKUP_DIR
  --json                        print the result as one line of JSON

Backups are encrypted where MILLRACE_BACKUP_KEY is set. The key of the secrets is in none: keep MILLRACE_ENCRYPTION_KEY,
or encryption.key of the data directory, elsewhere. docs/data-life.md says more.`

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

interface Result {
  readonly data: object
  readonly lines: readonly string[]
}

/** Copying is done by this process, which works on the files of the service beside it. */
async function create(config: Config, directory: string, terminal: CommandTerminal): Promise<Result> {
  if (findRunningService(config.dataDirectory) === undefined)
    throw new BackupRefused(
      `No service runs on ${config.dataDirectory}. Start it, or copy the directory while it is stopped.`,
    )
  // Events come first: beside 5,000 a second their p99 was 47 ms so and 130 otherwise, the backup a fifth slower.
  yieldToOthers(10)
  const runPath = join(resolve(config.dataDirectory), 'run')
  const { url } = config.columnar
  const columnar = openColumnar({
    address: url === undefined ? { socketPath: engineSocketPath(runPath) } : { url },
  })
  try {
    const began = performance.now()
    const { manifest, written, bytes } = await createBackup({
      config,
      directory,
      relational:
        config.relational.url === undefined
          ? embeddedAddresses(runPath).owner
          : { url: config.relational.ownerUrl ?? config.relational.url },
      columnar,
      onStep: (step) => terminal.err(step),
    })
    const copies = openBackupCopies(config, directory, systemClock)
    if (copies) terminal.err('copying to the bucket')
    const sent = await copies?.copy(manifest)
    const seconds = (performance.now() - began) / 1_000
    return {
      data: {
        id: manifest.id,
        at: manifest.at,
        bytes,
        written,
        seconds,
        ...(sent !== undefined && { sent }),
      },
      lines: [
        `${manifest.id}: ${megabytes(bytes)}, of which ${megabytes(written)} were written in ${seconds.toFixed(1)} s.`,
        ...(sent === undefined ? [] : [`${megabytes(sent)} of it were sent to the bucket.`]),
        ...(manifest.encrypted ? [] : ['It is not encrypted: MILLRACE_BACKUP_KEY is not set.']),
      ],
    }
  } finally {
    await columnar.close()
  }
}

async function newest(directory: string): Promise<string> {
  const [id] = await listBackups(directory)
  if (id === undefined) throw new BackupRefused(`There is no backup in ${directory}`)
  return id
}

/** @returns exit code: 0 done, 1 refused or failed, 2 the command line is wrong */
export async function runBackupCommand(
  argv: readonly string[],
  config: Config,
  terminal: CommandTerminal,
): Promise<0 | 1 | 2> {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  let given: { values: Record<string, string | boolean | undefined>; positionals: string[] }
  try {
    given = parseArgs({
      args: [...argv],
      options: { to: text, keep: text, directory: text, json: flag, help: flag },
      allowPositionals: true,
    })
  } catch (error) {
    terminal.err(`millrace backup: ${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const { values, positionals } = given
  const [command, id, ...more] = positionals
  if (values.help === true) {
    terminal.out(usage)
    return 0
  }
  const directory = resolve(String(values.directory ?? config.backups.directory))
  const { backupKey: key } = config
  const onStep = (step: string) => terminal.err(step)
  const wrong = (why: string): 2 => {
    terminal.err(`millrace backup: ${why}\n\n${usage}`)
    return 2
  }
  const copies = openBackupCopies(config, directory, systemClock)
  if (more.length > 0) return wrong(`${more.join(' ')} is too much`)

  async function run(): Promise<Result | 2> {
    switch (command) {
      case 'create':
        return create(config, directory, terminal)
      case 'list': {
        const found = await Promise.all(
          (await listBackups(directory)).map(async (each) => {
            try {
              const { at, version, files, encrypted } = await readManifest(directory, each, key)
              const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
              return { id: each, at, version, encrypted, bytes }
            } catch (error) {
              if (!(error instanceof BackupRefused)) throw error
              return { id: each, fault: error.message }
            }
          }),
        )
        const lines = found.map((one) =>
          'fault' in one
            ? `${one.id}  ${one.fault}`
            : `${one.id}  ${one.at}  version ${one.version}  ${megabytes(one.bytes)}${one.encrypted ? '  encrypted' : ''}`,
        )
        return {
          data: { backups: found },
          lines: lines.length > 0 ? lines : [`There is no backup in ${directory}.`],
        }
      }
      case 'verify': {
        const { id: verified, columnarRows } = await verifyBackup({
          ...{ directory, id: id ?? (await newest(directory)), key, onStep },
        })
        return {
          data: { id: verified, events: columnarRows.events },
          lines: [
            `${verified} can be restored: every table has the rows that it had, ${columnarRows.events} events.`,
          ],
        }
      }
      case 'restore': {
        if (typeof values.to !== 'string') return wrong('--to names the directory that is made')
        const { url, ownerUrl } = config.relational
        const { id: restored, at } = await restoreBackup({
          ...{ directory, id: id ?? (await newest(directory)), key, onStep, to: values.to },
          database: url === undefined ? undefined : { url, ownerUrl },
          columnarUrl: config.columnar.url,
        })
        return {
          data: { id: restored, directory: resolve(values.to) },
          lines: [
            `${resolve(values.to)} is the service as of ${at}. Start it with MILLRACE_DATA_DIR=${values.to}, and with the`,
            'MILLRACE_ENCRYPTION_KEY that it had; an encryption.key goes into the directory first.',
          ],
        }
      }
      case 'prune': {
        const keep = Number(values.keep)
        if (!Number.isInteger(keep) || keep < 1) return wrong('--keep says how many stay: 1 or more')
        const removed = await removeBackups(directory, keep)
        await copies?.prune(keep)
        return { data: { removed }, lines: [`Removed: ${removed.join(', ') || 'none'}.`] }
      }
      case 'fetch': {
        if (!copies) return wrong('MILLRACE_BACKUP_S3_URL names no bucket')
        const [last] = id === undefined ? await copies.list() : [id]
        if (last === undefined) throw new BackupRefused('There is no backup in the bucket')
        if ((await listBackups(directory)).includes(last))
          throw new BackupRefused(`The backup ${last} is in ${directory} already`)
        const fetched = await copies.fetch(last)
        return { data: { id: fetched.id, at: fetched.at }, lines: [`${fetched.id} is in ${directory}.`] }
      }
      default:
        return wrong(command === undefined ? 'a command is missing' : `there is no command "${command}"`)
    }
  }

  try {
    const result = await run()
    if (result === 2) return 2
    if (values.json === true) terminal.out(JSON.stringify(result.data))
    else for (const line of result.lines) terminal.out(line)
    return 0
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
    terminal.err(`millrace backup: ${error.message}`)
    return 1
  }
}
