import {
  AuthenticationError,
  ConnectionError,
  MillraceError,
  TimeoutError,
  UnavailableError,
} from '@millrace/sdk'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { SessionEnded } from '../session/session.ts'

/** Of who uses the page: `profileQuery`. */
export const profileKey = ['profile'] as const

/** Whether asking again may help: the service was not reached, or is busy. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof TimeoutError || error instanceof UnavailableError

export const isSessionEnded = (error: unknown): boolean =>
  error instanceof SessionEnded || error instanceof AuthenticationError

export const statusOf = (error: unknown): number | undefined =>
  error instanceof MillraceError ? error.status : undefined

/**
 * What one request learns concerns the whole page: the service is gone, or the role allows something else now. The
 * profile, asked again, says so to the banner and to the navigation.
 */
function askForProfile(error: Error): void {
  if (isPassing(error) || statusOf(error) === 403)
    void queryClient.refetchQueries({ queryKey: profileKey, type: 'active' }, { cancelRefetch: false })
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      // It asks again by itself.
      if (queryKey[0] !== profileKey[0]) askForProfile(error)
    },
  }),
  mutationCache: new MutationCache({ onError: askForProfile }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (failures, error) => isPassing(error) && failures < 3,
      retryDelay: (failures) => Math.min(1_000 * 2 ** failures, 15_000),
      // A screen whose question failed asks again once the service is back.
      refetchInterval: ({ state }) => (isPassing(state.error) ? 10_000 : false),
      refetchOnWindowFocus: true,
      throwOnError: false,
    },
  },
})
