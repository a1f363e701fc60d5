import { Html, html } from './html.ts'

/** Code spans and bold words of one line. */
export function inlineMarkdown(text: string): Html {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`') && part.length > 2) return html`<code>${part.slice(1, -1)}</code>`
    if (part.startsWith('**') && part.length > 4) return html`<strong>${part.slice(2, -2)}</strong>`
    return html`${part}`
  })
  return new Html(parts.map(({ markup }) => markup).join(''))
}

/** The markdown that the contract's descriptions use: paragraphs, lists with `- `, code spans, bold words. */
export function markdown(text: string): Html {
  const blocks = text.split(/\n{2,}/).map((block) => {
    if (!block.startsWith('- ')) return html`<p>${inlineMarkdown(block)}</p>`
    const items = block.split(/\n?^- /m).filter((item) => item !== '')
    return html`<ul>${items.map((item) => html`<li>${inlineMarkdown(item)}</li>`)}</ul>`
  })
  return new Html(blocks.map(({ markup }) => markup).join('\n'))
}
