/** `ETag` of a revision: strong, because equal revisions are equal in every byte that counts. */
export function entityTagOf(revision: number): string {
  return `"${revision}"`
}

/**
 * Whether `If-Match` names the revision (RFC 9110 13.1.1): `*` names whatever there is, and a weak tag never matches.
 */
export function matchesRevision(ifMatch: string, revision: number): boolean {
  if (ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((tag) => tag.trim() === entityTagOf(revision))
}
