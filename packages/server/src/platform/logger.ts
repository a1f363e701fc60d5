import { type Logger as PinoLogger, pino } from 'pino'
import pretty from 'pino-pretty'

export type Logger = Pick<PinoLogger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'> & {
  child(bindings: Record<string, unknown>): Logger
}

/** Fields that carry secrets or personal data, wherever they stand in a logged object. */
const hidden = [
  'authorization',
  'cookie',
  'password',
  'access_token',
  'refresh_token',
  'token',
  'secret',
  'username',
  'email',
]

/**
 * JSON lines on standard output; readable lines on a terminal.
 * @param bindings fields that every line carries
 */
export function createLogger(level: string, bindings: Record<string, unknown> = {}): Logger {
  const redact = {
    paths: hidden.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `req.headers.${name}`]),
    censor: '[hidden]',
  }
  const options = { level, base: bindings, redact, timestamp: () => `,"time":"${new Date().toISOString()}"` }
  return process.stdout.isTTY
    ? pino(
        options,
        pretty({ colorize: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', sync: true }),
      )
    : pino(options)
}

/** Says nothing; for tests and for commands whose output an operator reads. */
export const silentLogger: Logger = pino({ level: 'silent' })
