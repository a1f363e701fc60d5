import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Config } from '../../platform/config/config.ts'
import { findRunningService } from '../../platform/files/data-directory.ts'
import { engineSocketPath } from '../../platform/stores/chdb/socket.ts'
import { openColumnar } from '../../platform/stores/columnar-client.ts'
import { relationalOfRunningService } from './command-stores.ts'
import {
  bad,
  type Check,
  checksOfPlace,
  checksOfService,
  type Finding,
  reasonOf,
  type State,
  worthALook,
} from './doctor-checks.ts'
import type { CommandTerminal } from './operator-command.ts'
import { describeService, listVariables } from './support-bundle.ts'

const usage = `Usage: millrace doctor [--json] [--bundle FILE]

Looks at the service and what it stands on, changes nothing, and says what to do about what it finds.
With --bundle it writes all of it with sizes of tables, metrics and the names of the variables that are set as JSON to a
new file, for those who help you: no secret, no event and no address of a person is in it.
Exit code: 0 all is well or worth a look, 1 something does not work.`

async function run(checks: readonly Check[]) {
  const found: (Finding & { readonly check: string })[] = []
  for (const { name, look } of checks) {
    const findings = await look().catch((error: unknown) =>
      bad(`cannot be looked at: ${reasonOf(error)}`, 'Its log, or the one of the service, says more.'),
    )
    found.push(...[findings].flat().map((finding) => ({ check: name, ...finding })))
  }
  return found
}

const marks: Readonly<Record<State, string>> = { ok: 'ok  ', look: 'look', bad: 'BAD ' }

/** @returns exit code */
export async function runDoctorCommand(
  argv: readonly string[],
  config: Config,
  terminal: CommandTerminal,
): Promise<0 | 1 | 2> {
  let isJson: boolean
  let bundle: string | undefined
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { json: { type: 'boolean' }, bundle: { type: 'string' }, help: { type: 'boolean' } },
    })
    if (values.help) {
      terminal.out(usage)
      return 0
    }
    isJson = values.json === true
    bundle = values.bundle
  } catch (error) {
    terminal.err(`millrace doctor: ${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const found = await run(checksOfPlace(config))
  const running = findRunningService(config.dataDirectory)
  let described: object = {}
  if (running === undefined) {
    found.push({
      check: 'service',
      ...worthALook('does not run here', 'npm start, and look again: most is seen of one that runs.'),
    })
  } else {
    const relational = relationalOfRunningService(config)
    const socketPath = engineSocketPath(join(resolve(config.dataDirectory), 'run'))
    const { url } = config.columnar
    const columnar = openColumnar({ address: url === undefined ? { socketPath } : { url } })
    try {
      if (relational) {
        const reached = { relational, columnar, ...running }
        found.push(...(await run(checksOfService(config, reached))))
        if (bundle !== undefined)
          described = await describeService(config, reached).catch((error: unknown) => ({
            failure: reasonOf(error),
          }))
      }
    } finally {
      await columnar.close()
      await relational?.close()
    }
  }
  const isBad = found.some(({ state }) => state === 'bad')
  if (bundle !== undefined) {
    const content = {
      at: new Date().toISOString(),
      ok: !isBad,
      found,
      variables: listVariables(),
      ...described,
    }
    try {
      await writeFile(bundle, `${JSON.stringify(content, undefined, 2)}\n`, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      terminal.err(`millrace doctor: ${bundle} cannot be written: ${reasonOf(error)}`)
      return 2
    }
  }
  if (isJson) terminal.out(JSON.stringify({ ok: !isBad, found }))
  else {
    for (const { check, state, says, remedy } of found) {
      terminal.out(`${marks[state]}  ${check}: ${says}${remedy ? `\n        ${remedy}` : ''}`)
    }
  }
  return isBad ? 1 : 0
}
