import type { Expression } from './member.ts'

/** SQL of the parts of an address, which a column holds as it was sent (docs/statistics.md, events). */
interface Address {
  readonly withoutQuery: string
  /** Whether it is an address, with `//` behind nothing or behind a scheme; anything else names a screen of an app. */
  readonly hasAuthority: string
  /** The authority without port; an IPv6 address keeps its brackets. */
  readonly hostOfAuthority: string
}

function addressIn(column: string): Address {
  const withoutQuery = `cutQueryStringAndFragment(${column})`
  const colon = `position(${withoutQuery}, ':')`
  // Nearly all addresses are told by their first letters.
  const hasAuthority =
    `startsWith(${column}, 'https://') OR startsWith(${column}, 'http://') OR startsWith(${column}, '//') OR (${colon} > 1 AND position(${withoutQuery}, '/') = ${colon} + 1 ` +
    `AND substring(${withoutQuery}, ${colon}, 3) = '://')`
  // What stands between `//` and the path, without user.
  const authority = `substringIndex(substringIndex(substring(${withoutQuery}, position(${withoutQuery}, '//') + 2), '/', 1), '@', -1)`
  const hostOfAuthority =
    `if(startsWith(${authority}, '['), concat(substringIndex(${authority}, ']', 1), ']'), ` +
    `substringIndex(${authority}, ':', 1))`
  return { withoutQuery, hasAuthority, hostOfAuthority }
}

/** `domain` is fast, and empty for names without a dot and for addresses with a user: those take the long way. */
export function hostOf(column: string): Expression {
  const { hasAuthority, hostOfAuthority } = addressIn(column)
  return {
    sql:
      `if(NOT (${hasAuthority}), NULL, ` +
      `nullIf(lower(if(domain(${column}) != '', domain(${column}), ${hostOfAuthority})), ''))`,
    columns: [column],
  }
}

export function pathOf(column: string): Expression {
  const { withoutQuery, hasAuthority } = addressIn(column)
  return {
    sql: `if(${hasAuthority}, if(path(${withoutQuery}) = '', '/', path(${withoutQuery})), nullIf(${withoutQuery}, ''))`,
    columns: [column],
  }
}

export function utmOf(column: string, parameter: string): Expression {
  return {
    sql: `nullIf(decodeURLFormComponent(extractURLParameter(cutFragment(${column}), '${parameter}')), '')`,
    columns: [column],
  }
}
