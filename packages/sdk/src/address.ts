/**
 * The address of the service without a slash at the end and without `/v2`.
 * @param name the option that holds it
 * @param credentials what to do with a user and password instead
 * @throws {TypeError} for anything but an absolute http or https address, and for the address of a collector
 */
export function readAddress(name: string, text: unknown, credentials: string): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  // First, so that no message below repeats a password.
  if (url && (url.username !== '' || url.password !== ''))
    throw new TypeError(`${name} must not hold a user and password: ${credentials}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new TypeError(
      `${name} must be the address of the service, as https://millrace.example.com, it is ${JSON.stringify(text)}`,
    )
  const collector = /\/collect\/[^/]+(?:\/tracker)?\/*$/.exec(url.pathname)
  if (collector)
    throw new TypeError(
      `${name} must be the address of the service alone, as ${url.origin}${url.pathname.slice(0, collector.index)}: leave out ${collector[0]}`,
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v2$/, '')}`
}
