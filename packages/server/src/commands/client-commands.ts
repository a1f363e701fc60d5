import { grantTypes } from '../features/auth/client-service.ts'
import type { OperatorCommand } from './operator-command.ts'

export const createClientCommand: OperatorCommand = {
  name: 'client create',
  summary: 'Makes an OAuth client and prints its client_id, which every token request names.',
  options: {
    name: { value: 'NAME', required: true, description: 'What the client is, for people' },
    grant: {
      value: 'TYPE',
      several: true,
      description: `Grant that it may use: ${grantTypes.join(' or ')}; default all`,
    },
    'redirect-uri': {
      value: 'URL',
      several: true,
      description: 'Address that a sign-in in the browser may return to',
    },
    'third-party': { description: 'An application of others: people are asked whether they let it in' },
    'rotate-refresh-tokens': {
      description:
        'Every refresh gives another refresh token; the one before works for 30 s more, then its use ends the session',
    },
  },
  async run(values, { clients }) {
    const client = await clients.createClient({
      name: values.get('name') ?? '',
      grants: values.all('grant'),
      redirectUris: values.all('redirect-uri'),
      firstParty: !values.has('third-party'),
      rotatesRefreshTokens: values.has('rotate-refresh-tokens'),
    })
    return { data: { ...client }, lines: [client.id] }
  },
}
