import { createClientCommand, listClientsCommand, updateClientCommand } from './client-commands.ts'
import { closeCompanyCommand, listCompaniesCommand, openCompanyCommand } from './company-commands.ts'
import { createDatasourceCommand } from './datasource-commands.ts'
import { verifyDomainCommand } from './domain-commands.ts'
import { forgetKeysCommand, rotateKeyCommand } from './key-commands.ts'
import {
  type CommandTerminal,
  type ExitCode,
  type OperatorCommand,
  readValues,
  runOperatorCommand,
  UsageError,
  usageOf,
} from './operator-command.ts'
import type { OperatorServices } from './operator-services.ts'
import { optionalSingleSignOnCommand } from './single-sign-on-commands.ts'
import { createUserCommand, userPasswordCommand } from './user-commands.ts'

/** In the order in which the help lists them. */
export const operatorCommands: readonly OperatorCommand[] = [
  createUserCommand,
  userPasswordCommand,
  createClientCommand,
  updateClientCommand,
  listClientsCommand,
  createDatasourceCommand,
  listCompaniesCommand,
  closeCompanyCommand,
  openCompanyCommand,
  rotateKeyCommand,
  forgetKeysCommand,
  verifyDomainCommand,
  optionalSingleSignOnCommand,
]

/** What the command line asks for: an answer that needs no store, or work for one. */
export type Prepared =
  | { readonly exitCode: ExitCode }
  | { readonly run: (services: OperatorServices) => Promise<ExitCode> }

/**
 * Reads the command line before any store is opened, so that help and mistakes are answered at once.
 * @param argv without the program: `['user', 'create', '--email', ...]`
 * @returns undefined when it is no operator command
 */
export function prepareOperatorCommand(
  argv: readonly string[],
  terminal: CommandTerminal,
): Prepared | undefined {
  const [noun, verb] = argv
  const ofNoun = operatorCommands.filter(({ name }) => name.split(' ', 1)[0] === noun)
  if (ofNoun.length === 0) return undefined
  const command = ofNoun.find(({ name }) => name === `${noun} ${verb}`)
  if (!command) {
    terminal.err(ofNoun.map((each) => `millrace ${each.name}  ${each.summary}`).join('\n'))
    return { exitCode: 2 }
  }
  try {
    const values = readValues(command, argv.slice(2))
    if (!values.has('help'))
      return { run: (services) => runOperatorCommand(command, values, services, terminal) }
    terminal.out(usageOf(command))
    return { exitCode: 0 }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    terminal.err(`millrace ${command.name}: ${error.message}\n\n${usageOf(command)}`)
    return { exitCode: 2 }
  }
}
