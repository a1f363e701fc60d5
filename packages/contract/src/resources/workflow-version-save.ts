import { type Static, Type } from 'typebox'
import { bodyOf, flag, listOf, longText, mapOf, named, optionals, strict, text } from './formats.ts'
import { DefinitionChange, DefinitionFault, definitionLimits } from './workflow-definition.ts'
import { AnalyzeOverrides, versionHead, WorkflowVersion } from './workflow-version.ts'

/** Bounds of versions (docs/workflows.md, Versions). */
export const versionLimits = {
  /** Of `metadata` as JSON. */
  metadataBytes: 100_000,
  changeDescription: 2_000,
  /** Versions that a workflow shows, and bytes of their definitions and analyses after which it shows no further ones. */
  shown: 20,
  shownBytes: 8_000_000,
} as const

/** A version without its content, as lists have it. */
export const WorkflowVersionSummary = named('WorkflowVersionSummary', versionHead)
export type WorkflowVersionSummary = Static<typeof WorkflowVersionSummary>

const parts = (description: string, maxProperties: number) =>
  mapOf(Type.Unknown(), { description, maxProperties })

/** Any graph within the bounds can be saved: what is wrong with it is said by validation. */
const DefinitionInput = named(
  'WorkflowDefinitionInput',
  {
    nodes: parts('By node', definitionLimits.nodes),
    entrypoints: parts('By entrypoint', definitionLimits.entrypoints),
    edges: parts('By edge', definitionLimits.edges),
  },
  'What each part holds: docs/workflows.md, Fields',
)

const save = optionals({
  definition: DefinitionInput,
  metadata: mapOf(Type.Unknown(), `Notes of the editor, up to ${versionLimits.metadataBytes} bytes`),
  analyzeOverrides: Type.Partial(AnalyzeOverrides, {
    ...strict,
    title: 'WorkflowAnalyzeOverridesInput',
    description: 'What is absent overrides nothing',
  }),
  changeDescription: longText('What was changed', versionLimits.changeDescription),
})

/** A field that is absent stays as it is; those that are there are replaced as a whole. */
export const WorkflowVersionSave = bodyOf('WorkflowVersionSave', WorkflowVersion, save)
export type WorkflowVersionSave = Static<typeof WorkflowVersionSave>

export const WorkflowValidation = named('WorkflowValidation', {
  valid: flag('Whether it can be published as it is'),
  faults: Type.Array(DefinitionFault),
})
export type WorkflowValidation = Static<typeof WorkflowValidation>

export const WorkflowChanges = named('WorkflowChanges', {
  from: text('The earlier version'),
  to: text('The version of the address'),
  changes: listOf(DefinitionChange, `From the one to the other; at most ${definitionLimits.listed}`),
})
export type WorkflowChanges = Static<typeof WorkflowChanges>
