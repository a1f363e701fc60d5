import { createHash } from 'node:crypto'
import { Html, type HtmlPart, html } from './html.ts'
import { style } from './style.ts'

const icon =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Cpath d="M1 5q3.5-3 7 0t7 0M1 11q3.5-3 7 0t7 0" fill="none" stroke="%230b8a84" stroke-width="2.2" stroke-linecap="round"/%3E%3C/svg%3E'

const styleHash = createHash('sha256').update(style).digest('base64')

/** Nothing runs, nothing is loaded, nothing may embed the page; only its own style and icon are shown. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export interface PageOptions {
  readonly language?: string
  /** Where the browser is sent without a click. */
  readonly refreshTo?: string | undefined
}

/** A whole page around this body. */
export function page(
  title: string,
  body: HtmlPart,
  { language = 'en', refreshTo }: PageOptions = {},
): string {
  const whole = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refreshTo !== undefined && html`<meta http-equiv="refresh" content="0;url=${refreshTo}">`}
<link rel="icon" href="${icon}">
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`
  return whole.markup
}

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g

/** A JSON text with its keys, texts and numbers distinguished by colour. */
export function colouredJson(text: string): Html {
  const parts: HtmlPart[] = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const [whole, quoted, colon, word] = match
    parts.push(text.slice(end, match.index))
    if (quoted === undefined) parts.push(html`<span class="n">${word}</span>`)
    else parts.push(html`<span class="${colon === undefined ? 's' : 'k'}">${quoted}</span>${colon}`)
    end = match.index + whole.length
  }
  return html`${parts}${text.slice(end)}`
}

/** A block of code that can be scrolled sideways, by keyboard too. */
export function codeBlock(code: HtmlPart, label: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code>${code}</code></pre>`
}
