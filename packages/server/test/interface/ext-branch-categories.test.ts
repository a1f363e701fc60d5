import type { BranchCategory } from '@millrace/contract/resources/branch-category.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bannerDefinition, openWorkflowsApp, type WorkflowsApp } from '../support/workflows.ts'

let flows: WorkflowsApp
beforeAll(async () => {
  flows = await openWorkflowsApp()
})
afterAll(() => flows.close())

const path = '/branch-categories'
const add = (name: string, parentId?: string) =>
  flows.succeed(
    flows.call<BranchCategory>('POST', path, { name, ...(parentId !== undefined && { parentId }) }),
  )
const change = ({ id }: BranchCategory, body: object) =>
  flows.call<BranchCategory>('PATCH', `${path}/${id}`, body)
const remove = ({ id }: BranchCategory, query = '') => flows.call('DELETE', `${path}/${id}${query}`)
const read = ({ id }: BranchCategory) => flows.call<BranchCategory>('GET', `${path}/${id}`)

describe('branch categories', () => {
  it('are a tree, listed from the top with siblings by name', async () => {
    const loyalty = await add('Tree b')
    const gold = await add('gold', loyalty.id)
    const bronze = await add('Bronze', loyalty.id)
    const top = await add('Tree a')
    expect(gold).toMatchObject({ level: 2, parentId: loyalty.id, children: [] })
    const { data } = await flows.call<BranchCategory[]>('GET', path)
    expect(data.map(({ id }) => id)).toEqual([top.id, loyalty.id, bronze.id, gold.id])
    expect(data[1]).toMatchObject({ level: 1, children: [bronze.id, gold.id] })
    expect(data[1]).not.toHaveProperty('parentId')
  })

  it('move with all below them, and never below themselves or deeper than 5 levels', async () => {
    const chain = [await add('Chain')]
    for (let level = 2; level <= 4; level++) chain.push(await add(`Chain ${level}`, chain.at(-1)?.id))
    const [top, second, third, fourth] = chain as [
      BranchCategory,
      BranchCategory,
      BranchCategory,
      BranchCategory,
    ]
    for (const parent of [top, second, fourth]) {
      expect(await change(top, { parentId: parent.id })).toMatchObject({ status: 409, error_code: 3057 })
    }
    const other = await add('Other')
    const below = await add('Below other', other.id)
    expect((await change(top, { parentId: other.id })).status).toBe(200)
    expect((await read(fourth)).data.level).toBe(5)
    expect(await change(top, { parentId: below.id })).toMatchObject({ status: 409, error_code: 3056 })
    const deep = await flows.call('POST', path, { name: 'Six', parentId: fourth.id })
    expect(deep).toMatchObject({ status: 409, error_code: 3056 })
    expect((await flows.succeed(change(third, { parentId: null }))).level).toBe(1)
    expect((await read(fourth)).data).toMatchObject({ level: 2, parentId: third.id })
  })

  it('keep their parent where a change names none, and are renamed', async () => {
    const parent = await add('Parent')
    const child = await add('Child', parent.id)
    const renamed = await flows.succeed(change(child, { name: ' Renamed ' }))
    expect(renamed).toMatchObject({ name: 'Renamed', parentId: parent.id })
    expect((await flows.succeed(change(child, renamed))).updatedAt).toBe(renamed.updatedAt)
  })

  it('are below a category of the company', async () => {
    const foreign = await flows.succeed(
      flows.call<BranchCategory>('POST', path, { name: 'F' }, { token: flows.stranger.token }),
    )
    for (const parentId of [foreign.id, 'f'.repeat(24), 'x']) {
      expect((await flows.call('POST', path, { name: 'N', parentId })).status).toBe(400)
    }
    expect(await read(foreign)).toMatchObject({ status: 404, error_code: 3054 })
    expect(await remove(foreign, '?recursive=true')).toMatchObject({ status: 404 })
  })

  it('make no cycle when two move at once', async () => {
    const a = await add('A')
    const b = await add('B')
    const replies = await Promise.all([change(a, { parentId: b.id }), change(b, { parentId: a.id })])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

describe('a deleted category', () => {
  it('takes those below it along only where that is asked for', async () => {
    const top = await add('Delete')
    const child = await add('Child', top.id)
    const grandchild = await add('Grandchild', child.id)
    const refused = await remove(top)
    expect(refused).toMatchObject({
      status: 409,
      error_code: 3058,
      data: { children: [{ id: child.id, name: 'Child' }] },
    })
    await flows.succeed(remove(top, '?recursive=true'))
    for (const each of [top, child, grandchild]) expect((await read(each)).status).toBe(404)
    const again = await add('Delete')
    expect(again.id).not.toBe(top.id)
  })

  it('is lost by branches of drafts and of live versions', async () => {
    const top = await add('Used')
    const used = await add('Below used', top.id)
    const definition = bannerDefinition()
    const workflow = await flows.published({
      ...definition,
      edges: { e1: { ...definition.edges.e1, categoryId: used.id } },
    })
    const live = workflow.versions.find(({ state }) => state === 'live')
    expect(Object.values(live?.analyze.categoryIdByBranch ?? {})).toEqual([used.id])
    await flows.succeed(remove(top, '?recursive=true'))
    const { versions } = await flows.read(workflow)
    expect(versions).toHaveLength(2)
    for (const { definition: found, analyze } of versions) {
      expect(found.edges.e1).toEqual(definition.edges.e1)
      expect(analyze.categoryIdByBranch).toEqual({})
    }
  })

  it('keeps a version from being published that names it', async () => {
    const gone = await add('Gone')
    await flows.succeed(remove(gone))
    const definition = bannerDefinition()
    const workflow = await flows.create()
    const draft = await flows.draftOf(workflow)
    const edges = { e1: { ...definition.edges.e1, categoryId: gone.id } }
    await flows.succeed(flows.save(workflow, draft, { definition: { ...definition, edges } }))
    expect((await flows.publish(workflow, draft)).status).toBe(409)
  })
})
