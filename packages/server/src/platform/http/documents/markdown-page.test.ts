import { expect, test } from 'vitest'
import { anchorOf, renderInlineMarkdown, renderMarkdown, renderMarkdownPage } from './markdown-page.ts'

const render = (source: string) => renderMarkdownPage(source, (href) => (href === 'gone' ? undefined : href))
const bodyOf = (source: string): string => render(source).body.markup.trim()

test('shows markup that a page holds as text, wherever it stands', () => {
  const attack = '<script>alert(1)</script>'
  for (const source of [
    attack,
    `a ${attack} b`,
    `\`${attack}\``,
    `\`\`\`html\n${attack}\n\`\`\``,
    `| ${attack} |\n|---|\n| <img src=x onerror=a> |`,
    `- ${attack}`,
    `> ${attack}`,
    `## ${attack}`,
    `[${attack}](https://a.example)`,
    `![${attack}](x.png)`,
    `<!-- x --> ${attack}`,
    '[a](https://a.example/"onmouseover="b)',
    `<div>\n${attack}\n</div>`,
  ]) {
    expect(bodyOf(source)).not.toMatch(/<(script|img|div onclick|div>)|<[^>]*\son\w+=/)
  }
  expect(bodyOf(`a ${attack}`)).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
})

test('shows pictures of the service alone, of others their text', () => {
  expect(bodyOf('![A "b"](/docs/pictures/a.webp)')).toBe(
    '<p><img src="/docs/pictures/a.webp" alt="A &quot;b&quot;" loading="lazy"></p>',
  )
  for (const href of ['https://a.example/b.webp', '//a.example/b.webp', 'data:image/png,x', 'gone'])
    expect(bodyOf(`![A picture](${href})`)).toBe('<p>A picture</p>')
})

test('shows entities as the characters that they stand for', () => {
  expect(bodyOf('a &lt;b&gt; &amp; c')).toBe('<p>a &lt;b&gt; &amp; c</p>')
  expect(bodyOf('`&lt;`')).toBe('<p><code>&amp;lt;</code></p>')
})

test('shows only the text of a link that leads nowhere', () => {
  expect(bodyOf('[a](gone) [b](here)')).toBe('<p>a <a href="here">b</a></p>')
})

test('leaves out comments, which mark generated tables, and keeps the table between them', () => {
  expect(bodyOf('<!-- begin x -->\n| a |\n|---|\n| 1 |\n<!-- end x -->')).toMatch(
    /^<div class="wide"[^>]*><table>\n<thead><tr><th scope="col">a<\/th><\/tr><\/thead>\n<tbody><tr><td>1<\/td><\/tr>\n<\/tbody>\n<\/table><\/div>$/,
  )
})

test('gives headings the anchors of GitHub, each once', () => {
  const { headings, body } = render('# Title\n## A `b`, c!\n### Été_1 - x\n## A b c\n')
  expect(headings).toEqual([
    { level: 1, text: 'Title', anchor: 'title' },
    { level: 2, text: 'A b, c!', anchor: 'a-b-c' },
    { level: 3, text: 'Été_1 - x', anchor: 'été_1---x' },
    { level: 2, text: 'A b c', anchor: 'a-b-c-1' },
  ])
  expect(body.markup).toContain('<h2 id="a-b-c-1"><a href="#a-b-c-1">A b c</a></h2>')
  expect(body.markup).not.toContain('<h1')
  expect(anchorOf('What `npm test` runs')).toBe('what-npm-test-runs')
})

test('keeps the code of a block as it is, and its language out of sight', () => {
  expect(bodyOf('```sh no-run: why\necho "a  b" <x>\n```')).toBe(
    '<pre tabindex="0" aria-label="sh"><code>echo &quot;a  b&quot; &lt;x&gt;</code></pre>',
  )
})

test('descriptions of the contract are read as pages are, and lead nowhere', () => {
  expect(renderMarkdown('A `<b>` **x** [y](https://z.example):\n- one\n- two `2`').markup).toBe(
    '<p>A <code>&lt;b&gt;</code> <strong>x</strong> y:</p>\n<ul>\n<li>one</li>\n<li>two <code>2</code></li>\n</ul>\n',
  )
  expect(renderInlineMarkdown('- `a` <i>').markup).toBe('- <code>a</code> &lt;i&gt;')
})
