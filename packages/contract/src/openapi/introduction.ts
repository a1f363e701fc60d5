/** What a developer reads first: addresses, tokens, envelopes, identifiers, pages, failures. */
export function introduction({ baseUrl, collectorUrl }: { baseUrl: string; collectorUrl: string }): string {
  return `The interface lives at \`${baseUrl}\`; events are collected at \`${collectorUrl}\`.

**Tokens.** Get an access token at \`POST ${baseUrl}/auth/token\` and send it with every call as \`Authorization: Bearer <ACCESS_TOKEN>\`. It is valid for one hour; the refresh token gives the next one. The collector needs no token.

**Pages of other origins** may read answers where the operator has registered their origin with a client. Cookies play no part in it.

**Envelopes.** A success is \`{status: "success", program, version, datetime, message, data, code}\`, always with HTTP status 200; lists add \`paginationCount\`, \`paginationPage\` and \`paginationLimit\`. A failure is \`{status: "fail", program, version, datetime, message, data, code, error_code}\`: \`code\` is the HTTP status, \`error_code\` says which failure it is, and \`message\` says in plain words what is wrong. Failures of validation list every place in \`data.errors\`.

**Bodies.** JSON in UTF-8. Unknown fields and query parameters are refused; fields that only answers have are accepted and ignored, so that what was read can be sent back.

**Identifiers** are 24 hexadecimal characters; upper case is accepted. An object of another company is never found (404).

**Pages** are chosen by \`page\` (from 1) and \`perPage\` (1 to 100, 10 when absent).

**Trying again.** Answers 429 and 503 carry \`Retry-After\` in seconds.`
}
