import { probe } from '@millrace/contract/probe.ts'
console.log(process.version, probe(1))
