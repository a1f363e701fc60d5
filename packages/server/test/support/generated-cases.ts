import fc from 'fast-check'
import { seed } from './long.ts'

// Set up before every test file: a run can be repeated as a whole, by its seed.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
