import { modeParameter } from '../run/read-request.ts'
import type { RunRequest } from '../run/run-request.ts'

/** The same address with everything that it was called with, for the click on what it shows. */
export function clickAddressOf(displayAddress: string, { parameters }: RunRequest): string {
  const query = new URLSearchParams()
  for (const [name, values] of parameters) {
    if (name === modeParameter) continue
    for (const value of values) query.append(name, value)
  }
  query.append(modeParameter, 'click')
  return `${displayAddress}?${query}`
}
