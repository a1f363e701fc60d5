import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Config } from '../platform/config/config.ts'
import { type DataDirectory, openDataDirectory } from '../platform/files/data-directory.ts'
import { packageFile } from '../platform/files/package-files.ts'
import { type Addresses, publicUrlOf, shellQuote } from '../platform/http/documents/curl.ts'
import { quickStart } from '../platform/http/documents/quick-start.ts'
import { requireAddress } from '../platform/http/listening.ts'
import type { Logger } from '../platform/logger.ts'
import { giveMemoryBack } from '../platform/processes/memory.ts'
import { onStopRequest } from '../platform/processes/stop-request.ts'
import { version } from '../platform/version.ts'
import type { Context } from './context.ts'
import { openStores } from './open-stores.ts'

/** A stop that takes longer is cut off: orchestrators kill at 30 s (docs/interface.md, Run contract). */
const stopWithinMilliseconds = 25_000

/** Requests that waited for the start are answered first. */
const settledAfterMilliseconds = 5_000

/** For a checkout without its build, which `npm ci` makes. */
const buildConsole = () =>
  promisify(execFile)(process.execPath, [fileURLToPath(packageFile('../console/build.ts'))])

function addressesOf(config: Config, port: number): Addresses {
  const host = config.http.host === '0.0.0.0' || config.http.host === '::' ? 'localhost' : config.http.host
  const publicUrl = config.http.publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return { baseUrl: `${publicUrl}/v2`, collectorUrl: publicUrl }
}

/** Values that scripts and the import command read; no password (docs/interface.md, Run contract). */
function writeBootstrap(dataDirectory: DataDirectory, addresses: Addresses, context: Context): void {
  const { companyId, clientId, datasourceId, adminEmail } = context.installation
  const path = join(dataDirectory.path, 'bootstrap.json')
  const value = { ...addresses, companyId, clientId, datasourceId, adminEmail }
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 })
}

/** What a command needs to find the data directory: nothing where it is the one that commands take by themselves. */
function settingOf(dataDirectory: string): string {
  return dataDirectory === resolve('data') ? '' : `MILLRACE_DATA_DIR=${shellQuote(dataDirectory)} `
}

function banner(context: Context, addresses: Addresses): string {
  const { installation, columnarFault } = context
  const { generatedPassword } = installation
  const publicUrl = publicUrlOf(addresses)
  const steps = quickStart({ ...addresses, ...installation, email: installation.adminEmail })
  const lines = [
    '',
    columnarFault() === undefined
      ? `Millrace ${version} is ready.`
      : `Millrace ${version} accepts events, and answers no queries: the log says why.`,
    '',
    ...(context.config.roles.has('interface') ? [`  console      ${publicUrl}/console/`] : []),
    `  interface    ${addresses.baseUrl}`,
    `  collector    ${addresses.collectorUrl}/collect/${installation.datasourceId}/tracker`,
    `  documents    ${publicUrl}/docs`,
    `  health       ${publicUrl}/health/ready`,
    `  data         ${context.config.dataDirectory}`,
    '',
    `  company      ${installation.companyId}`,
    `  client       ${installation.clientId}`,
    `  datasource   ${installation.datasourceId}`,
    `  admin        ${installation.adminEmail}`,
  ]
  if (generatedPassword !== undefined) lines.push(`  password     ${generatedPassword}   (shown this once)`)
  lines.push(
    '',
    'Ctrl-C stops it. A lost password is replaced with:',
    `${settingOf(context.config.dataDirectory)}npm run millrace -- user password --email ${installation.adminEmail}`,
  )
  lines.push('', 'Open the console and sign in: it shows the first steps. Here are the same in a terminal.')
  lines.push('', 'Try it:', '')
  for (const { title, command } of steps) {
    const shown =
      generatedPassword === undefined ? command : command.replace('"PASSWORD"', `"${generatedPassword}"`)
    lines.push(`# ${title}`, shown, '')
  }
  return `${lines.join('\n')}\n`
}

/** Resolves with the first request to stop; another one ends the process at once, which loses nothing acknowledged. */
function stopRequested(logger: Logger, parentEnded: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (reason: string): void => {
      logger.info({ reason }, 'stopping')
      resolve()
    }
    onStopRequest(parentEnded, stop, () => process.exit(1))
  })
}

/** Tidies up after the start. */
function settle(): void {
  // While all that a start compiles is there; Node.js does it at an orderly end alone. Nothing is written again.
  flushCompileCache()
  giveMemoryBack()
}

/**
 * Runs the service until it is asked to stop.
 * @param parentEnded asks it to stop as a signal does
 * @returns exit code: 0 after an orderly stop
 * @throws StartRefused with a message for the terminal
 */
export async function runService(config: Config, logger: Logger, parentEnded: AbortSignal): Promise<number> {
  const dataDirectory = await openDataDirectory(config.dataDirectory)
  const stopping = stopRequested(logger, parentEnded)
  let context: Context | undefined
  try {
    await requireAddress(config.http)
    let addresses = addressesOf(config, config.http.port)
    const stores = openStores(config, dataDirectory, logger)
    // The largest part of the service by far is loaded while the engines start.
    const [{ openContext }, { buildApp }] = await Promise.all([import('./context.ts'), import('./app.ts')])
    const publicUrl = () => addresses.collectorUrl
    context = await openContext({ config, logger, dataDirectory, stores, publicUrl })
    const app = await buildApp(context, () => addresses, buildConsole)
    await app.listen({ host: config.http.host, port: config.http.port })
    addresses = addressesOf(config, (app.server.address() as AddressInfo).port)
    writeBootstrap(dataDirectory, addresses, context)
    dataDirectory.publish(publicUrlOf(addresses))
    const ready = await Promise.race([context.whenReady.then(() => true), stopping.then(() => false)])
    if (ready) {
      process.stdout.write(banner(context, addresses))
      setTimeout(settle, settledAfterMilliseconds).unref()
    }
    await stopping

    const late = setTimeout(() => {
      logger.error('stopping took too long; what was acknowledged is on disk')
      process.exit(1)
    }, stopWithinMilliseconds)
    context.announceStop()
    await app.close()
    await context.close()
    clearTimeout(late)
    logger.info('stopped')
    return 0
  } catch (error) {
    await context?.close().catch((failure: unknown) => logger.error({ err: failure }, 'closing failed'))
    throw error
  } finally {
    dataDirectory.release()
  }
}
