import type { Integration } from '@millrace/contract/resources/workflow-integration.ts'
import { expect, test } from 'vitest'
import { snippetOf } from './snippet.ts'

const integration: Integration = {
  id: '65f0c0ffee5ca1ab1e0ddba1',
  workflowId: '65f0c0ffee5ca1ab1e0ddba2',
  shortId: 'k3v9X1pQ0z',
  entrypointId: 'zone',
  entrypointState: 'live',
  type: 'email',
  format: 'embed-image',
  outputTypes: ['image'],
  parameters: {},
  display: 'https://millrace.example/r/k3v9X1pQ0z?a=1&u={{ id | default: "x" }}',
  click: 'https://millrace.example/r/k3v9X1pQ0z?a=1&mode=click',
  enabled: true,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}

test('an image is linked, its addresses escaped but for placeholders', () => {
  expect(snippetOf(integration)).toBe(
    '<a href="https://millrace.example/r/k3v9X1pQ0z?a=1&amp;mode=click">' +
      '<img src="https://millrace.example/r/k3v9X1pQ0z?a=1&amp;u={{ id | default: "x" }}" alt=""></a>',
  )
})

test('a script is one element whatever the settings hold, and parses', () => {
  const hostile = '</script><!--<script>\u2028"\'`$' + '{1}'
  const html = snippetOf({
    ...integration,
    type: 'web',
    format: 'embed-html',
    selector: `[title="${hostile.replaceAll('"', '')}"]`,
    code: hostile,
    filters: { type: 'and', conditions: [{ operator: 'eq', field: hostile, values: [hostile] }] },
  })
  expect(html.match(/<\/script/gi)).toHaveLength(1)
  expect(html).not.toContain('<!--')
  const [, script = ''] = /^<script>\n([\s\S]*)\n<\/script>$/.exec(html) ?? []
  expect(() => new Function(script)).not.toThrow()
})

test('a landing page is a link', () => {
  expect(snippetOf({ ...integration, type: 'landing', format: 'page' })).toMatch(
    /^<a href="[^<]*">Open<\/a>$/,
  )
})
