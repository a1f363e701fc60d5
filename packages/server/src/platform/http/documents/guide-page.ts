import { type Html, html } from './html.ts'
import type { Heading } from './markdown-page.ts'
import { page } from './page.ts'
import type { LibraryGroup, LibraryPage } from './page-library.ts'

interface Shelf {
  readonly groups: readonly LibraryGroup[]
  readonly version: string
}

function headingList(headings: readonly Heading[], levels: readonly number[]): Html {
  return html`<ul>${headings
    .filter(({ level }) => levels.includes(level))
    .map(
      ({ text, anchor, level }) => html`<li class="level-${level}"><a href="#${anchor}">${text}</a></li>`,
    )}</ul>`
}

function navigation({ groups, version }: Shelf, current?: LibraryPage): Html {
  return html`<nav class="contents pages" id="pages" aria-label="Pages">
<div class="brand"><a href="/">Millrace</a> <span class="soft">${version}</span></div>
<ul>${groups.map(
    ({ title, pages }) => html`
<li><span class="tag">${title}</span>
<ul>${pages.map((each) =>
      each.name === current?.name
        ? html`
<li><a href="/docs/${each.name}" aria-current="page">${each.title}</a>${headingList(each.headings, [2])}</li>`
        : html`
<li><a href="/docs/${each.name}">${each.title}</a></li>`,
    )}</ul></li>`,
  )}
<li><span class="tag">Reference</span>
<ul><li><a href="/docs">Every operation</a></li>
<li><a href="/v2/openapi.json">OpenAPI 3.1</a></li></ul></li></ul>
</nav>`
}

/** What was read before and what comes next. */
function neighbours({ groups }: Shelf, current: LibraryPage): Html {
  const pages = groups.flatMap((group) => group.pages)
  const at = pages.findIndex(({ name }) => name === current.name)
  const [before, after] = [pages[at - 1], pages[at + 1]]
  return html`<nav class="neighbours" aria-label="Neighbouring pages">
${before ? html`<a href="/docs/${before.name}" rel="prev">\u2190 ${before.title}</a>` : html`<span></span>`}
${after && html`<a href="/docs/${after.name}" rel="next">${after.title} \u2192</a>`}
</nav>`
}

function frame(title: string, shelf: Shelf, body: Html, current?: LibraryPage): string {
  return page(
    `${title} \u00b7 Millrace`,
    html`<a class="skip" href="#text">Skip to the text</a>
<div class="shell guides">
<main id="text" class="guide">
<p class="to-pages"><a href="/">Millrace</a> <a href="#pages">All pages</a></p>
${body}
</main>
${navigation(shelf, current)}
</div>`,
  )
}

/** A page of docs/ with the list of all pages and its own headings. */
export function guidePage(current: LibraryPage, shelf: Shelf): string {
  const sections = current.headings.filter(({ level }) => level === 2)
  return frame(
    current.title,
    shelf,
    html`<h1>${current.title}</h1>
${
  sections.length > 1 &&
  html`<details class="on-page"><summary>On this page</summary>${headingList(current.headings, [2, 3])}</details>`
}
${current.body}
<p class="soft"><a href="/docs/${current.name}.md">This page as Markdown</a></p>
${neighbours(shelf, current)}`,
    current,
  )
}

/** The answer to an address below /docs that no page has. */
export function unknownGuidePage(shelf: Shelf): string {
  return frame(
    'No such page',
    shelf,
    html`<h1>No such page</h1>
<p>There is no page at this address. These are all of them:</p>
${guideList(shelf.groups)}`,
  )
}

/** All pages by group, each with what it is about. */
export function guideList(groups: readonly LibraryGroup[]): Html {
  return html`<div class="guide-list">${groups.map(
    ({ title, pages }) => html`
<section aria-label="${title}"><h3>${title}</h3>
<ul>${pages.map(
      ({ name, title: heading, about }) => html`
<li><a href="/docs/${name}">${heading}</a> <span class="soft">${about}</span></li>`,
    )}</ul></section>`,
  )}</div>`
}
