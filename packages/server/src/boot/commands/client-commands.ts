import { grantTypes } from '../../features/identity/sessions/clients/client-service.ts'
import type { ClientSummary } from '../../features/identity/sessions/clients/client-store.ts'
import { list, type OperatorCommand } from './operator-command.ts'

export const createClientCommand: OperatorCommand = {
  name: 'client create',
  summary: 'Makes an OAuth client and prints its client_id, which every token request names.',
  options: {
    name: { value: 'NAME', required: true, description: 'Name of the client, as users see it' },
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
    origin: {
      value: 'ORIGIN',
      several: true,
      description: 'Origin whose pages may read answers of the interface, as https://app.example (CORS)',
    },
    native: {
      description: 'An application on a device: a redirect URI may begin with com.example.app:/',
    },
    'third-party': { description: 'An application of others: users are asked for consent' },
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
      origins: values.all('origin'),
      native: values.has('native'),
      firstParty: !values.has('third-party'),
      rotatesRefreshTokens: values.has('rotate-refresh-tokens'),
    })
    return { data: { ...client }, lines: [client.id] }
  },
}

function describe(client: ClientSummary): string[] {
  const kinds = [
    client.native && 'native',
    !client.firstParty && 'third-party',
    client.rotatesRefreshTokens && 'rotates refresh tokens',
    !client.active && 'closed',
  ].filter(Boolean)
  return [
    `${client.id}  ${client.name}${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`,
    `  grants         ${list(client.grants)}`,
    `  redirect URIs  ${list(client.redirectUris)}`,
    `  origins        ${list(client.origins)}`,
  ]
}

export const listClientsCommand: OperatorCommand = {
  name: 'client list',
  summary: 'Lists OAuth clients with their redirect URIs and origins.',
  options: {},
  async run(_values, { clients }) {
    const found = await clients.listClients()
    return { data: { clients: found }, lines: found.flatMap(describe) }
  },
}

export const updateClientCommand: OperatorCommand = {
  name: 'client update',
  summary: 'Adds origins to an OAuth client or removes them, within a second in every process, and shows it.',
  options: {
    client: { value: 'ID', required: true, description: 'Its client_id' },
    'add-origin': {
      value: 'ORIGIN',
      several: true,
      description: 'Origin whose pages may read answers of the interface, as https://app.example (CORS)',
    },
    'remove-origin': { value: 'ORIGIN', several: true, description: 'Origin whose pages no longer may' },
  },
  async run(values, { clients }) {
    const client = await clients.updateOrigins(values.get('client') ?? '', {
      added: values.all('add-origin'),
      removed: values.all('remove-origin'),
    })
    return { data: { ...client }, lines: describe(client) }
  },
}
