import { Binding } from '@millrace/contract/resources/workflow-definition.ts'
import { faultOfShape } from '../../../platform/http/validation.ts'
import { isObject } from '../../../platform/plain-object.ts'
import type { ShapeFault } from './nodes/node-kind.ts'

/** Where nodes have bindings. */
const bindingPlace = /(^|\.)(value|redirect|bindings\.[^.]+|to\.\d+)$/

const valueAt = (within: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      isObject(value) || Array.isArray(value) ? (value as Record<string, unknown>)[name] : undefined,
    within,
  )

/** The forms of a binding, with what stands there bare as the value of one. */
export function bindingForms(bare: unknown): string {
  const text = JSON.stringify(bare) ?? 'null'
  const value = text.length > 60 ? '…' : text
  return `must be {"value": ${value}}, or {"node": "<id>"} for the value of a node`
}

/**
 * What a union says least about: a bare value, and an object that is neither a value nor names the node that gives it.
 */
export function explainBinding(within: unknown, fault: ShapeFault): ShapeFault {
  const path = fault.path.split('.')
  if (bindingPlace.test(fault.path) && !isObject(valueAt(within, path)) && fault.message !== 'is required')
    return { path: fault.path, message: bindingForms(valueAt(within, path)) }
  if (path.pop() !== 'value' || fault.message !== 'is required') return fault
  const binding = valueAt(within, path)
  if (!isObject(binding)) return fault
  if (!('node' in binding))
    return {
      path: path.join('.'),
      message: 'must have either a value, as {"value": "x"}, or the node that gives it, as {"node": "<id>"}',
    }
  const wrong = faultOfShape(Binding.anyOf[1], binding)
  return wrong ? { path: joined(...path, wrong.path), message: wrong.message } : fault
}

export const joined = (...path: string[]): string => path.filter((each) => each !== '').join('.')
