import { introduction } from '@millrace/contract/openapi/introduction.ts'
import { type Operation, type Tag, tags } from '@millrace/contract/operation.ts'
import type { Addresses } from './curl.ts'
import { html } from './html.ts'
import { markdown } from './markdown.ts'
import { operationSection } from './operation-section.ts'
import { page } from './page.ts'
import { rulesSection } from './rules-section.ts'

function anchorOf(tag: Tag): string {
  return `tag-${tag.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
}

/** The reference of these operations as one page, grouped by tag in the order of the contract. */
export function referencePage(
  operations: readonly Operation[],
  context: { addresses: Addresses; version: string },
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
<ul>${groups.map(
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
<main id="reference">
<h1>Reference</h1>
<p class="soft">The same as an OpenAPI 3.1 document: <a href="/v2/openapi.json">/v2/openapi.json</a></p>
${markdown(introduction(context.addresses))}
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
