import type { WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import type { RunView } from '../../compile/executable.ts'
import { readMoment, readNumber } from '../../compile/values.ts'
import type { DataNodeKind } from './node-kind.ts'

type ParameterNode = WorkflowNodeOf<'parameter'>

const types = { text: 'text', number: 'number', date: 'date', texts: 'list', numbers: 'list' } as const

/** URL parameters that say where a link was placed, not for whom. */
const impersonalParameters = new Set(['trk-m', 'trk-t', 'trk-referer'])
const isCampaign = ({ parameter }: ParameterNode): boolean =>
  impersonalParameters.has(parameter) || parameter.startsWith('utm_')

/** The value of a parameter of the address. */
export const parameter: DataNodeKind<ParameterNode> = {
  gives: 'value',
  typeOf: ({ kind }) => types[kind],
  isPersonal: (node) => !isCampaign(node),
  scoreOf: (node) => (node.parameter === 'trk-u' || isCampaign(node) ? 0 : 0.5),
  isForeign: () => true,
  isGivenAddress: () => true,

  compile({ parameter: name, kind, default: fallback }) {
    const given = ({ request }: RunView): readonly string[] => {
      const sent = (request.parameters.get(name) ?? []).filter((value) => value !== '')
      return sent.length === 0 && fallback !== undefined && fallback !== '' ? [fallback] : sent
    }
    /** Repeated, or with commas. */
    const several = (run: RunView) =>
      given(run)
        .flatMap((value) => value.split(','))
        .map((value) => value.trim())
        .filter((value) => value !== '')
    const readers = {
      text: (run: RunView) => given(run)[0],
      number: (run: RunView) => readNumber(given(run)[0]),
      date: (run: RunView) => readMoment(given(run)[0], run.request.clock) && given(run)[0],
      texts: several,
      numbers: (run: RunView) => several(run).flatMap((value) => readNumber(value) ?? []),
    }
    return { inputOf: ({ request }) => request.parameters.get(name) ?? null, compute: readers[kind] }
  },
}
