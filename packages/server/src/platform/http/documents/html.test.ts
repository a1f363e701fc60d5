import { expect, test } from 'vitest'
import { html } from './html.ts'
import { colouredJson } from './page.ts'

test('escapes what is put into markup and keeps markup', () => {
  const name = `<img src=x onerror='a'> & "b"`
  expect(html`<p title="${name}">${html`<b>${name}</b>`}${[1, false, undefined]}</p>`.markup).toBe(
    '<p title="&lt;img src=x onerror=&#39;a&#39;&gt; &amp; &quot;b&quot;"><b>&lt;img src=x onerror=&#39;a&#39;&gt; &amp; &quot;b&quot;</b>1</p>',
  )
})

test('keeps backslashes as they are', () => {
  expect(html`<p>\n${'\\n'}</p>`.markup).toBe('<p>\n\\n</p>')
})

test('colours JSON and changes no character of it', () => {
  const text = '{ "a": "b: \\"1\\"", "n": -1.5e3, "t": true, "<": null }'
  const { markup } = colouredJson(text)
  expect(
    markup
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<'),
  ).toBe(text)
  expect(markup).toContain('<span class="k">&quot;a&quot;</span>:')
  expect(markup).toContain('<span class="n">-1.5e3</span>')
})
