import { createHmac } from 'node:crypto'
import type { LinkedAccountProvider } from '@millrace/contract/resources/linked-account.ts'
import { program, version } from '../../platform/version.ts'

/** Where messages of a linked account go; stored encrypted. */
export interface Target {
  readonly provider: LinkedAccountProvider
  readonly url: string
  /** Signs what a webhook gets. */
  readonly secret?: string | undefined
}

export interface Message {
  /** What a webhook distinguishes kinds of messages by. */
  readonly type: 'test' | 'saved-query-run'
  /** Plain text; nothing in it is markup anywhere. */
  readonly text: string
  /** What a webhook gets beside it; services for people show the text alone. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** A request that carries a message, as its provider wants it. */
export interface EncodedMessage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

interface Provider {
  /** What an address of it looks like, for messages. */
  readonly form: string
  readonly accepts: (url: URL) => boolean
  readonly encode: (message: Message, target: Target, now: number) => EncodedMessage
}

const endsWith = (host: string, suffixes: readonly string[]) =>
  suffixes.some((suffix) => host.endsWith(suffix))

/** In Slack's own markup three characters begin mentions and links. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const providers: Readonly<Record<LinkedAccountProvider, Provider>> = {
  slack: {
    form: 'an incoming webhook of Slack, https://hooks.slack.com/services/...',
    accepts: ({ hostname, pathname }) =>
      (hostname === 'hooks.slack.com' || hostname === 'hooks.slack-gov.com') &&
      /^\/services\/\w+\/\w+\/\w+$/.test(pathname),
    encode: ({ text }) => ({ body: JSON.stringify({ text: escapeSlack(text) }), headers: {} }),
  },
  teams: {
    // Workflows are what Teams takes webhooks by since connectors (webhook.office.com) have ended.
    form: 'a workflow for webhooks of Teams, https://....logic.azure.com/... or https://....api.powerplatform.com/...',
    accepts: ({ hostname }) => endsWith(hostname, ['.logic.azure.com', '.api.powerplatform.com']),
    encode: ({ text }) => ({ body: JSON.stringify(cardOf(text)), headers: {} }),
  },
  webhook: {
    form: 'any public address',
    accepts: () => true,
    encode({ type, text, details }, { secret }, now) {
      const datetime = new Date(now).toISOString()
      const body = JSON.stringify({ type, text, program, version, datetime, ...details })
      return { body, headers: secret === undefined ? {} : { 'millrace-signature': sign(secret, body, now) } }
    },
  },
}

/** A run of text is shown unchanged; the text block of a card would render Markdown. */
function cardOf(text: string) {
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] }],
        },
      },
    ],
  }
}

function sign(secret: string, body: string, now: number): string {
  const seconds = Math.floor(now / 1000)
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${signature}`
}

/**
 * What is wrong with a target before any request, in plain words; undefined when it is valid. Where its
 * address leads is checked when it is requested.
 */
export function faultOfTarget({ provider, url, secret }: Target): string | undefined {
  if (secret !== undefined && provider !== 'webhook')
    return `secret is for the provider webhook only: messages to ${provider} are not signed`
  const { form, accepts } = providers[provider]
  if (!URL.canParse(url) || !accepts(new URL(url))) return `url must be ${form}`
  return undefined
}

/** @param now milliseconds since 1970 */
export function encodeMessage(message: Message, target: Target, now: number): EncodedMessage {
  return providers[target.provider].encode(message, target, now)
}
