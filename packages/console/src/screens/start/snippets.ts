/** What the snippets name. */
export interface Ids {
  readonly origin: string
  readonly companyId: string
  readonly datasourceId: string
}

const scriptOf = ({ origin, companyId, datasourceId }: Ids): string =>
  `<script async src="${origin}/t.js?company=${companyId}&datasource=${datasourceId}"></script>`

export const pageSnippet = (ids: Ids): string => `${scriptOf(ids)}
<button onclick="track.event('add_cart', { ids: ['sku-1'] })">Add to cart</button>`

export const curlSnippet = (
  { origin, companyId, datasourceId }: Ids,
  eventId: string,
): string => `curl -sS -w '%{http_code}\\n' ${origin}/collect/${datasourceId}/tracker \\
  -H 'Content-Type: application/json' -d '{
  "key": "${companyId}", "name": "purchase", "v": 1,
  "url": "https://shop.example/checkout", "tmpId": "visitor-1", "clientId": "customer-1",
  "eventId": "${eventId}", "data": {"ids": ["sku-1"], "value": 59.9, "transId": "${eventId}"}}'`

export const programSnippet = ({
  origin,
  companyId,
  datasourceId,
}: Ids): string => `import { createEventSender } from '@millrace/sdk/events'

const sender = createEventSender({
  collectorUrl: '${origin}',
  companyId: '${companyId}',
  datasourceId: '${datasourceId}',
})
sender.send({
  name: 'purchase',
  url: 'https://shop.example/checkout',
  clientId: 'customer-1',
  data: { ids: ['sku-1'], value: 59.9, transId: 'order-1' },
})
await sender.close()`

/** A whole page to try it with: each button sends what one line of the list waits for. */
export const testPage = (ids: Ids): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Millrace test page</title>
    ${scriptOf(ids)}
    <style>body { font: 16px/1.6 system-ui; max-width: 40em; margin: 3em auto; padding: 0 1em } button { font: inherit; padding: .5em 1em; margin: .25em }</style>
  </head>
  <body>
    <h1>Test page</h1>
    <p>Each button sends one event to your datasource. An equal event of one page is sent once: load the page again to send it again.</p>
    <button onclick="track.event('add_cart', { ids: ['sku-1'] })">Add to cart</button>
    <button onclick="track.identify('customer-1')">I am customer-1</button>
    <button onclick="track.event('purchase', { ids: ['sku-1'], value: 59.9, transId: 'order-' + Date.now() })">Buy</button>
  </body>
</html>
`
