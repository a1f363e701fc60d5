import {
  AuthenticationError,
  ConnectionError,
  MillraceError,
  TimeoutError,
  UnavailableError,
} from '@millrace/sdk'
import { QueryClient } from '@tanstack/react-query'
import { SessionEnded } from '../session/session.ts'

/** Whether asking again may help: the service was not reached, or is busy. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof TimeoutError || error instanceof UnavailableError

export const isSessionEnded = (error: unknown): boolean =>
  error instanceof SessionEnded || error instanceof AuthenticationError

export const statusOf = (error: unknown): number | undefined =>
  error instanceof MillraceError ? error.status : undefined

export const queryClient = new QueryClient({
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
