import { isPlaceholder } from '@millrace/contract/events/placeholders.ts'
import { isDecidedByExposure, variantOfAll } from '@millrace/contract/experiments/assigned-variant.ts'
import type { Assignment } from '@millrace/contract/resources/experiment.ts'
import type { EventPerson, SentEvent } from '../events/envelope.ts'
import { type AssignableExperiment, answer, assign, checkUnit, type LocalAssignment } from './assign.ts'
import { RecentMap } from './recent-map.ts'

/** The operations of the typed client that experiments need. */
export interface ExperimentReader {
  readExperiment(request: { params: { id: string } }): Promise<AssignableExperiment>
  readAssignment(request: { params: { id: string }; query: { unit: string } }): Promise<Assignment>
}

export interface ExperimentsOptions {
  /** A client whose user may read experiments (Statistics: access). */
  readonly client: ExperimentReader
  /** Takes the exposures; without it none is sent. */
  readonly sender?: { send(event: SentEvent): boolean | Promise<boolean> }
  /** Milliseconds for which a definition that was read is used; default 60,000. */
  readonly refreshInterval?: number
  /**
   * Whether the service is asked, once for each unit, which variant a person met before: needed where one person is
   * first known by a `tmpId` and later by a `clientId`, and after the end of an experiment. Default false: the hash
   * alone decides, and a unit of an experiment that has ended gets the baseline.
   */
  readonly readExposures?: boolean
  /** Variants that are shown whatever the hash says, by identifier of the experiment; such a showing is no exposure. */
  readonly overrides?: Readonly<Record<string, string>>
  /** Called where the service could not be asked and what is known already was used. */
  readonly onError?: (error: unknown) => void
  /** Milliseconds of a clock that never steps back. */
  readonly monotonicNow?: () => number
}

export interface Experiments {
  /**
   * The variant of a unit.
   * @throws {RangeError} for a unit that the service would refuse
   * @throws what the client throws where an experiment was never read
   */
  assign(experimentId: string, unit: string): Promise<LocalAssignment>
  /**
   * The variant of who is shown it now, and the event `experiment_exposure`, once for each unit. The unit is the
   * `clientId` where the experiment is about a `user` and there is one, else the `tmpId`.
   * @throws {RangeError} also where the experiment is about a `device` and there is no `tmpId`
   */
  expose(experimentId: string, person: EventPerson & { readonly url?: string }): Promise<LocalAssignment>
}

interface Known {
  readonly experiment: AssignableExperiment
  readonly readAt: number
}

/** After a failure the service is asked again after so many milliseconds. */
const retryMs = 5_000
/** A definition of more than so many intervals is not used without asking. */
const maxStaleIntervals = 5
/** Units that are remembered, of all experiments together. */
const maxUnits = 100_000

export function createExperiments(options: ExperimentsOptions): Experiments {
  const {
    client,
    sender,
    refreshInterval = 60_000,
    readExposures = false,
    overrides = {},
    onError = () => {},
    monotonicNow = () => performance.now(),
  } = options
  const known = new Map<string, Known>()
  const reads = new Map<string, Promise<AssignableExperiment>>()
  const failures = new RecentMap<{ readonly at: number; readonly error: unknown }>(1_000)
  const exposed = new RecentMap<true>(maxUnits)
  const asked = new RecentMap<Promise<Assignment | undefined>>(maxUnits)

  function report(error: unknown): void {
    try {
      onError(error)
    } catch {
      // A callback that fails is no reason to show nothing.
    }
  }

  /** One request for all that ask at the same time. */
  function read(id: string): Promise<AssignableExperiment> {
    const present = reads.get(id)
    if (present) return present
    const failure = failures.get(id)
    if (failure && monotonicNow() - failure.at < retryMs) return Promise.reject(failure.error)
    const reading = client.readExperiment({ params: { id } }).then(
      (experiment) => {
        failures.delete(id)
        known.set(id, { experiment, readAt: monotonicNow() })
        return experiment
      },
      (error: unknown) => {
        failures.set(id, { at: monotonicNow(), error })
        // One that is known is used further, so no caller learns of it.
        if (known.has(id)) report(error)
        throw error
      },
    )
    reads.set(id, reading)
    const forget = (): boolean => reads.delete(id)
    reading.then(forget, forget)
    return reading
  }

  async function find(id: string): Promise<AssignableExperiment> {
    const present = known.get(id)
    if (!present) return read(id)
    const age = monotonicNow() - present.readAt
    if (age < refreshInterval) return present.experiment
    const reading = read(id).catch(() => present.experiment)
    return age < refreshInterval * maxStaleIntervals ? present.experiment : reading
  }

  /** What the service answers for the unit; undefined where it does not. */
  function ask(experiment: AssignableExperiment, unit: string): Promise<Assignment | undefined> {
    const id = experiment._id
    const key = `${id} ${experiment.status} ${unit}`
    const present = asked.get(key)
    if (present) return present
    const asking = client.readAssignment({ params: { id }, query: { unit } }).then(
      (assignment) => {
        // The store did not answer: the next time it may.
        if (!assignment.exposuresRead) asked.delete(key)
        return assignment
      },
      (error: unknown) => {
        asked.delete(key)
        report(error)
        return undefined
      },
    )
    asked.set(key, asking)
    return asking
  }

  async function assignUnit(experiment: AssignableExperiment, unit: string): Promise<LocalAssignment> {
    checkUnit(unit)
    const override = Object.hasOwn(overrides, experiment._id) ? overrides[experiment._id] : undefined
    if (override !== undefined) return assignOverride(experiment, unit, override)
    const byHash = assign(experiment, unit)
    if (!readExposures || variantOfAll(experiment) || !isDecidedByExposure(experiment)) return byHash
    return (await ask(experiment, unit)) ?? byHash
  }

  /** Showing a variant never waits for the collector. */
  function sendExposure(
    { experimentId, unit, variantId }: LocalAssignment,
    { tmpId, clientId, url }: EventPerson & { readonly url?: string },
  ): void {
    const key = `${experimentId} ${variantId} ${unit}`
    if (!sender || exposed.get(key)) return
    exposed.set(key, true)
    const person = tmpId ? { tmpId, ...(clientId ? { clientId } : {}) } : { clientId: clientId as string }
    const taken = sender.send({
      name: 'experiment_exposure',
      ...person,
      ...(url === undefined ? {} : { url }),
      data: { experimentId, variantId },
    })
    Promise.resolve(taken)
      .then((isTaken) => {
        // There was no room for it; the next showing sends it.
        if (!isTaken) exposed.delete(key)
      })
      .catch(report)
  }

  return {
    assign: async (experimentId, unit) => assignUnit(await find(experimentId), unit),
    async expose(experimentId, person) {
      const experiment = await find(experimentId)
      const assignment = await assignUnit(experiment, unitOf(experiment, person))
      if (assignment.recordsExposure) sendExposure(assignment, person)
      return assignment
    },
  }
}

function unitOf({ unit, _id }: AssignableExperiment, person: EventPerson): string {
  const { tmpId, clientId } = person
  // As the collector reads it: a placeholder is no identity.
  if (unit === 'user' && clientId && !isPlaceholder(clientId)) return clientId
  if (tmpId) return tmpId
  throw new RangeError(
    unit === 'device'
      ? `The experiment ${_id} assigns devices: give the person with a tmpId.`
      : 'Give the person with a tmpId, or a clientId that is no placeholder.',
  )
}

/** @throws {RangeError} for a variant that the experiment does not have */
function assignOverride(experiment: AssignableExperiment, unit: string, variantId: string): LocalAssignment {
  const { variants, _id } = experiment
  if (!variants.some(({ id }) => id === variantId)) {
    const ids = variants.map(({ id }) => id).join(', ')
    throw new RangeError(`The experiment ${_id} has no variant ${variantId}: it has ${ids}.`)
  }
  return {
    ...answer(experiment, unit, { variantId, reason: 'decision' }),
    reason: 'override',
    recordsExposure: false,
  }
}
