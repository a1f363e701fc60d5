import { readFileSync } from 'node:fs'
import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { packageFile } from '../../../platform/files/package-files.ts'
import { escapeHtml } from '../../../platform/text/escape-html.ts'
import { encodeAround } from './addresses.ts'
import { pageSettingsOf } from './page-settings.ts'

/** For an attribute in double quotes. What a sending tool replaces stays as it is. */
const attribute = (text: string): string => encodeAround(text, escapeHtml)

/** JSON that neither ends a script element nor opens a comment in it. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/** Built from packages/tracker/src/workflows/snippet.ts, around the name in whose place the settings belong. */
const builtSnippet = packageFile('../tracker/dist/embedded/snippet.js')
const [beforeSettings = '', afterSettings = ''] = readFileSync(builtSnippet, 'utf8').split(
  'MILLRACE_INTEGRATION',
)

/** HTML to paste where the integration is to be shown (docs/workflows.md, Integrations). */
export function snippetOf(integration: Integration): string {
  const { type, format, display, click, selector } = integration
  if (format === 'page') return `<a href="${attribute(display)}">Open</a>`
  if (format.endsWith('-image') && (type !== 'web' || selector === undefined)) {
    return `<a href="${attribute(click)}"><img src="${attribute(display)}" alt=""></a>`
  }
  return `<script>\n${beforeSettings}${inScript(pageSettingsOf(integration))}${afterSettings.trim()}\n</script>`
}
