import { MillraceError } from '@millrace/sdk'

/** Who saved something since it was read, and when. */
export interface SavedMeanwhile {
  readonly userId: string | undefined
  readonly at: string | undefined
  /** The revision that is stored now. */
  readonly revision: number
  /** What the interface said: it names the user. */
  readonly message: string
}

/** What a save with `If-Match` was refused for, where another save came first. */
export function savedMeanwhile(error: unknown): SavedMeanwhile | undefined {
  if (!(error instanceof MillraceError) || !error.is('savedMeanwhile')) return undefined
  const { lastSavedBy, updatedAt, revision } = error.data
  return { userId: lastSavedBy ?? undefined, at: updatedAt, revision, message: error.message }
}

/** The header with which a save happens on top of what was read alone. */
export const ifMatch = (revision: number): { readonly 'if-match': string } => ({
  'if-match': `"${revision}"`,
})
