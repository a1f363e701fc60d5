import { createHmac, timingSafeEqual } from 'node:crypto'
import { maxValueLength, modeParameter, shownParameter } from '../../run/read-request.ts'
import type { RunRequest } from '../../run/run-request.ts'

/** The same address with everything that it was called with, for the click on what it shows. */
export function clickAddressOf(
  displayAddress: string,
  { parameters }: RunRequest,
  shown: string | undefined,
): string {
  const query = new URLSearchParams()
  for (const [name, values] of parameters) {
    if (name === modeParameter || name === shownParameter) continue
    for (const value of values) query.append(name, value)
  }
  query.append(modeParameter, 'click')
  if (shown !== undefined) query.append(shownParameter, shown)
  return `${displayAddress}?${query}`
}

/** The one place in which a content was shown, to one person: what was signed for it is good for no other. */
export interface ShownAt {
  readonly companyId: string
  readonly workflowId: string
  readonly versionId: string
  readonly integrationId: string
  readonly entrypointId: string
  readonly person: RunRequest['person']
}

/** What the address of a click says of the content that it is on. */
export interface SignedContent {
  readonly branchId: string
  /** Absent where it has none. */
  readonly destination: string | undefined
  /** Of a person without any identifier: whom it was shown to. */
  readonly anonymousId: string | undefined
}

/** Half of SHA-256, as RFC 2104 (5) allows. */
const tagBytes = 16

function tagOf(key: Buffer, at: ShownAt, text: string): Buffer {
  const { companyId, workflowId, versionId, integrationId, entrypointId, person } = at
  const { client = null, device = null } = person
  const place = [companyId, workflowId, versionId, integrationId, entrypointId, client, device]
  return createHmac('sha256', key)
    .update(JSON.stringify([...place, text]))
    .digest()
    .subarray(0, tagBytes)
}

/** As `trk-shown` has it; undefined for a destination that is too long for it, whose click runs the workflow again. */
export function signContent(key: Buffer, at: ShownAt, content: SignedContent): string | undefined {
  const { branchId, destination = null, anonymousId = null } = content
  const text = JSON.stringify([branchId, destination, anonymousId])
  const signed = Buffer.concat([tagOf(key, at, text), Buffer.from(text)]).toString('base64url')
  return signed.length <= maxValueLength ? signed : undefined
}

/** What was signed for this place; undefined for anything else. */
export function readSignedContent(key: Buffer, at: ShownAt, signed: string): SignedContent | undefined {
  const bytes = Buffer.from(signed, 'base64url')
  const text = bytes.subarray(tagBytes).toString()
  const tag = bytes.subarray(0, tagBytes)
  if (tag.length !== tagBytes || !timingSafeEqual(tag, tagOf(key, at, text))) return undefined
  const [branchId, destination, anonymousId] = JSON.parse(text) as [string, string | null, string | null]
  return { branchId, destination: destination ?? undefined, anonymousId: anonymousId ?? undefined }
}
