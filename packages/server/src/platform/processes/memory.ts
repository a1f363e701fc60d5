import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Gives memory back that was needed once: a heap that has grown for a start keeps its pages, 150 MB more than are in
 * use, until many full collections have come by. Holds the event loop for some 60 ms.
 */
export function giveMemoryBack(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  collect({ type: 'major', flavor: 'last-resort' })
}
