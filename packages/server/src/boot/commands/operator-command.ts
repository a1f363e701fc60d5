import { parseArgs } from 'node:util'
import { generatePassword } from '../../platform/crypto/passwords.ts'
import { DomainError } from '../../platform/errors.ts'
import type { OperatorServices } from './operator-services.ts'

/** What a command prints and reads. */
export interface CommandTerminal {
  /** A line of the result. */
  out(line: string): void
  /** A line about what went wrong. */
  err(line: string): void
  /** All of standard input. */
  readInput(): Promise<string>
}

export interface Option {
  /** What stands for the value in the usage; absent for a switch. */
  readonly value?: string
  readonly required?: true
  /** May be given several times. */
  readonly several?: true
  readonly description: string
}

/** Values of the options given: texts in order of appearance; a switch that is set has one empty text. */
export type Values = ReturnType<typeof readValues>

/** What a command did: `data` for `--json`, `lines` for a person. */
interface CommandResult {
  readonly data: Readonly<Record<string, unknown>>
  readonly lines: readonly string[]
  /** 0 unless something was left undone. */
  readonly exitCode?: ExitCode
}

export interface OperatorCommand {
  /** Two words: `user create`. */
  readonly name: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  run(values: Values, services: OperatorServices, terminal: CommandTerminal): Promise<CommandResult>
}

/** 0 done; 1 refused or failed; 2 the command line is wrong. */
export type ExitCode = 0 | 1 | 2

const common: Readonly<Record<string, Option>> = {
  json: { description: 'Print the result as one line of JSON' },
  help: { description: 'Print this text' },
}

/** Values as a line of the result lists them. */
export const list = (values: readonly string[]): string => values.join(', ') || 'none'

/** Text of `--help`. */
export function usageOf(command: OperatorCommand): string {
  const options = Object.entries({ ...command.options, ...common })
  const shown = options.map(([name, { value }]) => (value ? `--${name} ${value}` : `--${name}`))
  const width = Math.max(...shown.map((text) => text.length))
  const lines = options.map(([, option], i) => {
    const notes = [option.required && 'required', option.several && 'may be repeated'].filter(Boolean)
    const note = notes.length > 0 ? ` (${notes.join(', ')})` : ''
    return `  ${(shown[i] ?? '').padEnd(width)}  ${option.description}${note}`
  })
  return [`Usage: millrace ${command.name} [options]`, '', command.summary, '', ...lines].join('\n')
}

/** The command line does not fit the command. */
export class UsageError extends Error {}

/** @throws UsageError naming what does not fit */
export function readValues(command: OperatorCommand, args: readonly string[]) {
  const options = { ...command.options, ...common }
  const config = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { type: option.value ? ('string' as const) : ('boolean' as const), multiple: true },
    ]),
  )
  let given: Record<string, unknown>
  try {
    given = parseArgs({ args: [...args], options: config, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  const found = new Map(
    Object.entries(given).map(([name, values]) => [
      name,
      (values as unknown[]).map((value) => (typeof value === 'string' ? value : '')),
    ]),
  )
  for (const [name, option] of Object.entries(options)) {
    const count = found.get(name)?.length ?? 0
    if (option.required && count === 0 && !found.has('help')) throw new UsageError(`--${name} is required`)
    const isPrintable = (found.get(name) ?? []).every((value) => !/\p{Cc}/u.test(value))
    if (!isPrintable) throw new UsageError(`--${name} holds control characters; leave them out`)
    if (!option.several && count > 1) throw new UsageError(`--${name} is given ${count} times; give it once`)
  }
  return {
    /** The last value, if the option was given. */
    get: (name: string): string | undefined => found.get(name)?.at(-1),
    all: (name: string): readonly string[] => found.get(name) ?? [],
    has: (name: string): boolean => found.has(name),
  }
}

/** A password for the options of `passwordOptions`. */
export interface ChosenPassword {
  readonly password: string
  readonly isGenerated: boolean
}

export const passwordOptions: Readonly<Record<string, Option>> = {
  'password-stdin': {
    description: 'Read the password from standard input; without one it is generated and printed',
  },
  password: {
    value: 'TEXT',
    description: 'The password itself, which the process list and the shell history then show',
  },
}

/** The password that was given, from standard input without its last line feed, or a new one. */
export async function choosePassword(values: Values, terminal: CommandTerminal): Promise<ChosenPassword> {
  const given = values.get('password')
  if (given !== undefined && values.has('password-stdin'))
    throw new UsageError('--password and --password-stdin exclude each other; give one of them')
  if (given !== undefined) return { password: given, isGenerated: false }
  if (!values.has('password-stdin')) return { password: generatePassword(), isGenerated: true }
  return { password: (await terminal.readInput()).replace(/\r?\n$/, ''), isGenerated: false }
}

/** Runs a command and prints its result. Unexpected failures are thrown. */
export async function runOperatorCommand(
  command: OperatorCommand,
  values: Values,
  services: OperatorServices,
  terminal: CommandTerminal,
): Promise<ExitCode> {
  try {
    const { data, lines, exitCode = 0 } = await command.run(values, services, terminal)
    if (values.has('json')) terminal.out(JSON.stringify(data))
    else for (const line of lines) terminal.out(line)
    return exitCode
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`millrace ${command.name}: ${error.message}`)
      return 2
    }
    if (!(error instanceof DomainError)) throw error
    if (values.has('json')) terminal.out(JSON.stringify({ error: error.errorName, message: error.message }))
    else terminal.err(`millrace ${command.name}: ${error.message}`)
    return 1
  }
}
