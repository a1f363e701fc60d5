import type { emplacements, IntegrationFilters } from './workflow-integration.ts'

/** What a page has to know to show an integration: nothing that its addresses do not show as well. */
export interface PageIntegration {
  /** Part of its addresses. */
  readonly shortId: string
  readonly kind: 'html' | 'image' | 'json'
  readonly display: string
  readonly click: string
  /** Absent in a snippet that stands at its place. */
  readonly selector?: string | undefined
  readonly emplacement?: (typeof emplacements)[number] | undefined
  /** Host of the site; it is shown there and below. */
  readonly domain?: string | undefined
  readonly includeContext?: boolean | undefined
  readonly includeDatalayerPath?: readonly string[] | undefined
  readonly waitForEvents?: readonly string[] | undefined
  readonly filters?: IntegrationFilters | undefined
  /** Script that runs after the content was put in. */
  readonly code?: string | undefined
  /** Path of a file with that script, from the address of the tracker on. */
  readonly codePath?: string | undefined
}

/** Those of a company that the tracker attaches, in the order of their creation. */
export interface PageIntegrations {
  readonly integrations: readonly PageIntegration[]
  /** How many there are beyond what a page attaches. */
  readonly leftOut?: number | undefined
}
