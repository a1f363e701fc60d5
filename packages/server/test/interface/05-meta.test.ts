import { readStatisticsMeta } from '@millrace/contract/operations/statistics.ts'
import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isFull } from '../support/long.ts'
import { callerToken, openStatisticsApp, type StatisticsApp } from '../support/statistics-app.ts'
import { openStatisticsEngine, type StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent, testCompany } from '../support/statistics-events.ts'

const long = isFull(import.meta.filename)

let engine: StatisticsEngine
let app: StatisticsApp

beforeAll(async () => {
  engine = await openStatisticsEngine()
  app = await openStatisticsApp(engine.columnar)
})

afterAll(async () => {
  await app.app.close()
  await engine.close()
})

beforeEach(async () => {
  await engine.empty()
  app.caller.companyId = testCompany
  // What was seen of labels is remembered for some seconds.
  app.now += 60_000
})

async function meta(): Promise<StatisticsMeta> {
  const response = await app.app.inject({ method: 'GET', url: '/v2/statistics/meta', headers: callerToken })
  expect(response.statusCode).toBe(200)
  const body = response.json()
  expect(Value.Errors(readStatisticsMeta.schema.response[200], body)).toEqual([])
  return body.data
}

describe('the metadata', () => {
  it('is not sent again to who has it, until there is more to tell', async () => {
    const ask = (headers = {}) =>
      app.app.inject({ url: '/v2/statistics/meta', headers: { ...callerToken, ...headers } })
    const { etag } = (await ask()).headers
    const again = await ask({ 'if-none-match': String(etag) })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
    await engine.load([storedEvent({ labels: { store: 'Paris' } })])
    app.now += 60_000
    const later = await ask({ 'if-none-match': String(etag) })
    expect(later.statusCode).toBe(200)
    expect(later.headers.etag).not.toBe(etag)
  })

  it('names and describes each member in French, where French is asked for', async () => {
    const ask = (language?: string) =>
      app.app.inject({
        url: '/v2/statistics/meta',
        headers: { ...callerToken, ...(language && { 'accept-language': language }) },
      })
    const [plain, english, french] = await Promise.all([ask(), ask('en-GB'), ask('fr-CA, en;q=0.5')])
    expect(plain.body.replace(/"datetime":"[^"]*"/, '')).toBe(english.body.replace(/"datetime":"[^"]*"/, ''))
    expect(french.headers).toMatchObject({
      vary: expect.stringContaining('Accept-Language'),
      'content-language': 'fr',
    })
    expect(french.headers.etag).not.toBe(english.headers.etag)
    const [en, fr] = [english.json().data, french.json().data] as [StatisticsMeta, StatisticsMeta]
    expect(fr.measures['purchases.revenue']?.title).toBe('Chiffre d’affaires')
    for (const kind of ['measures', 'dimensions'] as const) {
      expect(Object.keys(fr[kind])).toEqual(Object.keys(en[kind]))
      for (const [id, { title, description, ...rest }] of Object.entries(en[kind])) {
        const said = fr[kind][id]
        const named = (text = '') => [...new Set(text.match(/`[^`]+`/g))].toSorted()
        expect(named(said?.description), id).toEqual(named(description))
        expect(said, id).toMatchObject(rest)
        const isFormula = /^`[^`]+` \/ `[^`]+`\.$/.test(description)
        expect(isFormula || said?.description !== description, id).toBe(true)
      }
    }
  })

  it('describes every member of the model', async () => {
    const { measures, dimensions } = await meta()
    expect(Object.keys(measures)).toEqual([
      'events.count',
      'events.people',
      'events.identifiedPeople',
      'events.devices',
      'events.sessions',
      'events.items',
      'events.perPerson',
      'purchases.count',
      'purchases.revenue',
      'purchases.buyers',
      'purchases.references',
      'purchases.averageOrderValue',
      'purchases.revenuePerBuyer',
      'purchases.perBuyer',
      'purchases.referencesPerPurchase',
      ...['afterClick', 'buyersAfterClick', 'individualizedAfterClick', 'timeFromClick'].map(
        (name) => `purchases.${name}`,
      ),
      ...['influencedRevenue', 'individualizedInfluencedRevenue', 'directRevenue', 'influencedCount'].map(
        (name) => `purchases.${name}`,
      ),
      ...['count', 'people', 'duration', 'events', 'bounces'].map((name) => `sessions.${name}`),
      ...['bounceRate', 'eventsPerSession', 'perPerson'].map((name) => `sessions.${name}`),
      ...['count', 'displays', 'clicks', 'openings', 'openers', 'clickers'].map(
        (name) => `workflows.${name}`,
      ),
      ...['Displays', 'Openings', 'Openers', 'Clicks'].map((name) => `workflows.individualized${name}`),
      ...['generationTime', 'openingsPerOpener', 'clicksPerClicker', 'clickToOpenRate'].map(
        (name) => `workflows.${name}`,
      ),
      ...['clickerToOpenerRate', 'individualizedDisplayRate', 'individualizedOpenerRate'].map(
        (name) => `workflows.${name}`,
      ),
      ...['conversionRate', 'uniqueConversionRate', 'clickUplift', 'conversionUplift', 'revenueUplift'].map(
        (name) => `workflows.${name}`,
      ),
    ])
    expect(Object.keys(dimensions)).toEqual([
      ...['time', 'name', 'datasource', 'url', 'host', 'path'].map((name) => `events.${name}`),
      ...['Source', 'Medium', 'Campaign', 'Term', 'Content'].map((name) => `events.utm${name}`),
      'events.referrerHost',
      ...['person', 'device', 'isIdentified', 'item', 'deviceType', 'os', 'browser', 'country'].map(
        (name) => `events.${name}`,
      ),
      ...['time', 'transaction', 'person', 'item', 'deviceType', 'os', 'datasource'].map(
        (name) => `purchases.${name}`,
      ),
      ...['time', 'entryPath', 'entryHost', 'exitPath', 'exitHost'].map((name) => `sessions.${name}`),
      ...['referrerHost', 'channel', 'utmSource', 'utmMedium', 'utmCampaign', 'deviceType', 'os'].map(
        (name) => `sessions.${name}`,
      ),
      ...['browser', 'country', 'isNew', 'person'].map((name) => `sessions.${name}`),
      ...['time', 'id', 'name', 'version', 'branch', 'isIndividualized', 'entrypoint', 'integration'].map(
        (name) => `workflows.${name}`,
      ),
      ...['zone', 'zoneType', 'format', 'outputType', 'message', 'person', 'isAnonymous', 'deviceType'].map(
        (name) => `workflows.${name}`,
      ),
      ...['os', 'datasource', 'mailClient', 'language', 'returnCode', 'team', 'category'].map(
        (name) => `workflows.${name}`,
      ),
      ...['categoryLevel1', 'categoryLevel2', 'categoryLevel3', 'utmSource', 'utmMedium', 'utmCampaign'].map(
        (name) => `workflows.${name}`,
      ),
      'persons.cohort',
    ])
    for (const member of [...Object.values(measures), ...Object.values(dimensions)]) {
      expect(member.title).not.toBe('')
      expect(member.description.length).toBeGreaterThan(20)
    }
    expect(measures['events.people']).toMatchObject({
      type: 'number',
      format: 'integer',
      source: 'events',
      virtual: false,
    })
    expect(measures['purchases.revenue']).toMatchObject({
      format: 'amount',
      source: 'purchases',
      virtual: false,
    })
    expect(measures['purchases.perBuyer']).toMatchObject({ virtual: true })
    expect(dimensions['events.time']).toMatchObject({
      type: 'time',
      granularities: expect.arrayContaining(['hour']),
    })
    expect(dimensions['events.name']).toMatchObject({
      operators: expect.arrayContaining(['equals', 'contains', 'gt']),
      caseInsensitiveOperators: [
        'contains',
        'notContains',
        'startsWith',
        'notStartsWith',
        'endsWith',
        'notEndsWith',
      ],
    })
    expect(dimensions['events.time']).not.toHaveProperty('caseInsensitiveOperators')
    expect(dimensions['events.deviceType']).toMatchObject({
      values: expect.arrayContaining(['tablet', 'server']),
    })
  })

  it('names the sources of measures and what may meet in one query', async () => {
    await engine.load([storedEvent({ labels: { store: 'x' } })])
    const { queryCompatibility, measures, dimensions } = await meta()
    const { components, measureSources } = queryCompatibility
    expect(Object.keys(measureSources)).toEqual(Object.keys(measures))
    expect(measureSources['purchases.perBuyer']).toEqual(['purchases'])
    expect(measureSources['workflows.uniqueConversionRate']).toEqual(['purchases', 'workflows'])
    expect(components).toHaveLength(17)
    for (const component of components) {
      for (const id of component) expect(id in measures || id in dimensions, id).toBe(true)
    }
    const fits = (...ids: string[]) =>
      components.some((component) => ids.every((id) => component.includes(id)))
    expect(fits('events.count', 'events.name', 'events.label.store', 'purchases.time')).toBe(true)
    expect(fits('events.count', 'purchases.revenue', 'events.person', 'purchases.os', 'events.time')).toBe(
      true,
    )
    expect(fits('purchases.revenue', 'events.name')).toBe(false)
    expect(fits('purchases.influencedRevenue', 'purchases.timeFromClick', 'workflows.id')).toBe(true)
    expect(fits('purchases.influencedRevenue', 'purchases.revenue', 'events.count')).toBe(true)
    expect(fits('purchases.revenue', 'workflows.id')).toBe(false)
    expect(fits('workflows.displays', 'workflows.id', 'purchases.influencedRevenue', 'events.time')).toBe(
      true,
    )
    expect(fits('workflows.conversionRate', 'workflows.branch', 'purchases.os')).toBe(true)
    expect(fits('workflows.conversionRate', 'purchases.item')).toBe(false)
    expect(fits('workflows.displays', 'purchases.revenue', 'events.count', 'sessions.os')).toBe(true)
    expect(fits('workflows.displays', 'purchases.revenue', 'workflows.branch')).toBe(false)
    expect(fits('workflows.displays', 'events.name')).toBe(false)
    expect(fits('events.count', 'workflows.id')).toBe(false)
    expect(fits('events.count', 'purchases.revenue', 'events.browser')).toBe(false)
    expect(fits('events.count', 'purchases.label.store')).toBe(false)
    expect(fits('sessions.bounceRate', 'sessions.entryPath', 'events.time')).toBe(true)
    expect(fits('sessions.count', 'purchases.revenue', 'sessions.os')).toBe(true)
    expect(fits('sessions.count', 'purchases.datasource')).toBe(false)
  })

  it('says of any two members what a query of them says', async () => {
    const { queryCompatibility, measures, dimensions } = await meta()
    const asked = [
      'events.count',
      'purchases.revenue',
      'purchases.afterClick',
      'sessions.count',
      'workflows.openings',
      'workflows.conversionRate',
    ].filter((id) => id in measures)
    for (const [i, measure] of asked.entries()) {
      for (const [j, [dimension, { filterOnly }]] of Object.entries(dimensions).entries()) {
        // The short form asks for each dimension with one of them.
        if (filterOnly || (!long && (i + j) % asked.length > 0)) continue
        const fit = queryCompatibility.components.some(
          (each) => each.includes(measure) && each.includes(dimension),
        )
        const { status } = await app.post({
          measures: [measure],
          dimensions: [dimension],
          filters: [],
          timeDimensions: [],
        })
        expect({ measure, dimension, status }).toEqual({ measure, dimension, status: fit ? 200 : 400 })
      }
    }
    await engine.load([storedEvent({ name: 'workflow_click', labels: { workflowId: 'w' } })])
    const [row] = await app.rows({ dimensions: ['sessions.os', 'workflows.datasource'] })
    expect(Object.keys(row ?? {})).toEqual(['sessions.os', 'workflows.datasource'])
  })
})

describe('labels', () => {
  it('are those of the company, whatever their keys, in the order of their bytes', async () => {
    const keys = ['toString', 'a.b', '$x', 'constructor', 'é', "'; --", 'Z', 'time']
    await engine.load([
      storedEvent({ labels: Object.fromEntries(keys.map((key) => [key, '1'])) }),
      storedEvent({ name: 'purchase', labels: { country: 'FR' } }),
      storedEvent({ company: otherCompany, labels: { hidden: '1' } }),
    ])
    const { dimensions } = await meta()
    const labels = Object.keys(dimensions).filter((id) => id.includes('.label.'))
    expect(labels).toEqual([
      ...['$x', "'; --", 'Z', 'a.b', 'constructor', 'country', 'time', 'toString', 'é'].map(
        (key) => `events.label.${key}`,
      ),
      'purchases.label.country',
    ])
    for (const id of labels) {
      expect(dimensions[id]).toMatchObject({ type: 'string', source: id.slice(0, id.indexOf('.')) })
      await app.rows({ dimensions: [id] })
    }
  })

  it('are bounded to a thousand', async () => {
    const labelled = (from: number) =>
      Object.fromEntries(
        Array.from({ length: 500 }, (_, i) => [`key-${String(from + i).padStart(5, '0')}`, 'x']),
      )
    await engine.load(Array.from({ length: 20 }, (_, i) => storedEvent({ labels: labelled(i * 500) })))
    const labels = Object.keys((await meta()).dimensions).filter((id) => id.includes('.label.'))
    expect(labels).toHaveLength(1_000)
    expect(labels.at(-1)).toBe('events.label.key-00999')
  })

  it('are found again after some seconds', async () => {
    expect(Object.keys((await meta()).dimensions)).not.toContain('events.label.new')
    await engine.load([storedEvent({ labels: { new: '1' } })])
    app.now += 10_000
    expect(Object.keys((await meta()).dimensions)).toContain('events.label.new')
  })

  it('says how far distinct counts are exact, unless the company wants them exact throughout', async () => {
    const bounds = async () => {
      // The setting works with the next query.
      await app.rows({ measures: ['events.count'] })
      const { measures } = await meta()
      return ['events.people', 'purchases.buyers', 'sessions.people', 'events.count'].map((id) => [
        measures[id]?.exactUpTo,
        measures[id]?.relativeError,
      ])
    }
    const none = [undefined, undefined]
    expect(await bounds()).toEqual([[65_536, 0.01], [65_536, 0.01], [65_536, 0.01], none])
    app.exactCounts = true
    expect(await bounds()).toEqual([none, none, none, none])
    app.exactCounts = false
  })
})
