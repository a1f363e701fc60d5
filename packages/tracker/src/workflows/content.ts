import type { PageIntegration } from '@millrace/contract/resources/page-integration.ts'

/** What an integration shows: nodes for its host, or JSON for the page. */
export type Content =
  | { readonly kind: 'nodes'; readonly nodes: Node; readonly afterwards: (root: ShadowRoot) => void }
  | { readonly kind: 'json'; readonly detail: unknown }

export interface ContentRequest {
  readonly kind: PageIntegration['kind']
  /** Of the content, and of the link behind an image. */
  readonly display: string
  readonly click: string
  /** By which the page's content security policy knows scripts that it trusts. */
  readonly nonce: string | undefined
  readonly signal: AbortSignal
}

/** What the runner answers to an image for which there is none: transparent, 600 by 1 pixels. */
const isBlank = ({ naturalWidth, naturalHeight }: HTMLImageElement) =>
  naturalWidth === 600 && naturalHeight === 1

/** Undefined where there is nothing to show. @throws (rejects) when it cannot be had */
export async function fetchContent(request: ContentRequest): Promise<Content | undefined> {
  if (request.kind === 'image') return fetchImage(request)
  const reply = await fetch(request.display, { credentials: 'omit', signal: request.signal })
  if (reply.status !== 200) return undefined
  if (request.kind === 'json') return { kind: 'json', detail: await reply.json() }
  return contentOfHtml(await reply.text(), request.nonce)
}

/** Complete before it is put in, so that the place is never empty or broken in between. */
async function fetchImage({ display, click, signal }: ContentRequest): Promise<Content | undefined> {
  const image = document.createElement('img')
  image.alt = ''
  // Styles of the page do not reach it.
  image.style.maxWidth = '100%'
  image.style.height = 'auto'
  await new Promise<void>((resolve, reject) => {
    image.onload = () => resolve()
    image.onerror = () => reject(new Error('the image cannot be loaded'))
    signal.addEventListener('abort', () => reject(signal.reason))
    image.src = display
  })
  if (isBlank(image)) return undefined
  const link = document.createElement('a')
  link.href = click
  link.append(image)
  return { kind: 'nodes', nodes: link, afterwards() {} }
}

function contentOfHtml(html: string, nonce: string | undefined): Content {
  const nodes = document.createRange().createContextualFragment(html)
  if (nonce) for (const script of nodes.querySelectorAll('script')) script.nonce = nonce
  return { kind: 'nodes', nodes, afterwards: restoreStyles }
}

/**
 * A content security policy without `unsafe-inline` blocks styles in markup, and not those that a script sets. The page
 * trusts this script, so its content looks as it would without a policy.
 */
function restoreStyles(root: ShadowRoot): void {
  const blocked = [...root.querySelectorAll('style')].filter(({ sheet }) => !sheet)
  root.adoptedStyleSheets = blocked.map(({ media, textContent }) => {
    const sheet = new CSSStyleSheet({ media })
    sheet.replaceSync(textContent ?? '')
    return sheet
  })
  for (const element of root.querySelectorAll<HTMLElement>('[style]')) {
    if (element.style.length === 0) element.style.cssText = element.getAttribute('style') ?? ''
  }
}
