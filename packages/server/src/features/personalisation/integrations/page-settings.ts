import { createHash } from 'node:crypto'
import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'

/** What a page has to know to show an integration: without names and without ids that its addresses do not show. */
export function pageSettingsOf(integration: Integration): PageIntegration {
  const { shortId, format, display, click, selector, emplacement, code } = integration
  const { includeContext, includeDatalayerPath, waitForEvents, filters } = integration
  return {
    shortId,
    kind: format.endsWith('-image') ? 'image' : format === 'json' ? 'json' : 'html',
    display,
    click,
    selector,
    emplacement,
    includeContext,
    includeDatalayerPath,
    waitForEvents,
    filters,
    code,
  }
}

/** A script that runs from a file of its own, which a content security policy allows as it allows the tracker. */
export interface CodeFile {
  /** From the address of the tracker on; another one for every text. */
  readonly path: string
  readonly text: string
}

export function codeFileOf(companyId: string, shortId: string, text: string): CodeFile {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16)
  return { path: `t-code/${companyId}/${shortId}-${hash}.js`, text }
}
