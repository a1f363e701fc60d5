import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from './running-service.ts'
import { until } from './until.ts'

/** The latest mail to an address in the mail directory of a service, decoded, once there is one. */
export async function mailTo(
  { dataDirectory }: Pick<Service, 'dataDirectory'>,
  address: string,
): Promise<string> {
  const outbox = join(dataDirectory, 'outbox')
  return until(() => {
    // Names are identifiers, which sort by age.
    const files = readdirSync(outbox).filter((name) => name.endsWith('.eml'))
    const mails = files.sort().map((name) => readFileSync(join(outbox, name), 'utf8'))
    const found = mails.findLast((text) => new RegExp(`^To: ${address}$`, 'm').test(text))
    return found?.replaceAll('=\n', '').replaceAll('=3D', '=')
  }, 50)
}

/** The link for a password in the latest mail to an address. */
export async function linkMailedTo(
  service: Pick<Service, 'dataDirectory'>,
  address: string,
): Promise<string> {
  const [link] =
    /http\S+\/v2\/oauth\/set-password\?token=[\w-]{43}/.exec(await mailTo(service, address)) ?? []
  if (link === undefined) throw new Error(`no link in the mail to ${address}`)
  return link
}
