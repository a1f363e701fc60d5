import type { BodyRuleId } from '@millrace/contract/events/rules.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { type EventLog, LogUnavailable } from '../../../platform/stores/event-log.ts'
import type { ActivityFeed } from '../activity/activity-feed.ts'
import type { ErasedPersons } from '../persons/erased-persons.ts'
import { refusalTest } from '../persons/refused-persons.ts'
import { retryAfterSeconds } from './admission.ts'
import type { CollectedBody } from './body/collector-body.ts'
import { type CollectorDatasource, createDatasourceCache, type FindDatasource } from './datasource-cache.ts'
import { NameGuard } from './name-guard.ts'
import { createRefusals } from './refusals.ts'
import { countryText, type FixedLabels, fixedLabelsText, lineOf, logRow } from './rows/event-row.ts'
import { type LineBytes, lineBytesOf, numberLines } from './rows/line-bytes.ts'
import type { CountryDatabase } from './senders/country-database.ts'
import { createSenderReader, type KnownSender } from './senders/senders.ts'
import { type BodyForm, readEvents } from './threads/body-form.ts'
import type { ValidationThreads } from './threads/validation-threads.ts'
import { tooManyNames, type ValidatedRequest, validateRequest } from './validate-request.ts'

/** Counts since the process started. Plain numbers: a hot path adds to them. */
interface CollectorTotals {
  kept: number
  changed: number
  dropped: number
  bot: number
  refused: number
  unavailable: number
}

export interface CollectorDependencies {
  readonly log: Pick<EventLog, 'reserve' | 'append'>
  readonly findDatasource: FindDatasource
  readonly countries: CountryDatabase
  readonly clock: Clock
  /** For ages; default the clock. */
  readonly steadyClock?: Clock
  readonly logger: Pick<Logger, 'warn'>
  /** Shows users what arrives, while they look. */
  readonly activity?: Pick<ActivityFeed, 'witness' | 'refused'>
  /** Of whom no event is taken. */
  readonly erased?: Pick<ErasedPersons, 'refusedBy'>
  /** Validate bodies of many events beside the main thread. */
  readonly threads?: ValidationThreads
  readonly metrics?: { counter(name: string, help: string, read: () => number): void }
}

/** `bot`: a crawler sent the events; they are counted and nothing else. */
type Outcome = 'stored' | 'bot'

/** So many rows are sooner encoded by themselves than with all that is written at once. */
const manyRows = 100

type Found = CollectorDatasource | undefined

export type CollectorService = ReturnType<typeof createCollectorService>

export function createCollectorService(dependencies: CollectorDependencies) {
  const { log, clock, steadyClock = clock, logger, countries, activity, erased, threads } = dependencies
  const cache = createDatasourceCache(dependencies.findDatasource, steadyClock)
  const readSender = createSenderReader()
  const names = new NameGuard()
  const totals: CollectorTotals = { kept: 0, changed: 0, dropped: 0, bot: 0, refused: 0, unavailable: 0 }
  const refusals = createRefusals({
    append,
    clock,
    onError: (error) =>
      logger.warn({ err: error }, 'refused requests could not be noted in the datasource log'),
  })
  countFor(dependencies.metrics, totals)

  /** One append for all rows of a request: they are taken or refused together. */
  function append(rows: readonly string[]): Promise<void> {
    if (rows.length >= manyRows) return appendBytes(lineBytesOf(rows))
    let sequence = log.reserve(rows.length)
    const first = sequence
    let lines = ''
    for (const row of rows) lines += lineOf(sequence++, row)
    return log.append(lines, rows.length, first)
  }

  function appendBytes(lines: LineBytes): Promise<void> {
    const { bytes, starts } = lines
    const first = log.reserve(starts.length)
    numberLines(lines, first)
    // From a thread they come as an array of bytes.
    return log.append(Buffer.from(bytes.buffer), starts.length, first)
  }

  function unavailable(cause: unknown): DomainError {
    totals.unavailable++
    const least = cause instanceof LogUnavailable ? cause.retryAfterSeconds : 1
    const name =
      cause instanceof LogUnavailable && cause.reason === 'backlog'
        ? 'collectorOverloaded'
        : 'eventsNotDurable'
    const retryAfter = retryAfterSeconds(least)
    return new DomainError(name, { retryAfter }, { cause, retryAfterSeconds: retryAfter })
  }

  /** Empty where it is not known or not wanted. The address of a server says nothing about a person. */
  function countryOf(
    sender: KnownSender,
    datasource: CollectorDatasource,
    address: string | undefined,
  ): string {
    if (address === undefined || !datasource.countries || sender.deviceType === 'server') return ''
    return countries.find(address)
  }

  async function askFor(asked: Promise<Found>): Promise<Found> {
    try {
      return onlyActive(await asked)
    } catch (cause) {
      throw unavailable(cause)
    }
  }

  function originOf(datasource: CollectorDatasource) {
    return {
      companyId: datasource.companyId,
      datasourceId: datasource.id,
      receivedAt: clock.now(),
      requiresConsent: datasource.requiresConsent ?? false,
    }
  }

  /** Counts what became of a request once it is durable. */
  async function keep(
    durable: Promise<unknown>,
    { kept, changed, dropped }: Omit<ValidatedRequest, 'rows'>,
  ): Promise<void> {
    try {
      await durable
    } catch (cause) {
      throw unavailable(cause)
    }
    totals.kept += kept
    totals.changed += changed
    totals.dropped += dropped
  }

  /**
   * Validates each event of a request on its own and makes the outcome durable.
   * @param address of the sender, of which the country is kept and nothing else
   * @param fixedLabels labels of each event beside its own: the same object for many requests, which are read once
   * @throws {DomainError} eventsNotDurable or collectorOverloaded (rejects): nothing of the request was taken
   */
  async function collect(
    datasource: CollectorDatasource,
    body: CollectedBody,
    userAgent: string | undefined,
    address: string | undefined,
    fixedLabels?: FixedLabels,
    origin = originOf(datasource),
  ): Promise<Outcome> {
    const sender = readSender(userAgent)
    const country = countryOf(sender, datasource, address)
    const witness = activity?.witness(datasource, sender, country)
    if (sender.crawler !== undefined) {
      const count = body.events.length + body.dropped.length
      const note = { kind: 'bot', rule: 'crawler', path: '', sample: sender.crawler, count } as const
      await append([logRow(note, origin)]).catch((cause: unknown) => {
        throw unavailable(cause)
      })
      totals.bot += count
      witness?.bots(body.events, sender.crawler)
      witness?.tell()
      return 'bot'
    }
    const refused = erased?.refusedBy(datasource.companyId)
    const seeName = (name: string): boolean => names.see(datasource, name, origin.receivedAt)
    const validated = validateRequest(
      body,
      origin,
      sender.text + countryText(country),
      seeName,
      fixedLabels && fixedLabelsText(fixedLabels),
      witness,
      refused && refusalTest(refused),
    )
    await keep(append(validated.rows), validated)
    witness?.tell()
    return 'stored'
  }

  /** Collects a body that a thread validates; the body where the main thread has to. */
  async function collectBeside(
    datasource: CollectorDatasource,
    body: Buffer,
    form: BodyForm,
    userAgent: string | undefined,
    address: string | undefined,
  ): Promise<Outcome | Buffer> {
    if (threads === undefined) return body
    const sender = readSender(userAgent)
    const country = countryOf(sender, datasource, address)
    // Who looks sees each event, and those stay in the thread.
    const isWatched = activity?.witness(datasource, sender, country) !== undefined
    if (isWatched || sender.crawler !== undefined) return body
    const origin = originOf(datasource)
    const refused = erased?.refusedBy(datasource.companyId)
    const senderText = sender.text + countryText(country)
    const validated = await threads.validate(body, { form, origin, senderText }, refused).catch((cause) => {
      throw cause instanceof DomainError ? cause : unavailable(cause)
    })
    // An erasure that has begun meanwhile counts on it that no event of the person is taken from now on.
    if (erased?.refusedBy(datasource.companyId) !== refused) return Buffer.from(validated.body)
    const { lines, names: seen } = validated
    const noted = seen.filter((name) => names.see(datasource, name, origin.receivedAt))
    const durable = [
      appendBytes(lines),
      ...noted.map((name) => append([logRow({ kind: 'noted', ...tooManyNames(name), count: 1 }, origin)])),
    ]
    await keep(Promise.all(durable), validated)
    return 'stored'
  }

  return {
    totals,

    /** Reads the database of countries, for which no event waits. */
    loadCountries: countries.load,

    /**
     * The active datasource of an identifier in lower case; a promise only where it must be asked for.
     * @param address of the request
     * @throws {DomainError} eventsNotDurable (rejects) when the store fails: a 404 would be final for a sender
     */
    find(id: string, address: string): Found | Promise<Found> {
      const found = cache.find({ id, address })
      return found instanceof Promise ? askFor(found) : onlyActive(found)
    },

    collect,

    /**
     * Reads the events of a body and collects them.
     * @throws {DomainError} as `collect`; emptyEvents, malformedEvents, eventsTooLarge
     */
    async collectBody(
      datasource: CollectorDatasource,
      body: Buffer,
      form: BodyForm,
      userAgent: string | undefined,
      address: string | undefined,
    ): Promise<Outcome> {
      let left = body
      if (threads?.isWorthwhile(body.length)) {
        const outcome = await collectBeside(datasource, body, form, userAgent, address)
        if (typeof outcome === 'string') return outcome
        left = outcome
      }
      const origin = originOf(datasource)
      return collect(datasource, readEvents(left, form, origin), userAgent, address, undefined, origin)
    },

    /** Records in the datasource log that a body rule refused a whole request. */
    refuse(datasource: CollectorDatasource, error: DomainError): void {
      const rule = ruleOf(error)
      if (rule === undefined) return
      totals.refused++
      refusals.add(datasource, rule, error.message)
      activity?.refused(datasource, rule, error.message)
    },

    /** Writes what has not been written yet. */
    async close(): Promise<void> {
      await threads?.close()
      await refusals.close()
    },
  }
}

function onlyActive(found: Found): Found {
  return found?.active ? found : undefined
}

/** The rule that refused a request, for the datasource log; undefined for failures that the sender did not cause. */
function ruleOf({ errorName, data }: DomainError): BodyRuleId | undefined {
  switch (errorName) {
    case 'emptyEvents':
      return 'body-empty'
    case 'malformedEvents':
      return 'body-unparseable'
    case 'unsupportedMediaType':
      return 'body-encoding-unsupported'
    case 'eventsTooLarge':
      return 'unit' in data && data.unit === 'events' ? 'body-too-many-events' : 'body-too-large'
    default:
      return undefined
  }
}

function countFor(metrics: CollectorDependencies['metrics'], totals: CollectorTotals): void {
  const counter = (name: string, help: string, key: keyof CollectorTotals) =>
    metrics?.counter(`millrace_collector_${name}_total`, help, () => totals[key])
  counter('events_kept', 'Events taken into the event log', 'kept')
  counter('events_changed', 'Events taken with a field changed or left out', 'changed')
  counter('events_dropped', 'Events dropped by a rule', 'dropped')
  counter('events_bot', 'Events sent by crawlers', 'bot')
  counter('requests_refused', 'Requests answered 4xx as a whole', 'refused')
  counter('requests_unavailable', 'Requests answered 503', 'unavailable')
}
