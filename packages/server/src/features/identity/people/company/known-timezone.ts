import { invalid } from '../../../../platform/invalid.ts'

export interface TimezoneDependencies {
  /** Whether the engine that computes statistics knows a zone by this name; rejects while it cannot be asked. */
  readonly knowsTimezone: (zone: string) => Promise<boolean>
}

function isKnownHere(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** @throws DomainError `validation`, at this path */
export async function requireTimezone(
  { knowsTimezone }: TimezoneDependencies,
  zone: string,
  path: string,
): Promise<void> {
  if (isKnownHere(zone) && (await knowsTimezone(zone))) return
  throw invalid(
    path,
    `must be the IANA name of a time zone, as Europe/Paris; "${zone}" is none that statistics can be computed in`,
  )
}
