import type { VariableProfile } from '@millrace/contract/resources/variable-profile.ts'

type Parameters = Readonly<Record<string, string>>

export interface AddressParts {
  readonly publicUrl: string
  readonly shortId: string
  readonly parameters: Parameters
  /** Of the workflow's variable profile. */
  readonly profile: VariableProfile['parameters']
}

/**
 * Placeholders that sending tools replace before an address is asked for. Each form is bounded, and none holds another,
 * so that the time is linear.
 */
const placeholders = new RegExp(
  [
    String.raw`\{\{[^\r\n]{1,200}?\}\}\}?`,
    String.raw`\{%[^\r\n]{1,200}?%\}`,
    String.raw`%%[^%\r\n]{1,200}%%`,
    String.raw`\*\|[^|\r\n]{1,200}\|\*`,
    String.raw`\[%[^\r\n]{1,200}?%\]`,
    String.raw`\[\[[^\r\n]{1,200}?\]\]`,
    String.raw`\$\{[^}\r\n]{1,200}\}`,
    String.raw`<%[^\r\n]{1,200}?%>`,
    '%[A-Z_]{1,100}%',
  ].join('|'),
  'g',
)

/** Encodes all of a text but its placeholders. */
export function encodeAround(text: string, encode: (part: string) => string): string {
  let encoded = ''
  let from = 0
  for (const { 0: placeholder, index } of text.matchAll(placeholders)) {
    encoded += encode(text.slice(from, index)) + placeholder
    from = index + placeholder.length
  }
  return encoded + encode(text.slice(from))
}

/**
 * Parameters in the order of the address: those of the profile, with the value of the integration where it has one, then
 * its further ones. One without a value, or with an empty one, is left out.
 */
function parametersOf({ parameters, profile }: AddressParts): [name: string, value: string][] {
  const own = new Map(Object.entries(parameters))
  const values = new Map(profile.map((each) => [each.name, own.get(each.name) ?? each.default ?? '']))
  for (const [name, value] of own) values.set(name, value)
  return [...values].filter(([, value]) => value !== '')
}

/** Addresses of an integration: of its content, and behind it (docs/workflows.md, Integrations). */
export function addressesOf(parts: AddressParts): { display: string; click: string } {
  const address = `${parts.publicUrl}/r/${parts.shortId}`
  const query = parametersOf(parts).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeAround(value, encodeURIComponent)}`,
  )
  return {
    display: query.length === 0 ? address : `${address}?${query.join('&')}`,
    click: `${address}?${[...query, 'mode=click'].join('&')}`,
  }
}
