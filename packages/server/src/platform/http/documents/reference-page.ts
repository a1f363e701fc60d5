import { introduction } from '@millrace/contract/openapi/introduction.ts'
import { type Operation, type Tag, tags } from '@millrace/contract/operation.ts'
import type { Addresses } from './curl.ts'
import { guideList } from './guide-page.ts'
import { html } from './html.ts'
import { renderMarkdown } from './markdown-page.ts'
import { operationSection } from './operation-section.ts'
import { page } from './page.ts'
import type { LibraryGroup } from './page-library.ts'
import { rulesSection } from './rules-section.ts'

function anchorOf(tag: Tag): string {
  return `tag-${tag.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
}

/** The list of guides, and the reference of these operations, grouped by tag in the order of the contract. */
export function referencePage(
  operations: readonly Operation[],
  context: { addresses: Addresses; version: string; groups: readonly LibraryGroup[] },
): string {
  const groups = (Object.keys(tags) as Tag[]).flatMap((tag) => {
    const members = operations.filter((operation) => operation.tag === tag)
    return members.length === 0 ? [] : [{ tag, members }]
  })
  return page(
    'Millrace reference',
    html`<a class="skip" href="#reference">Skip to the reference</a>
<div class="shell">
<nav class="contents" aria-label="Operations">
<div class="brand"><a href="/">Millrace</a> <span class="soft">${context.version}</span></div>
<ul>
<li><a class="tag" href="#guides">Guides</a></li>${groups.map(
      ({ tag, members }) => html`
<li><a class="tag" href="#${anchorOf(tag)}">${tag}</a>
<ul>${members.map(
        ({ id, method, summary }) => html`
<li><a href="#${id}"><span class="method ${method}">${method}</span><span>${summary}</span></a></li>`,
      )}${
        tag === 'Collector' &&
        html`
<li><a href="#rules"><span class="method"></span><span>Rules of the collector</span></a></li>`
      }</ul></li>`,
    )}</ul>
</nav>
<main>
<h1>Documents</h1>
<section id="guides" aria-label="Guides">
<h2>Guides</h2>
${guideList(context.groups)}
<p class="soft">For language models: <a href="/llms.txt">/llms.txt</a></p>
</section>
<h2 id="reference">Reference</h2>
<p class="soft">The same as an OpenAPI 3.1 document: <a href="/v2/openapi.json">/v2/openapi.json</a></p>
${renderMarkdown(introduction(context.addresses))}
${groups.map(
  ({ tag, members }) => html`
<section class="group" id="${anchorOf(tag)}" aria-label="${tag}">
<h2>${tag}</h2>
<p>${tags[tag]}</p>
${members.map((operation) => operationSection(operation, context))}
${tag === 'Collector' && rulesSection()}
</section>`,
)}
</main>
</div>`,
  )
}
