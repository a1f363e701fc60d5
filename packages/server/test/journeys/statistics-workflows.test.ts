import { beforeEach, describe, expect, it } from 'vitest'
import { compileQuery } from '../../src/features/analytics/query/compile/compile.ts'
import { parseQuery } from '../../src/features/analytics/query/parse/parse.ts'
import { planQuery } from '../../src/features/analytics/query/plan.ts'
import { openZone } from '../../src/features/analytics/query/time/zone.ts'
import { callerToken, type StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, type StoredEvent, storedEvent, testCompany } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

beforeEach(async () => {
  await app.sql('delete from workflows')
  await app.sql('delete from tag_keys')
  await app.sql('delete from branch_categories')
  await app.sql('delete from teams where company_id = $1', [testCompany])
})

type Fields = Parameters<typeof storedEvent>[0] & { readonly labels?: Record<string, string> }

const display = (at: string, { labels = {}, ...fields }: Fields = {}): StoredEvent =>
  storedEvent({ at, name: 'workflow_display', labels: { workflowId: 'w1', ...labels }, ...fields })
const click = (at: string, fields: Fields = {}): StoredEvent =>
  display(at, { name: 'workflow_click', ...fields })
const purchase = (value: string, at: string, fields: Fields = {}): StoredEvent =>
  storedEvent({ at, name: 'purchase', value, ...fields })

const own = { labels: { individualized: 'true' } }
const cells = async (query: Parameters<StatisticsApp['rows']>[0]) =>
  (await app.rows(query)).map((row) => Object.values(row))

describe('openings', () => {
  const openings = async (query: Parameters<StatisticsApp['rows']>[0] = {}) =>
    cells({ measures: ['workflows.openings'], ...query })

  it('end with a gap of more than 30 seconds, to the millisecond', async () => {
    await engine.load([
      display('2026-03-10T10:00:00.000Z'),
      display('2026-03-10T10:00:30.000Z'),
      display('2026-03-10T10:01:00.000Z'),
      display('2026-03-10T10:01:30.001Z'),
      click('2026-03-10T10:01:45.000Z'),
      display('2026-03-10T10:02:00.002Z'),
    ])
    expect(await openings()).toEqual([[3]])
  })

  it('are those of one person, whatever the device, in one message, else on one page, else of one entrypoint', async () => {
    const at = '2026-03-10T10:00:00Z'
    await engine.load([
      display(at, { labels: { message: 'm1' } }),
      display(at, { labels: { message: 'm1', workflowId: 'w2' }, url: 'https://shop.example/other' }),
      display(at, { labels: { message: 'm2' } }),
      display(at),
      display(at, { labels: { workflowId: 'w2' } }),
      display(at, { url: '' }),
      display(at, { url: '', labels: { entrypointId: 'e1' } }),
      display(at, { tmpId: 'phone', labels: { message: 'm1' } }),
    ])
    expect(await openings()).toEqual([[6]])
    await engine.load([
      storedEvent({ name: 'identify', tmpId: 'phone', clientId: 'ada' }),
      storedEvent({ name: 'identify', tmpId: 'device-1', clientId: 'ada' }),
    ])
    expect(await openings()).toEqual([[5]])
  })

  it('belong to the bucket and the range in which they begin', async () => {
    await engine.load([
      display('2026-03-10T23:59:50Z'),
      display('2026-03-11T00:00:10Z'),
      display('2026-03-11T00:00:40Z'),
      display('2026-03-11T12:00:00Z'),
    ])
    const day = (dateRange: string[]) => [
      { dimension: 'workflows.time', granularity: 'day' as const, dateRange },
    ]
    expect(await openings({ timeDimensions: day(['2026-03-10', '2026-03-11']) })).toEqual([
      ['2026-03-10T00:00:00.000+00:00', 1],
      ['2026-03-11T00:00:00.000+00:00', 1],
    ])
    expect(await openings({ timeDimensions: day(['2026-03-11', '2026-03-11']) })).toEqual([
      ['2026-03-11T00:00:00.000+00:00', 1],
    ])
  })

  it('are divided by dimensions, so that a filter by a value gives what its group has', async () => {
    await engine.load([
      display('2026-03-10T10:00:00Z', { labels: { zone: '0' } }),
      display('2026-03-10T10:00:00Z', { labels: { zone: '1' } }),
      display('2026-03-10T10:00:25Z', { labels: { zone: '1' } }),
      display('2026-03-10T10:00:50Z', { labels: { zone: '0' } }),
    ])
    expect(await openings()).toEqual([[1]])
    expect(await openings({ dimensions: ['workflows.zone'], order: { 'workflows.zone': 'asc' } })).toEqual([
      ['0', 2],
      ['1', 1],
    ])
    const filters = [{ member: 'workflows.zone', operator: 'equals' as const, values: ['0'] }]
    expect(await openings({ filters })).toEqual([[2]])
  })
})

describe('uplift', () => {
  const uplifts = ['clickUplift', 'conversionUplift', 'revenueUplift'].map((name) => `workflows.${name}`)

  it('is what individualised contents brought beyond the rates of default ones', async () => {
    const at = (n: number) => `2026-03-10T10:${String(n).padStart(2, '0')}:00Z`
    const people = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}${i}`)
    await engine.load([
      ...people('own', 10).map((tmpId) => display(at(1), { ...own, tmpId })),
      ...people('own', 5).map((tmpId) => click(at(2), { ...own, tmpId })),
      ...people('own', 2).map((tmpId) => purchase('30.00', at(3), { tmpId })),
      ...people('plain', 20).map((tmpId) => display(at(1), { tmpId })),
      ...people('plain', 4).map((tmpId) => click(at(2), { tmpId })),
      ...people('plain', 1).map((tmpId) => purchase('50.00', at(3), { tmpId })),
    ])
    // Of 20 default displays 4 were clicked, 1 led to a purchase, of 50: for 10 displays 2, 0.5 and 25.
    expect(await cells({ measures: uplifts })).toEqual([[3, 1.5, 35]])
    // Within one group there is no default content to compare with, or nothing individualised that it would bring.
    expect(
      await cells({
        measures: uplifts,
        dimensions: ['workflows.isIndividualized'],
        order: { 'workflows.isIndividualized': 'asc' },
      }),
    ).toEqual([
      [false, 0, 0, 0],
      [true, null, null, null],
    ])
  })

  it('is computed within each group, and null where no default content was displayed', async () => {
    const at = '2026-03-10T10:00:00Z'
    await engine.load([
      display(at, { labels: { workflowId: 'w1', individualized: 'true' } }),
      click(at, { labels: { workflowId: 'w1', individualized: 'true' } }),
      display(at, { labels: { workflowId: 'w2', individualized: 'true' } }),
      display(at, { labels: { workflowId: 'w2' } }),
      click(at, { labels: { workflowId: 'w2' } }),
      click(at, { labels: { workflowId: 'w3' } }),
    ])
    expect(
      await cells({
        measures: ['workflows.clickUplift'],
        dimensions: ['workflows.id'],
        order: { 'workflows.id': 'asc' },
      }),
    ).toEqual([
      ['w1', null],
      ['w2', -1],
      ['w3', null],
    ])
    expect(
      await cells({
        measures: uplifts,
        filters: [{ member: 'workflows.id', operator: 'equals', values: ['none'] }],
      }),
    ).toEqual([[null, null, null]])
  })
})

describe('conversion', () => {
  it('is of the purchases after a click, wherever the clicks are grouped', async () => {
    await engine.load([
      click('2026-03-10T10:00:00Z', { labels: { branchId: 'b1' } }),
      click('2026-03-10T10:00:10Z', { labels: { branchId: 'b1' } }),
      click('2026-03-10T11:00:00Z', { labels: { branchId: 'b2' } }),
      purchase('5.00', '2026-03-10T10:30:00Z'),
      purchase('5.00', '2026-03-10T12:00:00Z'),
      purchase('5.00', '2026-03-10T12:10:00Z'),
      display('2026-03-10T10:00:00Z', { labels: { branchId: 'b3' }, tmpId: 'd2' }),
    ])
    const measures = [
      'workflows.conversionRate',
      'workflows.uniqueConversionRate',
      'purchases.buyersAfterClick',
    ]
    expect(
      await cells({ measures, dimensions: ['workflows.branch'], order: { 'workflows.branch': 'asc' } }),
    ).toEqual([
      ['b1', 0.5, 1, 1],
      ['b2', 2, 1, 1],
      ['b3', null, null, 0],
    ])
    expect(await cells({ measures })).toEqual([[1, 1, 1]])
  })

  it('fits with other sources where all of them have the dimension', async () => {
    await engine.load([
      click('2026-03-10T10:00:00Z'),
      purchase('5.00', '2026-03-10T12:00:00Z'),
      storedEvent({ at: '2026-03-10T12:00:00Z', tmpId: 'd2' }),
    ])
    expect(
      await cells({
        measures: [
          'events.count',
          'workflows.conversionRate',
          'workflows.generationTime',
          'purchases.revenue',
        ],
        dimensions: ['workflows.person'],
        timeDimensions: [
          { dimension: 'events.time', granularity: 'day', dateRange: ['2026-03-10', '2026-03-11'] },
        ],
        fill: true,
      }),
    ).toEqual([
      ['2026-03-10T00:00:00.000+00:00', 'd2', 1, null, null, 0],
      ['2026-03-10T00:00:00.000+00:00', 'device-1', 2, 1, null, 5],
      ['2026-03-11T00:00:00.000+00:00', 'd2', 0, null, null, 0],
      ['2026-03-11T00:00:00.000+00:00', 'device-1', 0, null, null, 0],
    ])
  })

  it.each([
    [['workflows.displays'], ['events.name'], 'workflows do not have this dimension'],
    [
      ['workflows.conversionRate', 'purchases.count'],
      ['workflows.branch'],
      'groups what purchases are credited to',
    ],
    [['workflows.conversionRate'], ['purchases.item'], 'workflows do not have this dimension'],
    [['sessions.count', 'workflows.clicks'], ['workflows.datasource'], 'sessions do not have this dimension'],
  ])('refuses %j by %j', async (measures, dimensions, message) => {
    const { status, body } = await app.post(wholeQuery({ measures, dimensions }))
    expect([status, body.error_code]).toEqual([400, 9101])
    expect(body.message).toContain(message)
  })

  it('cannot be filtered, and says of what it is made', async () => {
    const filters = [{ member: 'workflows.clickUplift', operator: 'gt' as const, values: ['0'] }]
    const { status, body } = await app.post(wholeQuery({ measures: ['workflows.clicks'], filters }))
    expect([status, body.error_code]).toEqual([400, 9102])
    expect(body.message).toContain(
      'workflows.individualizedClicks, workflows.clicks, workflows.individualizedDisplays and workflows.displays',
    )
  })
})

const hex = (n: number) => n.toString(16).padStart(24, '0')

describe('names', () => {
  async function addWorkflow(id: string, name: string, company = testCompany, teams: readonly string[] = []) {
    await app.sql('insert into workflows (id, company_id, name) values ($1, $2, $3)', [id, company, name])
    for (const team of teams) {
      await app.sql(
        `insert into teams (id, company_id, name) values ($1, $2, $3) on conflict (id) do update set name = excluded.name`,
        [hex(team.length + 1_000), company, team],
      )
      await app.sql('insert into workflow_teams (company_id, workflow_id, team_id) values ($1, $2, $3)', [
        company,
        id,
        hex(team.length + 1_000),
      ])
    }
  }
  // The caller is in none of the teams.
  beforeEach(() => app.sql('update companies set shows_other_teams = true'))

  const byName = () =>
    cells({
      measures: ['workflows.displays'],
      dimensions: ['workflows.name', 'workflows.team'],
      order: { 'workflows.name': 'asc' },
    })

  it('are those that workflows and teams have now; of a deleted workflow its identifier', async () => {
    const at = '2026-03-10T10:00:00Z'
    await addWorkflow(hex(1), 'Banner', testCompany, ['Shop', 'Brand team'])
    await addWorkflow(hex(2), "It's; --")
    await engine.load([1, 2, 2, 3].map((n) => display(at, { labels: { workflowId: hex(n) } })))
    expect(await byName()).toEqual([
      [hex(3), null, 1],
      ['Banner', 'Brand team, Shop', 1],
      ["It's; --", null, 2],
    ])
    await app.sql('update workflows set name = $2 where id = $1', [hex(1), "It's; --"])
    await app.sql('delete from workflow_teams')
    expect(await byName()).toEqual([
      [hex(3), null, 1],
      ["It's; --", null, 3],
    ])
    await app.sql(`update workflows set status = 'inactive', archived_at = now() where id = $1`, [hex(2)])
    expect(await byName()).toHaveLength(2)
    await app.sql('delete from workflows where id = $1', [hex(2)])
    expect((await byName()).map(([name]) => name)).toEqual([hex(2), hex(3), "It's; --"].sort())
  })

  it('are filtered, ordered and credited as they are shown', async () => {
    await addWorkflow(hex(1), 'Ärmel')
    await addWorkflow(hex(2), 'Boots')
    await engine.load([
      click('2026-03-10T10:00:00Z', { labels: { workflowId: hex(1) } }),
      click('2026-03-10T11:00:00Z', { labels: { workflowId: hex(2) }, tmpId: 'd2' }),
      purchase('5.00', '2026-03-10T12:00:00Z'),
      purchase('7.00', '2026-03-10T12:00:00Z', { tmpId: 'd2' }),
    ])
    expect(
      await cells({
        measures: ['purchases.influencedRevenue', 'workflows.clicks'],
        dimensions: ['workflows.name'],
        filters: [{ member: 'workflows.name', operator: 'contains', values: ['ÄRM'] }],
      }),
    ).toEqual([['Ärmel', 5, 1]])
  })

  it('of another company are not shown', async () => {
    await app.sql(`insert into companies (id, name) values ($1, 'Other') on conflict do nothing`, [
      otherCompany,
    ])
    await addWorkflow(hex(1), 'Secret', otherCompany)
    await engine.load([
      display('2026-03-10T10:00:00Z', { labels: { workflowId: hex(1) } }),
      display('2026-03-10T10:00:00Z', { labels: { workflowId: hex(1) }, company: otherCompany }),
      display('2026-03-10T10:00:00Z', { labels: { workflowId: hex(2) }, company: otherCompany }),
    ])
    expect(await byName()).toEqual([[hex(1), null, 1]])
  })

  it('that are more than a statement takes are refused, and identifiers are not', async () => {
    await app.sql(
      `insert into workflows (id, company_id, name)
       select lpad(to_hex(n), 24, '0'), $1, repeat('é', 100) from generate_series(1, 2000) n`,
      [testCompany],
    )
    const { status, body } = await app.post(
      wholeQuery({ measures: ['workflows.displays'], dimensions: ['workflows.name'] }),
    )
    expect([status, body.message]).toEqual([400, expect.stringContaining('group by workflows.id instead')])
    expect(await app.rows({ measures: ['workflows.displays'], dimensions: ['workflows.id'] })).toEqual([])
  })
})

describe('tags', () => {
  async function addKey(n: number, cardinality: string, values: readonly string[], company = testCompany) {
    await app.sql(
      `insert into tag_keys (id, company_id, name, name_hash, cardinality) values ($1, $2, $3, sha256(convert_to($3::text, 'UTF8')), $4)`,
      [hex(n), company, `Key ${n}`, cardinality],
    )
    for (const [i, name] of values.entries()) {
      await app.sql(
        `insert into tag_values (id, company_id, tag_key_id, name, name_hash)
         values ($1, $2, $3, $4, sha256(convert_to($4::text, 'UTF8')))`,
        [hex(n * 100 + i), company, hex(n), name],
      )
    }
  }
  const tagged = (...values: number[]) =>
    display('2026-03-10T10:00:00Z', { labels: { tagValueIds: JSON.stringify(values.map(hex)) } })
  const byTag = (key: string) =>
    cells({ measures: ['workflows.displays'], dimensions: [key], order: { [key]: 'asc' } })

  it('of a key with one value are the last of the branch, of one with several all, sorted by name', async () => {
    await addKey(1, 'single', ['Winter', 'Autumn'])
    await engine.load([tagged(100, 101), tagged(101, 100), tagged(101, 999), tagged(999), tagged()])
    expect(await byTag(`tags.${hex(1)}`)).toEqual([
      ['Autumn', 2],
      ['Winter', 1],
      [null, 2],
    ])
    await app.sql(`update tag_keys set cardinality = 'multiple'`)
    expect(await byTag(`tags.${hex(1)}`)).toEqual([
      ['Autumn', 1],
      ['Autumn, Winter', 2],
      [null, 2],
    ])
    await app.sql(`update tag_values set name = $1 where name = 'Winter'`, ["'); --"])
    await app.sql(`delete from tag_values where name = 'Autumn'`)
    expect(await byTag(`tags.${hex(1).toUpperCase()}`)).toEqual([
      ["'); --", 2],
      [null, 3],
    ])
  })

  it('are in the metadata by their names, for the own company alone', async () => {
    await app.sql(`insert into companies (id, name) values ($1, 'Other') on conflict do nothing`, [
      otherCompany,
    ])
    await addKey(1, 'single', ['x'])
    await addKey(2, 'single', ['y'], otherCompany)
    // What was seen before is remembered for some seconds.
    app.now += 60_000
    const { data } = (await app.app.inject({ url: '/v2/statistics/meta', headers: callerToken })).json()
    expect(Object.keys(data.dimensions).filter((id) => id.startsWith('tags.'))).toEqual([`tags.${hex(1)}`])
    expect(data.dimensions[`tags.${hex(1)}`]).toMatchObject({
      title: 'Key 1',
      type: 'string',
      source: 'workflows',
    })
    const fits = data.queryCompatibility.components.some((each: string[]) =>
      [`tags.${hex(1)}`, 'workflows.displays', 'purchases.afterClick'].every((id) => each.includes(id)),
    )
    expect(fits).toBe(true)
  })

  it.each([
    ['a key that does not exist', hex(77)],
    ['a key of another company', hex(2)],
  ])('of %s are refused, in groups and filters', async (_, id) => {
    await app.sql(`insert into companies (id, name) values ($1, 'Other') on conflict do nothing`, [
      otherCompany,
    ])
    await addKey(2, 'single', ['y'], otherCompany)
    for (const query of [
      { dimensions: [`tags.${id}`] },
      { filters: [{ member: `tags.${id}`, operator: 'set' as const }] },
    ]) {
      const { status, body } = await app.post(wholeQuery({ measures: ['workflows.displays'], ...query }))
      expect([status, body.error_code]).toEqual([400, 9100])
      expect(body.message).toContain(`there is no tag key ${id}`)
    }
  })

  it.each(['tags.', 'tags.x', `tags.${hex(1)}0`, "tags.' OR 1=1 --"])(
    'need an identifier: %s',
    async (id) => {
      const { status, body } = await app.post(wholeQuery({ dimensions: [id] }))
      expect([status, body.error_code]).toEqual([400, 9100])
    },
  )
})

describe('categories', () => {
  const add = (n: number, name: string, parent?: number, company = testCompany) =>
    app.sql('insert into branch_categories (id, company_id, name, parent_id) values ($1, $2, $3, $4)', [
      hex(n),
      company,
      name,
      parent === undefined ? null : hex(parent),
    ])
  const shown = (n: number) => display('2026-03-10T10:00:00Z', { labels: { categoryId: hex(n) } })
  const byCategory = () =>
    cells({
      measures: ['workflows.displays'],
      dimensions: ['workflows.category', ...[1, 2, 3].map((level) => `workflows.categoryLevel${level}`)],
      order: [
        ['workflows.displays', 'desc'],
        ['workflows.category', 'asc'],
      ],
    })

  it('are those of the tree as it is now, level by level', async () => {
    await add(1, 'Fashion')
    await add(2, 'Shoes', 1)
    await add(3, 'Boots', 2)
    await add(4, 'Rain', 3)
    await engine.load(
      [...Array(4).fill(4), ...Array(3).fill(2), ...Array(2).fill(1), 77].map((n) => shown(n)),
    )
    await engine.load(Array.from({ length: 5 }, () => display('2026-03-10T10:00:00Z')))
    expect(await byCategory()).toEqual([
      [null, null, null, null, 5],
      ['Rain', 'Fashion', 'Shoes', 'Boots', 4],
      ['Shoes', 'Fashion', 'Shoes', null, 3],
      ['Fashion', 'Fashion', null, null, 2],
      [hex(77), null, null, null, 1],
    ])
    await app.sql('update branch_categories set parent_id = null where id = $1', [hex(4)])
    await app.sql(`update branch_categories set name = 'Shoes' where id = $1`, [hex(1)])
    await app.sql('delete from branch_categories where id = $1', [hex(3)])
    expect(await byCategory()).toEqual([
      [null, null, null, null, 5],
      ['Rain', 'Rain', null, null, 4],
      ['Shoes', 'Shoes', 'Shoes', null, 3],
      ['Shoes', 'Shoes', null, null, 2],
      [hex(77), null, null, null, 1],
    ])
  })

  it('of another company are not shown', async () => {
    await app.sql(`insert into companies (id, name) values ($1, 'Other') on conflict do nothing`, [
      otherCompany,
    ])
    await add(5, 'Secret', undefined, otherCompany)
    await engine.load([shown(5)])
    expect(await byCategory()).toEqual([[hex(5), null, null, null, 1]])
  })
})

describe('parameters', () => {
  const byParameter = (name: string) => cells({ measures: ['workflows.displays'], dimensions: [name] })

  it('are texts under any name', async () => {
    const names = ["'; --", '__proto__', 'constructor', 'é', 'a.b', '{p1:String}']
    await engine.load(
      names.map((name) =>
        display('2026-03-10T10:00:00Z', { labels: { [`parameter.${name}`]: `of ${name}` } }),
      ),
    )
    for (const name of names) {
      expect(await byParameter(`workflows.parameter.${name}`)).toEqual(
        expect.arrayContaining([[`of ${name}`, 1]]),
      )
    }
  })

  it('that nothing had are warned of, with the nearest known one', async () => {
    app.now += 60_000
    await engine.load([display('2026-03-10T10:00:00Z', { labels: { 'parameter.campaign': 'x' } })])
    const { body } = await app.post(
      wholeQuery({ measures: ['workflows.displays'], dimensions: ['workflows.parameter.campain'] }),
    )
    expect(body.warnings?.map(({ message }) => message)).toEqual([
      'none of your workflows has had the parameter "campain": it is absent in all of them; ' +
        'did you mean "workflows.parameter.campaign"?',
    ])
  })

  it('take no place of labels in the metadata, however many are sent', async () => {
    const flood = (from: number) =>
      Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`parameter.p${from + i}`, 'x']))
    for (let i = 0; i < 6; i++)
      await engine.load([display('2026-03-10T10:00:00Z', { labels: flood(i * 400) })])
    await engine.load([storedEvent({ labels: { store: 'x', 'parameter.own': 'y' } })])
    app.now += 60_000
    const { data } = (await app.app.inject({ url: '/v2/statistics/meta', headers: callerToken })).json()
    const ids = Object.keys(data.dimensions)
    expect(ids.filter((id) => id.startsWith('workflows.parameter.'))).toHaveLength(200)
    const unlisted = wholeQuery({
      measures: ['workflows.displays'],
      dimensions: ['workflows.parameter.unlisted'],
    })
    expect((await app.post(unlisted)).body).not.toHaveProperty('warnings')
    expect(ids).toContain('events.label.store')
    expect(ids).toContain('events.label.parameter.own')
    expect(ids.filter((id) => id.startsWith('events.label.parameter.'))).toHaveLength(1)
  })
})

describe('displays and clicks', () => {
  it('of another company, of no workflow, and of previews count nowhere', async () => {
    const at = '2026-03-10T10:00:00Z'
    await engine.load([
      display(at, { company: otherCompany }),
      display(at, { labels: { workflowId: '' } }),
      display(at, { labels: { preview: 'true' } }),
      click(at, { labels: { preview: 'true' } }),
      purchase('5.00', '2026-03-10T12:00:00Z'),
    ])
    expect(
      await cells({ measures: ['workflows.count', 'workflows.openers', 'purchases.influencedCount'] }),
    ).toEqual([[0, 0, 0]])
  })

  it('count once, in whichever batches and however often they are loaded', async () => {
    const events = Array.from({ length: 40 }, (_, i) =>
      (i % 3 === 0 ? click : display)(`2026-03-10T10:${String(i).padStart(2, '0')}:00Z`, {
        eventId: `e${i}`,
      }),
    )
    await engine.load(events.slice(20))
    await engine.load(events)
    await engine.load(events.toReversed())
    expect(await cells({ measures: ['workflows.displays', 'workflows.clicks'] })).toEqual([[26, 14]])
  })

  it('under a name that a company has given them count with the others', async () => {
    await engine.load([
      display('2026-03-10T10:00:00Z', { labels: { branchId: 'b1', tagValueIds: hex(1) } }),
      display('2026-03-10T10:00:05Z', {
        name: 'teaser_shown',
        labels: { branchId: 'b1', 'parameter.x': 'y' },
      }),
      click('2026-03-10T10:01:00Z', { name: 'teaser_tapped', labels: { branchId: 'b2' } }),
      purchase('5.00', '2026-03-10T12:00:00Z'),
    ])
    const query = wholeQuery({
      measures: [
        'workflows.displays',
        'workflows.openings',
        'workflows.clicks',
        'purchases.influencedRevenue',
      ],
      dimensions: ['workflows.branch'],
      filters: [{ member: 'workflows.person', operator: 'equals', values: ['device-1'] }],
      order: { 'workflows.branch': 'asc' },
    })
    const plan = planQuery(parseQuery(query, { instant: app.now, zone: openZone('UTC') }))
    const { sql, params } = compileQuery(plan, testCompany, {
      visibleWorkflows: 'all',
      eventAliases: new Map([
        ['teaser_shown', 'workflow_display'],
        ['teaser_tapped', 'workflow_click'],
      ]),
      attribution: app.attribution,
      exactCounts: true,
    })
    const rows = await engine.columnar.query<Record<string, unknown>>({ sql, params })
    expect(
      rows.map((row) => Object.values(row).map((cell) => (cell === row.g0 ? cell : Number(cell)))),
    ).toEqual([
      ['b1', 2, 1, 0, 0],
      ['b2', 0, 0, 1, 5],
    ])
  })

  it('are filtered by cohorts and persons', async () => {
    await engine.load([
      display('2026-03-10T10:00:00Z', { clientId: 'ada' }),
      display('2026-03-10T10:00:00Z', { tmpId: 'phone' }),
      storedEvent({ name: 'identify', tmpId: 'phone', clientId: 'ada' }),
      display('2026-03-10T10:00:00Z', { tmpId: 'd3' }),
    ])
    const cohort = await app.post({ name: 'Ada', persons: ['ada'] }, { path: '/v2/statistics/cohorts' })
    expect(cohort.status).toBe(200)
    const of = (member: string, values: string[]) =>
      cells({
        measures: ['workflows.displays', 'workflows.openers'],
        filters: [{ member, operator: 'equals', values }],
      })
    expect(await of('workflows.person', ['ada'])).toEqual([[2, 1]])
    expect(await of('workflows.person', ['phone'])).toEqual([[0, 0]])
    expect(await of('workflows.isAnonymous', ['true'])).toEqual([[1, 1]])
    const { id } = cohort.body.data as { id: string }
    expect(await of('persons.cohort', [id])).toEqual([[2, 1]])
  })

  it.each(['workflows.generationTime', 'sessions.duration', 'purchases.timeFromClick'])(
    'without a mean pass no filter on it but notEquals: %s',
    async (member) => {
      const passing = (operator: 'equals' | 'notEquals' | 'lt') =>
        cells({ measures: [member], filters: [{ member, operator, values: ['0'] }] })
      expect(await passing('equals')).toEqual([])
      expect(await passing('lt')).toEqual([])
      expect(await passing('notEquals')).toEqual([[null]])
    },
  )

  it('come as CSV with a header of members', async () => {
    await engine.load([display('2026-03-10T10:00:00Z', { labels: { message: '=cmd', generationMs: '2.5' } })])
    const { text } = await app.post(
      wholeQuery({
        measures: ['workflows.displays', 'workflows.generationTime', 'workflows.clickToOpenRate'],
        dimensions: ['workflows.message', 'workflows.isAnonymous'],
      }),
      { accept: 'text/csv' },
    )
    expect(text).toBe(
      'workflows.message,workflows.isAnonymous,workflows.displays,workflows.generationTime,workflows.clickToOpenRate\r\n' +
        "'=cmd,true,1,2.5,0\r\n",
    )
  })
})

describe('workflows of other teams (W18)', () => {
  const [seen, hidden, gone] = [hex(1), hex(2), hex(3)]
  const secret = { url: 'https://secret.example/launch', tmpId: 'x1' }

  beforeEach(async () => {
    await app.sql('update companies set shows_other_teams = false')
    for (const [id, team] of [
      [seen, 'Ours'],
      [hidden, 'Theirs'],
    ]) {
      const teamId = hex(Number(`0x${id}`) + 5_000)
      const ofCompany = [testCompany, id]
      await app.sql('insert into teams (company_id, id, name) values ($1, $2, $3)', [
        testCompany,
        teamId,
        team,
      ])
      await app.sql('insert into workflows (company_id, id, name) values ($1, $2, $3)', [
        ...ofCompany,
        `Of ${team}`,
      ])
      await app.sql('insert into workflow_teams (company_id, workflow_id, team_id) values ($1, $2, $3)', [
        ...ofCompany,
        teamId,
      ])
    }
    await app.sql('insert into team_members (company_id, team_id, user_id) values ($1, $2, $3)', [
      testCompany,
      hex(5_001),
      app.readerId,
    ])
    const of = (workflowId: string, n: number) => ({
      labels: { workflowId, versionId: hex(40 + n), branchId: `b${n}`, 'parameter.city': `city ${n}` },
    })
    await engine.load([
      display('2026-03-10T10:00:00Z', of(seen, 1)),
      display('2026-03-10T10:00:01Z', { ...of(hidden, 2), ...secret }),
      click('2026-03-10T10:00:05Z', { ...of(hidden, 4), ...secret }),
      purchase('10.00', '2026-03-10T10:00:07Z', { tmpId: 'x1', url: 'https://shop.example/' }),
      display('2026-03-10T10:00:02Z', { ...of(gone, 3), tmpId: 'x3' }),
      storedEvent({
        at: '2026-03-10T11:00:00Z',
        name: 'page_view',
        url: 'https://shop.example/',
        tmpId: 'x4',
      }),
    ])
  })

  const measures = ['workflows.count', 'workflows.displays']
  const dimensions = [
    'workflows.name',
    'workflows.team',
    'workflows.id',
    'workflows.version',
    'workflows.branch',
    'workflows.parameter.city',
  ]
  const others = 'other teams'
  const ours = ['Of Ours', 'Ours', seen, hex(41), 'b1', 'city 1', 1, 1]
  const masked = [others, others, others, others, others, others, 3, 2]
  const filtered = (member: string, operator: 'equals' | 'contains' | 'notEquals', value: string) =>
    cells({ measures: ['workflows.count'], filters: [{ member, operator, values: [value] }] })

  it('are one row in every form, and numbers stay whole', async () => {
    const query = { measures, dimensions, order: { 'workflows.count': 'asc' } as const }
    expect(await cells(query)).toEqual([ours, masked])
    expect(
      (await app.post(wholeQuery(query), { accept: 'text/csv' })).text.split('\r\n').slice(1, 3),
    ).toEqual([ours.join(','), masked.join(',')])
    const lines = await app.post(wholeQuery(query), { accept: 'application/x-ndjson' })
    expect(
      lines.text
        .trim()
        .split('\n')
        .map((line) => Object.values(JSON.parse(line))),
    ).toEqual([ours, masked])
    expect(
      await cells({ measures, order: { 'workflows.id': 'desc' }, dimensions: ['workflows.id'] }),
    ).toEqual([
      [others, 3, 2],
      [seen, 1, 1],
    ])
  })

  it('are found by no filter, measured or shared, but as the one that they are', async () => {
    for (const [member, value] of [
      ['workflows.id', hidden],
      ['workflows.name', 'Of Theirs'],
      ['workflows.team', 'Theirs'],
      ['workflows.branch', 'b2'],
      ['workflows.parameter.city', 'city 2'],
    ] as const) {
      expect(await filtered(member, 'equals', value)).toEqual([[0]])
      expect(await filtered(member, 'notEquals', value)).toEqual([[4]])
      expect(await filtered(member, 'contains', 'other t')).toEqual([[3]])
    }
    const credits = { measures: ['purchases.influencedRevenue'], dimensions: ['workflows.name'] }
    expect(await cells(credits)).toEqual([[others, 10]])
    expect(
      await cells({
        ...credits,
        filters: [{ member: 'workflows.id', operator: 'equals', values: [hidden] }],
      }),
    ).toEqual([])
  })

  it('are not told by the addresses and labels of their events, wherever these are asked for', async () => {
    const byHost = async (measure: string, dimension: string) =>
      cells({ measures: [measure], dimensions: [dimension], order: { [measure]: 'desc' } })
    expect(await byHost('events.count', 'events.host')).toEqual([
      [others, 3],
      ['shop.example', 3],
    ])
    expect(await byHost('sessions.count', 'sessions.entryHost')).toEqual([
      [others, 2],
      ['shop.example', 2],
    ])
    expect((await byHost('events.count', 'events.label.workflowId')).flat()).not.toContain(hidden)
    const dateRange = ['2026-03-10', '2026-03-10']
    const body = (reply: Awaited<ReturnType<typeof app.post>>) => JSON.stringify(reply.body)
    const paths = await app.post({ by: 'path', dateRange }, { path: '/v2/statistics/paths' })
    expect(body(paths)).toContain(others)
    expect(body(paths)).not.toContain('launch')
    const funnel = await app.post(
      {
        steps: [{ events: ['workflow_display'] }, { events: ['purchase'] }],
        dateRange,
        breakdown: 'events.label.branchId',
      },
      { path: '/v2/statistics/funnels' },
    )
    expect(body(funnel)).toContain(others)
    expect(body(funnel)).not.toContain('b2')
    const rule = {
      event: { events: ['workflow_display'], filters: [filterOn('events.url', secret.url)] },
      atLeast: 1,
    }
    const cohort = await app.post({ name: 'Hidden', rule }, { path: '/v2/statistics/cohorts' })
    const { id } = cohort.body.data as { id: string }
    const inCohort = { measures: ['events.people'], filters: [filterOn('persons.cohort', id)] }
    expect(await cells(inCohort)).toEqual([[0]])
    await app.sql('update companies set shows_other_teams = true')
    expect(await cells(inCohort)).toEqual([[1]])
  })

  it('are no values that are offered', async () => {
    app.now = Date.parse('2026-03-12T10:00:00Z')
    const { body } = await app.app.inject({
      url: '/v2/statistics/values?member=workflows.parameter.city',
      headers: callerToken,
    })
    expect(JSON.parse(body).data).toEqual([
      { value: others, count: 3 },
      { value: 'city 1', count: 1 },
    ])
  })

  it('are shown to who is in all teams or may change them, and once the company opens them', async () => {
    const names = () =>
      cells({ measures, dimensions: ['workflows.name'], order: { 'workflows.name': 'asc' } })
    const hiding = [
      ['Of Ours', 1, 1],
      [others, 3, 2],
    ]
    const all = [
      [gone, 1, 1],
      ['Of Ours', 1, 1],
      ['Of Theirs', 2, 1],
    ]
    expect(await names()).toEqual(hiding)
    for (const [open, close] of [
      ['update companies set shows_other_teams = true', 'update companies set shows_other_teams = false'],
      [
        `insert into team_members (company_id, team_id, user_id) select company_id, '${hex(5_002)}', id from users where id = '${app.readerId}'`,
        `delete from team_members where team_id = '${hex(5_002)}'`,
      ],
      [
        `insert into role_permissions (role_id, resource, action) select role_id, 'team', 'update' from users where id = '${app.readerId}'`,
        `delete from role_permissions where resource = 'team'`,
      ],
    ]) {
      await app.sql(open ?? '')
      expect(await names()).toEqual(all)
      await app.sql(close ?? '')
      expect(await names()).toEqual(hiding)
    }
  })

  const filterOn = (member: string, value: string) => ({
    member,
    operator: 'equals' as const,
    values: [value],
  })
})
