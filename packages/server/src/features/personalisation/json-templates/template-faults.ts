import type { Warning } from '@millrace/contract/envelope.ts'
import type { Fault } from '@millrace/contract/failure-data.ts'
import { type JsonTemplateInput, templateLimits } from '@millrace/contract/resources/json-template.ts'
import { nearestName } from '../../../platform/text/nearest.ts'
import { readNode } from './template-node.ts'

export interface CheckedTemplate {
  readonly faults: readonly Fault[]
  /** Variables that nothing names. */
  readonly warnings: readonly Warning[]
}

/** Faults that one reply names. */
const maxFaults = 50

/** What the shapes of the contract do not say of a template. */
export function checkTemplate(template: JsonTemplateInput): CheckedTemplate {
  const { variables = [], definition, redirectVariable } = template
  const names = new Set(variables.map(({ name }) => name))
  const used = new Set<string>()
  const faults = faultsOfVariables(variables)
  let leaves = 0

  function visit(part: unknown, path: string, depth: number): void {
    if (faults.length >= maxFaults) return
    if (depth > templateLimits.depth) {
      faults.push({ path, message: `must not be nested deeper than ${templateLimits.depth} levels` })
      return
    }
    const node = readNode(part)
    switch (node.kind) {
      case 'list':
        for (const [place, item] of node.items.entries()) visit(item, `${path}.${place}`, depth + 1)
        return
      case 'object':
        for (const [name, value] of node.entries) visit(value, `${path}.${name}`, depth + 1)
        return
      case 'static':
        leaves++
        return
      case 'dependency':
        leaves++
        if (typeof node.variable === 'string' && names.has(node.variable)) used.add(node.variable)
        else faults.push({ path: `${path}.variable`, message: `must name a variable${hint(node.variable)}` })
        return
      case 'none':
        faults.push({ path, message: leafMessage })
    }
  }

  const hint = (variable: unknown): string => {
    if (typeof variable !== 'string') return ''
    const nearest = nearestName(variable, [...names])
    return nearest === undefined ? `, and there is none called "${variable}"` : `: did you mean "${nearest}"?`
  }

  if (readNode(definition).kind === 'object') visit(definition, 'definition', 0)
  else
    faults.push({ path: 'definition', message: 'must be an object that holds leaves, and not a leaf itself' })
  if (leaves > templateLimits.leaves) {
    const message = `must have at most ${templateLimits.leaves} leaves; it has ${leaves}`
    faults.push({ path: 'definition', message })
  }
  if (Buffer.byteLength(JSON.stringify(definition)) > templateLimits.bytes) {
    faults.push({ path: 'definition', message: `must have at most ${templateLimits.bytes} bytes as JSON` })
  }
  if (redirectVariable !== undefined) {
    const variable = variables.find(({ name }) => name === redirectVariable)
    used.add(redirectVariable)
    if (!variable) {
      faults.push({ path: 'redirectVariable', message: `must name a variable${hint(redirectVariable)}` })
    } else if (variable.type === 'array') {
      const message = 'must name a variable with one value, and not an array'
      faults.push({ path: 'redirectVariable', message })
    }
  }
  return { faults: faults.slice(0, maxFaults), warnings: warningsOf(variables, used) }
}

const leafMessage =
  'must be {"type": "static", "value": …}, {"type": "dependency", "variable": …}, or an object or list of them'

type Variables = NonNullable<JsonTemplateInput['variables']>

function faultsOfVariables(variables: Variables): Fault[] {
  const seen = new Set<string>()
  return variables.flatMap(({ name, type, index }, place): Fault[] => {
    const path = `variables.${place}`
    const faults: Fault[] = []
    if (seen.has(name)) faults.push({ path: `${path}.name`, message: 'must differ from the names before it' })
    seen.add(name)
    if (type === 'fixed' && index === undefined) {
      const message = `must be the row, from 0 to ${templateLimits.index}, for a fixed variable`
      faults.push({ path: `${path}.index`, message })
    }
    if (type !== 'fixed' && index !== undefined) {
      faults.push({ path: `${path}.index`, message: 'must be left out: only a fixed variable names a row' })
    }
    return faults
  })
}

const warningsOf = (variables: Variables, used: ReadonlySet<string>): Warning[] =>
  variables.flatMap(({ name }, place) =>
    used.has(name)
      ? []
      : [
          {
            path: `variables.${place}`,
            message: `no leaf names the variable "${name}": its value is not answered`,
          },
        ],
  )
