import { flushCompileCache } from 'node:module'
import { afterAll } from 'vitest'

// Set up before every test file: a worker is ended by a signal, before Node.js would write what it compiled.
afterAll(() => flushCompileCache())
