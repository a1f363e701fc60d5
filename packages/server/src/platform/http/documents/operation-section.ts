import { errorTable } from '@millrace/contract/errors.ts'
import { accessOf, successExamples } from '@millrace/contract/openapi.ts'
import type { Operation } from '@millrace/contract/operation.ts'
import { errorsOf } from '@millrace/contract/operation-errors.ts'
import { type Addresses, curlCommand, readableJson } from './curl.ts'
import { type Html, html } from './html.ts'
import { renderInlineMarkdown, renderMarkdown } from './markdown-page.ts'
import { codeBlock, colouredJson } from './page.ts'
import { type DocumentedSchema, type FieldRow, fieldRows, ignoredFields, variantsOf } from './schema-words.ts'

/** The path of an operation with its parameters in braces. */
function pathTemplateOf({ url }: Operation): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

function fieldTable(rows: readonly FieldRow[], caption: string): Html {
  return html`<table class="fields" aria-label="${caption}"><tbody>${rows.map(
    ({ path, type, required, notes }) => html`
<tr><th scope="row"><code>${path}</code><span class="type">${type}${required && html` <span class="needed">required</span>`}</span></th>
<td>${notes.map((note) => html`<p>${renderInlineMarkdown(note)}</p>`)}</td></tr>`,
  )}</tbody></table>`
}

function facts(operation: Operation): Html {
  const access = accessOf(operation)
  const who =
    operation.scope === 'authenticated'
      ? 'Bearer token'
      : operation.scope === 'collector'
        ? 'No token'
        : 'Open'
  return html`<ul class="facts">
${
  operation.number === undefined
    ? html`<li class="extension">Extension</li>`
    : html`<li>Operation ${operation.number}</li>`
}
<li>${who}</li>
${access && html`<li>Needs ${renderInlineMarkdown(access)}</li>`}
</ul>`
}

function parameters({ schema, described }: Operation): Html[] {
  const places = [
    ['In the path', schema.params ?? described?.params],
    ['In the query', schema.querystring],
    ['In the headers', schema.headers],
  ] as const
  return places.flatMap(([title, object]) =>
    object === undefined
      ? []
      : [html`<h4>${title}</h4>${fieldTable(fieldRows(object as DocumentedSchema), title)}`],
  )
}

function body(operation: Operation, addresses: Addresses): Html {
  const schema = (operation.schema.body ?? operation.described?.body) as DocumentedSchema | undefined
  const types = operation.consumes ?? ['application/json']
  const fields =
    schema &&
    html`<h4>Body</h4>
<p class="soft">${renderInlineMarkdown(types.map((type) => `\`${type}\``).join(', '))}${schema.description && html`. ${renderInlineMarkdown(schema.description)}`}</p>
${variantsOf(schema).map(({ title, schema: variant }) => {
  const ignored = ignoredFields(variant)
  return html`${title && html`<h5>${title}</h5>`}${fieldTable(fieldRows(variant), 'Fields of the body')}
${
  ignored.length > 0 &&
  html`<p class="soft">Accepted and ignored: ${renderInlineMarkdown(ignored.map((name) => `\`${name}\``).join(', '))}.</p>`
}`
})}`
  const examples = Object.values(operation.examples ?? {})
  const [first, ...others] = examples
  const one = (summary: string, value: unknown) =>
    html`<h5>${summary}</h5>${codeBlock(curlCommand(operation, addresses, value), `curl: ${summary}`)}`
  return html`${fields}<h4>Example</h4>
${first ? one(first.summary, first.value) : codeBlock(curlCommand(operation, addresses), 'curl')}
${
  others.length > 0 &&
  html`<details><summary>${others.length === 1 ? 'Another example' : `${others.length} more examples`}</summary>
${others.map(({ summary, value }) => one(summary, value))}</details>`
}`
}

function replies(operation: Operation, version: string): Html {
  return html`<h4>Answers</h4>
${Object.entries(operation.schema.response).map(([status, schema]) => {
  const document = operation.replies?.[Number(status)]
  const shape = schema as DocumentedSchema
  const plain = shape.type === 'object'
  const data = shape.properties?.data ?? shape
  const rows = plain ? variantsOf(data).flatMap(({ schema: variant }) => fieldRows(variant)) : []
  const headers = Object.entries(document?.headers ?? {})
  const examples = plain ? Object.values(successExamples(operation, Number(status), schema, version)) : []
  return html`<p><code>${status}</code> ${renderInlineMarkdown(document?.description ?? '')}</p>
${
  headers.length > 0 &&
  html`<ul>${headers.map(([name, says]) => html`<li>Header <code>${name}</code>: ${renderInlineMarkdown(says)}</li>`)}</ul>`
}
${(examples as { summary: string; value: unknown }[]).map(
  ({ summary, value }) =>
    html`<details><summary>${summary}</summary>${codeBlock(colouredJson(readableJson(value)), summary)}</details>`,
)}
${Object.entries(document?.alternatives ?? {}).map(
  ([type, { description, example }]) =>
    html`<details><summary>${type}</summary><p>${renderInlineMarkdown(description)}</p>${codeBlock(example, type)}</details>`,
)}
${
  rows.length > 0 &&
  html`<details><summary>Fields of ${shape.properties?.data ? html`<code>data</code>` : 'the answer'}</summary>${fieldTable(rows, 'Fields of the answer')}</details>`
}`
})}`
}

function failures(operation: Operation): Html {
  const rows = errorsOf(operation).map((name) => errorTable[name])
  const statuses = [...new Set(rows.map(({ status }) => status))]
  return html`<h4>Failures</h4>
<details><summary>${statuses.join(', ')}</summary>
<table class="failures"><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Message</th></tr></thead><tbody>${rows.map(
    ({ status, errorCode, message }) =>
      html`<tr><td>${status}</td><td>${errorCode}</td><td>${message}</td></tr>`,
  )}</tbody></table></details>`
}

/** Everything that a caller needs to know of one operation. */
export function operationSection(
  operation: Operation,
  context: { addresses: Addresses; version: string },
): Html {
  return html`<article id="${operation.id}">
<h3><a href="#${operation.id}">${operation.summary}</a></h3>
<div class="route"><span class="method ${operation.method}">${operation.method}</span><code>${pathTemplateOf(operation)}</code></div>
${facts(operation)}
${operation.description && renderMarkdown(operation.description)}
${parameters(operation)}
${body(operation, context.addresses)}
${replies(operation, context.version)}
${failures(operation)}
</article>`
}
