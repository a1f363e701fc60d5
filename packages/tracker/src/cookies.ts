import { attempt } from './attempt.ts'

/**
 * The decoded value of a name within cookies or an address, its fragment included; empty where there is none,
 * undefined where it cannot be read.
 * @param name letters, hyphens and underscores
 */
export const readValue = (read: () => string, name: string): string | undefined =>
  attempt(() => decodeURIComponent(read().match(`(^|[?&#; ])${name}=([^&#;]*)`)?.[2] ?? ''))

export const readCookie = (name: string): string | undefined => readValue(() => document.cookie, name)

/**
 * Sets a cookie on the widest domain that the browser accepts, which is the registrable one; it refuses those above.
 * Without a value it is deleted.
 * @param domain the only one to try
 */
export const writeCookie = (
  name: string,
  value: string | undefined,
  seconds: number,
  domain?: string,
): void => {
  const labels = domain ? [domain] : location.hostname.split('.')
  for (let i = labels.length; i-- && readCookie(name) !== value; )
    attempt(
      () =>
        // biome-ignore lint/suspicious/noDocumentCookie: the cookie store exists on pages with https alone
        (document.cookie = `${name}=${encodeURIComponent(value as string)};path=/;max-age=${value ? seconds : 0};domain=${labels.slice(i).join('.')}`),
    )
}
