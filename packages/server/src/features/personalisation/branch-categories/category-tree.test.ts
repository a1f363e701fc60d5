import fc from 'fast-check'
import { expect, test } from 'vitest'
import { branchOf, type CategoryNode, treeOf } from './category-tree.ts'

/** Any forest: each node is below one before it, or on level 1. */
const forests = fc
  .array(fc.record({ name: fc.string({ maxLength: 3 }), parent: fc.nat() }), { maxLength: 30 })
  .map((nodes) =>
    nodes.map(
      ({ name, parent }, place): CategoryNode => ({
        id: String(place).padStart(2, '0'),
        name,
        parentId: parent % (place + 1) === place ? null : String(parent % (place + 1)).padStart(2, '0'),
      }),
    ),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }))

function ancestorsOf(nodes: readonly CategoryNode[], id: string): string[] {
  const node = nodes.find((each) => each.id === id)
  return node?.parentId ? [node.parentId, ...ancestorsOf(nodes, node.parentId)] : []
}

test('every node is placed once, after its parent, on the level that its ancestors say, with its children', () => {
  fc.assert(
    fc.property(forests, (nodes) => {
      const tree = treeOf(nodes)
      const order = tree.map(({ category }) => category.id)
      expect(order.toSorted()).toEqual(nodes.map(({ id }) => id).toSorted())
      for (const { category, level, children } of tree) {
        expect(level).toBe(ancestorsOf(nodes, category.id).length + 1)
        for (const above of ancestorsOf(nodes, category.id))
          expect(order.indexOf(above)).toBeLessThan(order.indexOf(category.id))
        const below = nodes.filter(({ parentId }) => parentId === category.id).map(({ id }) => id)
        expect(children.map(({ id }) => id).toSorted()).toEqual(below.toSorted())
      }
    }),
  )
})

test('the branch of a node is the node and all that have it above them', () => {
  fc.assert(
    fc.property(forests, (nodes) => {
      const tree = treeOf(nodes)
      for (const { id } of nodes) {
        const expected = nodes.filter((each) => each.id === id || ancestorsOf(nodes, each.id).includes(id))
        expect(
          branchOf(tree, id)
            .map(({ category }) => category.id)
            .toSorted(),
        ).toEqual(expected.map((each) => each.id).toSorted())
      }
    }),
  )
})

test('siblings stand by name, whatever the case of its letters', () => {
  const node = (id: string, name: string) => ({ id, name, parentId: null })
  const tree = treeOf([node('1', 'b'), node('2', 'A'), node('3', 'C'), node('4', 'a')])
  expect(tree.map(({ category }) => category.name)).toEqual(['A', 'a', 'b', 'C'])
})
