import type { Addresses } from './curl.ts'

export interface QuickStartValues extends Addresses {
  readonly companyId?: string
  readonly clientId?: string
  readonly datasourceId?: string
  readonly email?: string
}

export interface QuickStartStep {
  readonly title: string
  /** For a POSIX shell. */
  readonly command: string
}

/** The first three calls: a token, an event, a query. Values that are not given stand as words in capitals. */
export function quickStart(values: QuickStartValues): QuickStartStep[] {
  const {
    baseUrl,
    collectorUrl,
    companyId = 'COMPANY_ID',
    clientId = 'CLIENT_ID',
    datasourceId = 'DATASOURCE_ID',
    email = 'EMAIL',
  } = values
  return [
    {
      title: 'Get a token',
      command: `TOKEN=$(curl -sS ${baseUrl}/auth/token \\
  -H 'Content-Type: application/json' \\
  -d '{"grant_type": "password", "client_id": "${clientId}",
       "username": "${email}", "password": "PASSWORD"}' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    },
    {
      title: 'Send an event',
      command: `curl -sS -w '%{http_code}\\n' ${collectorUrl}/collect/${datasourceId}/tracker \\
  -H 'Content-Type: application/json' \\
  -d '{"key": "${companyId}", "name": "purchase", "v": 1,
       "url": "https://shop.example/checkout", "tmpId": "visitor-1",
       "eventId": "'$(date +%s%N)'",
       "data": {"ids": ["sku-1"], "value": 59.9, "transId": "order-1"}}'`,
    },
    {
      title: 'Query it',
      // All three may be pasted at once, and an event is in the statistics within two seconds.
      command: `sleep 2; curl -sS -w '\\n' ${baseUrl}/statistics/query \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"measures": ["events.count"], "dimensions": ["events.name"],
       "filters": [], "timeDimensions": []}'`,
    },
  ]
}
