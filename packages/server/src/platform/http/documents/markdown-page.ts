import { Lexer, lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { type Html, html } from './html.ts'
import { codeBlock, colouredJson } from './page.ts'

export interface Heading {
  /** From 1, the title, to 6. */
  readonly level: number
  readonly text: string
  /** The one that GitHub gives it. */
  readonly anchor: string
}

export interface MarkdownPage {
  readonly headings: readonly Heading[]
  /** Without the title. */
  readonly body: Html
}

/** Where a link of a page leads on the web; nothing where it leads nowhere there, and only its text is shown. */
export type LinkTarget = (href: string) => string | undefined

/** Where the pictures of docs/pictures are on the web. */
export const picturePath = '/docs/pictures/'

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}

function textOf(tokens: readonly Token[]): string {
  return (tokens as readonly MarkedToken[])
    .map((token) =>
      'tokens' in token && token.tokens !== undefined
        ? textOf(token.tokens)
        : 'text' in token
          ? unescaped(token.text)
          : '',
    )
    .join('')
}

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (entity) => entities[entity] ?? entity)

/** The anchor of a heading as GitHub makes it, so that links lead to the same place in the repository. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

function createAnchors(): (text: string) => string {
  const met = new Map<string, number>()
  return (text) => {
    const anchor = anchorOf(text)
    const times = met.get(anchor) ?? 0
    met.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  }
}

function createRenderer(target: LinkTarget, anchors: ReadonlyMap<Token, string>) {
  const all = (tokens: readonly Token[] | undefined): Html[] =>
    ((tokens ?? []) as readonly MarkedToken[]).map(one)

  function heading(token: Tokens.Heading): Html {
    const anchor = anchors.get(token)
    const link = html`<a href="#${anchor}">${all(token.tokens)}</a>`
    if (token.depth === 1) return html``
    if (token.depth === 2) return html`<h2 id="${anchor}">${link}</h2>\n`
    if (token.depth === 3) return html`<h3 id="${anchor}">${link}</h3>\n`
    return html`<h4 id="${anchor}">${link}</h4>\n`
  }

  function table({ header, rows }: Tokens.Table): Html {
    return html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${header.map(({ tokens }) => html`<th scope="col">${all(tokens)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(({ tokens }) => html`<td>${all(tokens)}</td>`)}</tr>\n`)}</tbody>
</table></div>\n`
  }

  function list({ ordered, start, items }: Tokens.List): Html {
    const members = items.map((item) => html`<li>${all(item.tokens)}</li>\n`)
    if (!ordered) return html`<ul>\n${members}</ul>\n`
    return html`<ol start="${start === '' ? 1 : start}">\n${members}</ol>\n`
  }

  function code({ text, lang = '' }: Tokens.Code): Html {
    const [language = ''] = lang.split(' ', 1)
    return codeBlock(language === 'json' ? colouredJson(text) : text, language || 'Text')
  }

  function link({ href, tokens }: Tokens.Link): Html {
    const to = target(href)
    return to === undefined ? html`${all(tokens)}` : html`<a href="${to}">${all(tokens)}</a>`
  }

  /** A page loads pictures of its own service alone; of any other its text is shown. */
  function image({ href, text }: Tokens.Image): Html {
    const from = target(href)
    if (!from?.startsWith(picturePath)) return html`${text}`
    return html`<img src="${from}" alt="${text}" loading="lazy">`
  }

  function one(token: MarkedToken): Html {
    switch (token.type) {
      case 'heading':
        return heading(token)
      case 'table':
        return table(token)
      case 'list':
        return list(token)
      case 'code':
        return code(token)
      case 'link':
        return link(token)
      case 'paragraph':
        return html`<p>${all(token.tokens)}</p>\n`
      case 'blockquote':
        return html`<blockquote>${all(token.tokens)}</blockquote>\n`
      case 'hr':
        return html`<hr>\n`
      case 'strong':
        return html`<strong>${all(token.tokens)}</strong>`
      case 'em':
        return html`<em>${all(token.tokens)}</em>`
      case 'del':
        return html`<del>${all(token.tokens)}</del>`
      case 'codespan':
        return html`<code>${token.text}</code>`
      case 'br':
        return html`<br>`
      case 'text':
        return token.tokens ? html`${all(token.tokens)}` : html`${unescaped(token.text)}`
      case 'escape':
        return html`${unescaped(token.text)}`
      case 'image':
        return image(token)
      case 'html':
        // Comments mark generated tables. Any other markup is shown, never sent as such.
        return token.text.trim().startsWith('<!--') ? html`` : html`${token.text}`
      case 'space':
      case 'def':
        return html``
      case 'checkbox':
        return html`${token.checked ? '\u2611' : '\u2610'} `
      case 'list_item':
        return html`<li>${all(token.tokens)}</li>`
    }
  }
  return all
}

/** A page of Markdown as markup. HTML in it is shown as text. */
export function renderMarkdownPage(source: string, target: LinkTarget): MarkdownPage {
  const tokens = lexer(source)
  const anchor = createAnchors()
  const anchors = new Map<Token, string>()
  const headings = (tokens as readonly MarkedToken[]).flatMap((token) => {
    if (token.type !== 'heading') return []
    const text = textOf(token.tokens)
    const heading = { level: token.depth, text, anchor: anchor(text) }
    anchors.set(token, heading.anchor)
    return heading
  })
  return { headings, body: html`${createRenderer(target, anchors)(tokens)}` }
}

/** The contract's descriptions link nowhere: they are read in terminals and editors too. */
const renderDescription = createRenderer(() => undefined, new Map())

/** Markdown without headings, as the contract's descriptions are: paragraphs and lists. */
export const renderMarkdown = (text: string): Html => html`${renderDescription(lexer(text))}`

/** Markdown of one line: code spans and bold words. */
export const renderInlineMarkdown = (text: string): Html => html`${renderDescription(Lexer.lexInline(text))}`
