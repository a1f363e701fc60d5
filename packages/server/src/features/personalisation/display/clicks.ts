import type { PersonEvent } from '../../analytics/persons/person.ts'
import type { BranchEnd, PersonSource } from '../compile/executable.ts'
import type { Outcome, ShownContent } from '../run/execute.ts'
import { shownParameter } from '../run/read-request.ts'
import type { RunRequest } from '../run/run-request.ts'
import { readSignedContent, type ShownAt, signContent } from './reply/click-address.ts'
import type { ReadyZone } from './zone-cache.ts'

export interface ClicksDependencies {
  readonly persons: Pick<PersonSource, 'readPerson'>
  /** Milliseconds that a look-up may take. */
  readonly timeLimitMs: number
  readonly warn: (about: string, fields: object, message: string) => void
}

/** How far back a display is looked for, as long as events are kept by person. */
const lookBackMs = 90 * 86_400_000

/**
 * What a click needs to know of the content that it is on: its own address says so (`{{click}}`), else the events of the
 * person. Nothing of it is in the memory of a process, so that every process answers alike, also after a restart.
 */
export function createClicks({ persons, timeLimitMs, warn }: ClicksDependencies) {
  return {
    /** What the address of the click is given with a content; undefined where it needs more than there is room for. */
    sign(ready: ReadyZone, request: RunRequest, { branch, destination }: ShownContent): string | undefined {
      const at = placeOf(ready, request)
      const { clickKey } = ready.company
      if (!at || !branch || !clickKey) return undefined
      const { person, tmpId } = request
      const isAnonymous = person.client === undefined && person.device === undefined
      const content = { branchId: branch.id, destination, anonymousId: isAnonymous ? tmpId : undefined }
      return signContent(clickKey, at, content)
    },

    /** What the address says of the content, and to whom it was shown where that person has no identifier. */
    read(
      ready: ReadyZone,
      request: RunRequest,
    ):
      | {
          readonly content: Pick<Outcome, 'branch' | 'output' | 'destination'>
          readonly anonymousId: string | undefined
        }
      | undefined {
      const signed = request.parameters.get(shownParameter)?.[0]
      const at = placeOf(ready, request)
      const { clickKey } = ready.company
      const content = signed && at && clickKey ? readSignedContent(clickKey, at, signed) : undefined
      const end = content && ready.executable?.branchEnds.get(content.branchId)
      if (!end) return undefined
      const { destination, anonymousId } = content
      return { content: { ...end, destination }, anonymousId }
    },

    /** The last display of the workflow to the person; undefined where none is found in time. */
    async findDisplay({ zone }: ReadyZone, { person, now }: RunRequest): Promise<PersonEvent | undefined> {
      if (person.client === undefined && person.device === undefined) return undefined
      const { companyId, workflowId } = zone
      try {
        const since = new Date(now - lookBackMs)
        const signal = AbortSignal.timeout(timeLimitMs)
        const { events } = await persons.readPerson({ ...person, companyId, since, signal })
        return events.find(
          ({ name, labels }) => name === 'workflow_display' && labels.workflowId === workflowId,
        )
      } catch (error) {
        warn('display', { err: error }, 'what a person was shown could not be looked up for a click')
        return undefined
      }
    },

    /** Where the branch of a display ends, if it was of this version and place. */
    endOf({ zone, executable }: ReadyZone, { labels }: PersonEvent): BranchEnd | undefined {
      const { published, integration } = zone
      const isHere = labels.versionId === published?.versionId && labels.integrationId === integration.id
      return isHere ? executable?.branchEnds.get(labels.branchId ?? '') : undefined
    },
  }
}

/** Of one version alone: another one may not lead where this one did. */
function placeOf({ zone }: ReadyZone, { person }: RunRequest): ShownAt | undefined {
  const { companyId, workflowId, integration, entrypointId, published } = zone
  if (published === undefined) return undefined
  const { versionId } = published
  return { companyId, workflowId, versionId, integrationId: integration.id, entrypointId, person }
}
