import type { WorkflowDefinition } from '@millrace/contract/resources/workflow-definition.ts'
import { expect, test } from 'vitest'
import { changesBetween } from './changes-between.ts'

const before: WorkflowDefinition = {
  nodes: {
    hero: { type: 'image', name: 'Hero', url: 'https://example.com/a.png', bindings: { a: { value: 1 } } },
    gone: { type: 'empty' },
    same: {
      type: 'split',
      groups: [
        { id: 'A', share: 50 },
        { id: 'B', share: 50 },
      ],
    },
  },
  entrypoints: { zone: { type: 'web', format: 'json' } },
  edges: { e1: { from: 'zone', to: 'same' }, e2: { from: 'same', to: 'hero', output: 'A' } },
}

test('a definition has no changes from itself, whatever the order of its keys', () => {
  expect(changesBetween(before, before)).toEqual([])
  const turned = {
    ...before,
    nodes: {
      ...before.nodes,
      same: {
        groups: [
          { share: 50, id: 'A' },
          { share: 50, id: 'B' },
        ],
        type: 'split',
      },
    },
  } as const
  expect(changesBetween(before, turned as unknown as WorkflowDefinition)).toEqual([])
})

test('what was added, removed and changed is named with its fields', () => {
  const { hero, same } = before.nodes
  const after: WorkflowDefinition = {
    nodes: {
      hero: {
        ...hero,
        url: 'https://example.com/b.png',
        bindings: { a: { value: 2 } },
        name: 'Big',
      } as typeof hero & object,
      ...(same && { same }),
      extra: { type: 'cohort', cohortId: 'c'.repeat(24) },
    },
    entrypoints: { zone: { type: 'web', format: 'embed-html', position: 1 } },
    edges: { e1: { from: 'zone', to: 'same' }, e3: { from: 'same', to: 'hero', output: 'A' } },
  }
  expect(changesBetween(before, after)).toEqual([
    {
      kind: 'entrypoint',
      id: 'zone',
      change: 'changed',
      fields: ['format', 'position'],
      description:
        'Entrypoint "zone" (web) changed: format from "json" to "embed-html"; position from nothing to 1',
    },
    {
      kind: 'node',
      id: 'extra',
      change: 'added',
      fields: [],
      description: 'Node "extra" (cohort) added',
    },
    {
      kind: 'node',
      id: 'gone',
      change: 'removed',
      fields: [],
      description: 'Node "gone" (empty) removed',
    },
    {
      kind: 'node',
      id: 'hero',
      change: 'changed',
      fields: ['bindings', 'name', 'url'],
      description:
        'Node "hero" "Big" (image) changed: bindings; name from "Hero" to "Big"; url from "https://example.com/a.png" to "https://example.com/b.png"',
    },
    {
      kind: 'edge',
      id: 'e2',
      change: 'removed',
      fields: [],
      description: 'Edge "e2" from "same" to "hero" by output "A" removed',
    },
    {
      kind: 'edge',
      id: 'e3',
      change: 'added',
      fields: [],
      description: 'Edge "e3" from "same" to "hero" by output "A" added',
    },
  ])
})
