import { escapeHtml } from '../../text/escape-html.ts'

/** Markup that is safe to send. Only `html` makes it, so that every text in a page has been escaped. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

export type HtmlPart = Html | string | number | false | undefined | readonly HtmlPart[]

function render(part: HtmlPart): string {
  if (part instanceof Html) return part.markup
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(render).join('')
  return escapeHtml(String(part))
}

/** A template of markup: strings that are put in are escaped, nested markup and lists of it are kept. */
export function html(markup: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(String.raw({ raw: markup }, ...parts.map(render)))
}
