import { type Config, configFrom } from '../platform/config/config.ts'
import { FaultyEnvironment, readEnvironment } from '../platform/config/env.ts'
import { createLogger } from '../platform/logger.ts'
import { watchParent } from '../platform/processes/parent-watch.ts'
import { onStopRequest } from '../platform/processes/stop-request.ts'
import { exitCodes, StartRefused } from '../platform/start-refused.ts'
import { version } from '../platform/version.ts'
import type { CommandTerminal } from './commands/operator-command.ts'
import { operatorCommands, prepareOperatorCommand } from './commands/operator-commands.ts'
import { ImportFault } from './import/import-fault.ts'

const terminal: CommandTerminal = {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  async readInput() {
    let text = ''
    for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
    return text
  },
}

function usage(): string {
  const commands = operatorCommands.map(({ name, summary }) => `  ${name.padEnd(20)} ${summary}`)
  return [
    `Millrace ${version}`,
    '',
    'Usage: npm run millrace -- COMMAND',
    '',
    '  start                runs the service (npm start)',
    '  import FILE          sends the events of a CSV or NDJSON file',
    '  doctor               looks at the service and what it stands on, and says what to do',
    '  backup COMMAND       makes, lists, verifies, restores and removes backups',
    ...commands,
    '',
    'COMMAND --help says more. The environment is described in docs/operating.md.',
  ].join('\n')
}

/**
 * Stands first in the scripts of package.json: they put Node.js in the shell's place, so that npm is the parent and
 * forwards the signals that it gets, and with this the command also ends when npm is killed.
 */
const endWithParent = '--end-with-parent'

/** Exit code of a command that a signal ended, as shells give it for SIGINT. */
const stoppedOnRequest = 130

async function importCommand(
  argv: readonly string[],
  config: Config,
  parentEnded: AbortSignal,
): Promise<number> {
  const { importUsage, runImport } = await import('./import/import-command.ts')
  if (argv.includes('--help')) {
    terminal.out(importUsage)
    return 0
  }
  const { openCounters } = await import('./commands/read-counters.ts')
  const interrupted = new AbortController()
  onStopRequest(
    parentEnded,
    () => interrupted.abort(),
    () => process.exit(stoppedOnRequest),
  )
  const counters = openCounters(config)
  try {
    return await runImport(argv, {
      dataDirectory: config.dataDirectory,
      output: process.stdout,
      signal: interrupted.signal,
      readCounters: counters.read,
    })
  } finally {
    await counters.close()
  }
}

async function run(argv: readonly string[]): Promise<number> {
  if (argv[0] === endWithParent) return runCommand(argv.slice(1), watchParent())
  return runCommand(argv, new AbortController().signal)
}

async function runCommand([command, ...rest]: readonly string[], parentEnded: AbortSignal): Promise<number> {
  if (command === undefined || command === 'help' || command === '--help') {
    terminal.out(usage())
    return 0
  }
  if (command === 'version' || command === '--version') {
    terminal.out(version)
    return 0
  }
  if (command === 'start' && rest.length > 0) {
    const isHelp = rest[0] === '--help'
    if (!isHelp) terminal.err(`start takes no arguments, and was given ${rest.join(' ')}.`)
    terminal[isHelp ? 'out' : 'err'](
      'Runs the service. Variables of the environment set it up: MILLRACE_PORT=8081 npm start; docs/operating.md has all.',
    )
    return isHelp ? 0 : 2
  }
  const config = configFrom(readEnvironment(process.env))
  if (command === 'start') {
    const { runService } = await import('./start-command.ts')
    return runService(config, createLogger(config.logLevel), parentEnded)
  }
  if (command === 'import') return importCommand(rest, config, parentEnded)
  if (command === 'doctor') {
    const { runDoctorCommand } = await import('./commands/doctor-command.ts')
    return runDoctorCommand(rest, config, terminal)
  }
  if (command === 'backup') {
    const { runBackupCommand } = await import('./commands/backup-command.ts')
    onStopRequest(
      parentEnded,
      () => process.exit(stoppedOnRequest),
      () => process.exit(stoppedOnRequest),
    )
    return runBackupCommand(rest, config, terminal)
  }
  const prepared = prepareOperatorCommand([command, ...rest], terminal)
  if (prepared === undefined) {
    terminal.err(`There is no command "${command}".\n\n${usage()}`)
    return 2
  }
  if ('exitCode' in prepared) return prepared.exitCode
  // The database undoes what is not committed; a PostgreSQL of this command's own is stopped at any exit.
  const exit = (): never => process.exit(stoppedOnRequest)
  onStopRequest(parentEnded, exit, exit)
  const { openConfiguredBox, withRelational } = await import('./commands/command-stores.ts')
  const { createOperatorServices } = await import('./commands/operator-services.ts')
  return withRelational(config, (relational) =>
    prepared.run(createOperatorServices({ relational, openBox: () => openConfiguredBox(config) })),
  )
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof FaultyEnvironment || error instanceof ImportFault) {
    terminal.err(error.message)
    process.exitCode = error instanceof ImportFault ? 1 : exitCodes.unsuitable
  } else if (error instanceof StartRefused) {
    terminal.err(error.message)
    process.exitCode = error.exitCode
  } else {
    terminal.err(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exitCode = 1
  }
}
// Whatever still holds the event loop after an orderly end is not worth waiting for.
process.exit()
