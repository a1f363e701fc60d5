import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { encodeAround } from './addresses.ts'
import { embedScript } from './embed-script.ts'

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** For an attribute in double quotes. What a sending tool replaces stays as it is. */
const attribute = (text: string): string =>
  encodeAround(text, (part) => part.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? ''))

/** JSON that neither ends a script element nor opens a comment in it. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/** HTML to paste where the integration is to be shown (docs/workflows.md, Integrations). */
export function snippetOf(integration: Integration): string {
  const { type, format, display, click, selector } = integration
  if (format === 'page') return `<a href="${attribute(display)}">Open</a>`
  const isImage = format.endsWith('-image')
  if (isImage && (type !== 'web' || selector === undefined)) {
    return `<a href="${attribute(click)}"><img src="${attribute(display)}" alt=""></a>`
  }
  const { code, includeContext, includeDatalayerPath, waitForEvents, filters, emplacement } = integration
  const settings = {
    display,
    click,
    kind: isImage ? 'image' : format === 'json' ? 'json' : 'html',
    selector,
    emplacement,
    includeContext,
    includeDatalayerPath,
    waitForEvents,
    filters,
    code,
  }
  return `<script>\n${embedScript}(${inScript(settings)})\n</script>`
}
