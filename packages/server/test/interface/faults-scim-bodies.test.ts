import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aUser, openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'

/** Inputs of docs/faults.md that are about bodies, against the SCIM service. */

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

describe('H09 a body of junk', () => {
  const junkKeys = (count: number) => Array.from({ length: count }, (_, i) => `"!${i.toString(36)}":0`).join()
  const operation = (value: string) => `{"Operations":[{"op":"add","value":${value}}]}`

  /** The longest text that was parsed as JSON meanwhile. */
  async function longestParsed(work: () => Promise<unknown>): Promise<number> {
    const { parse } = JSON
    let longest = 0
    JSON.parse = (text: string, reviver?: Parameters<typeof parse>[1]) => {
      longest = Math.max(longest, text.length)
      return parse(text, reviver)
    }
    try {
      await work()
    } finally {
      JSON.parse = parse
    }
    return longest
  }

  test.each([
    ['90,000 keys of one object', operation(`{${junkKeys(90_000)}}`), 'more than 1000 keys'],
    ['750,000 keys beside members', `{"members":[],${junkKeys(750_000)}}`, 'more than 1000 keys'],
    ['4,000,000 values', `{"members":[0${',0'.repeat(4_000_000)}]}`, 'more than 300000 values'],
    [
      'keys that look like indexes',
      operation(`{${Array.from({ length: 2_000 }, (_, i) => `"${i}":0`)}}`),
      '1000 keys',
    ],
  ])('of %s is refused before it is parsed', async (_, body, detail) => {
    const id = await app.group()
    const parsed = await longestParsed(async () => {
      for (const type of ['application/scim+json', 'application/json'])
        expect(await app.scim('PATCH', `/Groups/${id}`, body, { 'content-type': type })).toMatchObject({
          status: 400,
          body: { scimType: 'invalidSyntax', detail: expect.stringContaining(detail) },
        })
    })
    expect(parsed).toBeLessThan(1_000)
  })

  test('over a megabyte without members is too large before it is parsed, at a group too', async () => {
    const id = await app.group()
    const junk = operation(`{${junkKeys(750_000)}}`)
    const parsed = await longestParsed(async () => {
      expect(await app.scim('PATCH', `/Groups/${id}`, junk)).toMatchObject({ status: 413 })
    })
    expect(parsed).toBeLessThan(1_000)
    const long = JSON.stringify(aUser(app.anAddress(), { title: 'x'.repeat(1024 * 1024) }))
    const replies = [
      await app.scim('POST', '/Users', long),
      await app.scim('PUT', `/Groups/${id}`, long),
      await app.scim('PATCH', `/Groups/${id}`, long),
    ]
    for (const reply of replies) expect(reply).toMatchObject({ status: 413, body: { status: '413' } })
  })

  test('of 101 attributes in one operation changes nothing, and 100 unknown ones are passed over', async () => {
    const id = await app.group()
    const send = (count: number) =>
      app.scim('PATCH', `/Groups/${id}`, operation(`{"displayName":"Kept ${count}",${junkKeys(count)}}`))
    expect(await send(100)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } })
    expect((await send(99)).status).toBe(204)
    expect((await app.scim('GET', `/Groups/${id}`)).body.displayName).toBe('Kept 99')
  })
})
