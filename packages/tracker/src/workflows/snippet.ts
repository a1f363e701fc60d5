import { isPlaceholder } from '@millrace/contract/events/placeholders.ts'
import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'
import { readCookie } from '../cookies.ts'
import { attach } from './attach.ts'

/** The service writes the settings of one integration in the place of this name. */
declare const MILLRACE_INTEGRATION: PageIntegration

const script = document.currentScript

/** In a page without the tracker too: by the cookies that it left, and by the address. */
attach({
  integrations: [MILLRACE_INTEGRATION],
  visitor(page) {
    const named = page.searchParams.get('trk-u')
    return {
      clientId: (named && !isPlaceholder(named) ? named : readCookie('trk_clientId')) ?? '',
      tmpId: readCookie('trk_tmpId') ?? '',
    }
  },
  self: script ?? undefined,
  nonce: script?.nonce,
  codeUrl: undefined,
})
