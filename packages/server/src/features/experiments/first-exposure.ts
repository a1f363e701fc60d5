import type { ColumnarParam } from '../../platform/stores/columnar.ts'
import type { StoredExperiment } from './experiment-store.ts'

/** A statement that reads a few rows of the columnar store. */
export interface ExposureStatement {
  readonly sql: string
  readonly params: Readonly<Record<string, ColumnarParam>>
}

export interface AskedUnit {
  readonly experiment: Pick<
    StoredExperiment,
    'id' | 'companyId' | 'unit' | 'variants' | 'startedAt' | 'endedAt'
  >
  /** A `clientId` or a `tmpId`. */
  readonly unit: string
}

/**
 * The variant of the first exposure of a unit since the experiment started, as results count it: of the event
 * `experiment_exposure`, or of a display that carries the variant's tag. One row with the variant's identifier, or
 * none.
 */
export function firstExposure({ experiment, unit }: AskedUnit): ExposureStatement {
  const { id, companyId, variants, startedAt, endedAt } = experiment
  const tagged = variants.filter(({ tagValueId }) => tagValueId !== undefined)
  const { before, condition } = experiment.unit === 'user' ? ofPerson : ofDevice
  return {
    sql: `WITH ${before}
  {tags:Array(String)} AS tags,
  arrayFirstIndex(tag -> has(extractAll(labels['tagValueIds'], '[0-9a-f]{24}'), tag), tags) AS tag,
  if(name = 'experiment_exposure', labels['variantId'], {tagged:Array(String)}[tag]) AS variant
SELECT variant
FROM events
WHERE ${scope}
  AND ${condition}
  AND ((name = 'experiment_exposure' AND labels['experimentId'] = {experiment:String})
    OR (name = 'workflow_display' AND labels['tagValueIds'] != ''))
  AND labels['preview'] != 'true'
  AND variant IN {known:Array(String)}
ORDER BY time, seq
LIMIT 1`,
    params: {
      company: companyId,
      unit,
      experiment: id,
      start: startedAt,
      end: endedAt ?? new Date(endOfTime),
      known: variants.map((variant) => variant.id),
      tagged: tagged.map((variant) => variant.id),
      tags: tagged.map((variant) => variant.tagValueId ?? ''),
    },
  }
}

const scope = `company = {company:String} AND time >= {start:DateTime64(3)} AND time < {end:DateTime64(3)}`

const bindings = `FROM identities WHERE company = {company:String}`

/**
 * A person is asked for by a `clientId`, or by a `tmpId`, which stands for the person that it is bound to
 * (docs/statistics.md). Events are sorted by device, so the devices of the person find them.
 */
const ofPerson = {
  before: `
  (SELECT argMax(client, (time, client_id)) ${bindings} AND device = sipHash64({unit:String})) AS bound,
  if(bound = 0, sipHash64({unit:String}), bound) AS asked,
  (SELECT groupArray(device) FROM (
    SELECT device FROM (
      SELECT device, client, time, client_id ${bindings}
        AND device IN (SELECT device ${bindings} AND client = asked UNION ALL SELECT asked)
      UNION ALL SELECT asked, asked, toDateTime64(0, 3, 'UTC'), '')
    GROUP BY device HAVING argMax(client, (time, client_id)) = asked)) AS devices,`,
  condition: `device IN (
    SELECT arrayJoin(devices) UNION ALL SELECT device FROM events WHERE ${scope} AND client = asked)
  AND (client = asked OR (client = 0 AND has(devices, device)))`,
}

const ofDevice = { before: '', condition: 'device = sipHash64({unit:String})' }

/** After every event. */
const endOfTime = Date.UTC(2100, 0, 1)
