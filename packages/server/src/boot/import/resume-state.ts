import { createHash } from 'node:crypto'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'

/** How far an interrupted import came, and of exactly what. */
interface ResumeState {
  readonly fingerprint: string
  /** Events acknowledged without a gap from the beginning of the input. */
  readonly acknowledged: number
}

export type Resume = Awaited<ReturnType<typeof openResume>>

const sampleBytes = 65_536

/** Identifies file, mapping and target; the import of a changed file restarts from its beginning. */
async function fingerprintOf(path: string, settings: string): Promise<string> {
  const { size, mtimeMs } = await stat(path)
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0)
    const hash = createHash('sha256').update(`${size} ${mtimeMs}\n${settings}\n`)
    return hash.update(buffer.subarray(0, bytesRead)).digest('hex')
  } finally {
    await file.close()
  }
}

/** Standard input cannot be read a second time from where it stopped. */
export const noResume: Resume = { skip: 0, save: async () => {}, finish: async () => {} }

/**
 * Opens the state file that an import keeps next to its input (`<file>.millrace-import`).
 * @param settings everything else that decides which events are sent, and where
 */
export async function openResume(path: string, settings: string) {
  const notePath = `${path}.millrace-import`
  const fingerprint = await fingerprintOf(path, settings)
  let skip = 0
  try {
    const state = JSON.parse(await readFile(notePath, 'utf8')) as ResumeState
    if (state.fingerprint === fingerprint && Number.isSafeInteger(state.acknowledged))
      skip = state.acknowledged
  } catch {
    // No note, or none that can be read: the import begins at the beginning, and event ids keep it from doubling.
  }
  return {
    /** Events to leave out because an earlier run sent them; 0 at a first run. */
    skip,
    async save(acknowledged: number): Promise<void> {
      const state: ResumeState = { fingerprint, acknowledged }
      await writeFile(`${notePath}.part`, JSON.stringify(state), { mode: 0o600 })
      await rename(`${notePath}.part`, notePath)
    },
    /** The import is whole: nothing is left to resume. */
    finish: (): Promise<void> => rm(notePath, { force: true }),
  }
}
