import type { Expected } from '../stores/revision.ts'

/** `ETag` of a revision: strong, because equal revisions are equal in every byte that counts. */
export function entityTagOf(revision: number): string {
  return `"${revision}"`
}

/**
 * Whether `If-Match` names the revision (RFC 9110 13.1.1): `*` names whatever there is. A weak tag counts like the
 * strong one that was given out, because proxies that compress make it weak on its way, and a revision is exact.
 */
export function matchesRevision(ifMatch: string, revision: number): boolean {
  if (ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === entityTagOf(revision))
}

/** The revisions that `If-Match` of a request names. */
export function expectedBy(headers: { readonly 'if-match'?: string | undefined }): Expected {
  const ifMatch = headers['if-match']
  return ifMatch === undefined ? undefined : (revision) => matchesRevision(ifMatch, revision)
}

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = tag.replace(/^W\//, '')
  return (ifNoneMatch ?? '').split(',').some((each) => each.trim().replace(/^W\//, '') === opaque)
}
