/**
 * Holds a data directory and its event log, as the service does, writes its pid and then to the log until it is killed.
 * Run: node lock-holder.ts <data directory>
 */
import { join } from 'node:path'
import { openDataDirectory } from '../../src/platform/files/data-directory.ts'
import { openSegmentLog } from '../../src/platform/stores/segment-log.ts'

const { path, publish } = await openDataDirectory(process.argv[2] ?? '')
const log = await openSegmentLog({ directory: join(path, 'log'), preparesSegments: true })
publish('http://127.0.0.1:1')
// Memory that was touched takes the kernel a while to give back.
const ballast = Buffer.alloc(256 * 1024 * 1024, 1)
console.log(process.pid)
for (;;) await log.append(`{"ballast":${ballast.length}}\n`, 1, log.reserve(1))
