import './ui/tokens.css'
import './ui/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { profileQuery } from './data/profile.ts'
import { queryClient } from './data/query-client.ts'
import { metaQuery } from './data/statistics.ts'
import { SignedOut } from './layout/signed-out.tsx'
import { router } from './router.tsx'
import { session } from './session/session.ts'
import { languageOfBrowser } from './texts/texts.ts'

// What the browser prefers, until the profile says what the user does.
document.documentElement.lang = languageOfBrowser()

const root = createRoot(document.querySelector('#root') as HTMLElement)

async function start(): Promise<void> {
  try {
    // The screen's script comes while the session is opened, and what most screens ask for while that is read.
    void router.preloadRoute({ to: router.latestLocation.pathname } as never)
    const { leaving, failure } = await session.open()
    if (leaving) return
    if (failure === undefined) {
      void queryClient
        .fetchQuery(profileQuery)
        .then(({ permissions }) =>
          permissions.includes('statistics:access') ? queryClient.prefetchQuery(metaQuery) : undefined,
        )
        // The screens ask again, and say what is wrong.
        .catch(() => undefined)
    }
    root.render(
      <StrictMode>
        {failure === undefined ? (
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        ) : (
          <SignedOut failure={failure} />
        )}
      </StrictMode>,
    )
  } catch {
    // The service does not answer: it is asked again, as by every screen.
    root.render(<SignedOut isUnreachable />)
    setTimeout(start, 3_000)
  }
}

void start()
