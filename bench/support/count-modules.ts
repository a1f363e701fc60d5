import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Imported before a service: writes at its end how many files it has loaded as modules.

/** Names the file that the number is written to. */
export const countVariable = 'MILLRACE_BENCH_MODULES'

let files = 0
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files++
    return next(url, context)
  },
})
process.once('exit', () => writeFileSync(process.env[countVariable] ?? '', String(files)))
