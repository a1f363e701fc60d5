import { type Addresses, publicUrlOf } from './curl.ts'
import { quickStart } from './quick-start.ts'

const lead =
  'Takes events from web, mobile and servers and answers questions about them. Self-hosted, one service.'

const values =
  'The first start printed the values in capitals and wrote them, without the password, to bootstrap.json in the data directory.'

const doors = [
  ['/docs', 'Documents', 'guides, and every operation with examples'],
  ['/v2/openapi.json', 'OpenAPI 3.1', 'the same for tools'],
  ['/health/ready', 'Health', 'whether it is ready'],
] as const

interface WelcomeContext {
  readonly addresses: Addresses
  readonly version: string
}

/** What this is and where to go, for a terminal. */
export function welcomeText({ addresses, version }: WelcomeContext): string {
  const publicUrl = publicUrlOf(addresses)
  return [
    `Millrace ${version}`,
    lead,
    '',
    ...doors.map(([path, , says]) => `  ${publicUrl}${path}`.padEnd(46) + says),
    ...quickStart(addresses).flatMap(({ title, command }) => ['', `# ${title}`, command]),
    '',
    values,
    '',
  ].join('\n')
}
