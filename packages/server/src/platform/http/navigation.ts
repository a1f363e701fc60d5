import type { FastifyRequest } from 'fastify'
import { DomainError } from '../errors.ts'

/**
 * Whether a browser opens this address as a page, as far as it says so (W3C Fetch Metadata): an image, a
 * frame, a script or a prefetch of a page that anyone has made does not. Older browsers and programs say nothing;
 * the fetch of Node.js says its mode alone.
 */
export function isNavigation({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-dest': destination, 'sec-fetch-mode': mode, 'sec-fetch-site': site } = headers
  if (headers['sec-purpose']?.includes('prefetch')) return false
  if (destination !== undefined && destination !== 'document') return false
  const isProgram = destination === undefined && site === undefined && mode === 'cors'
  return mode === undefined || mode === 'navigate' || isProgram
}

const message = {
  en: 'This address is for a page of its own: open it in a window, not as part of another page',
  fr: 'Cette adresse s’ouvre seule dans une fenêtre, et non comme partie d’une autre page.',
}

/** @throws DomainError `forbidden`, which costs nothing and is not counted */
export function requireNavigation(request: FastifyRequest): void {
  if (!isNavigation(request)) throw new DomainError('forbidden', {}, { message })
}
