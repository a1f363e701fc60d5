import { createClient } from '@millrace/sdk'
import { session } from './session/session.ts'

/** Every request of the console goes through the SDK. */
export const client = createClient({
  baseUrl: location.origin,
  getAccessToken: (refused) => session.accessToken(refused),
  // TanStack Query asks again where that helps, and says so on the screen.
  maxRetries: 1,
  fetch: (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('accept-language', document.documentElement.lang)
    return fetch(input, { ...init, headers })
  },
})
