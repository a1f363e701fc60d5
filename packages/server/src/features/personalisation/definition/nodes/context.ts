import { contextFields, type WorkflowNodeOf } from '@millrace/contract/resources/workflow-definition.ts'
import type { WallClock } from '../../compile/values.ts'
import type { DataNodeKind } from './node-kind.ts'
import { typeOfFixed } from './value-type.ts'

/** Fields that follow from the address or the headers of a request. */
const foreignFields: ReadonlySet<string> = new Set(['user.id', 'user.locale', 'page.url', 'page.host'])

interface LocalTime {
  readonly clock: WallClock
  /** Whole seconds since 1970-01-01 UTC. */
  readonly second: number
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly hour: number
  /** From Monday, 1, to Sunday, 7. */
  readonly weekday: number
}

/** The last one asked for: runs of one second on one clock have it in common. */
let lastTime: LocalTime | undefined

function localTimeOf(clock: WallClock, now: number): LocalTime {
  const second = Math.floor(now / 1000)
  if (lastTime?.second === second && lastTime.clock === clock) return lastTime
  const local = new Date(clock.localOf(now))
  lastTime = {
    clock,
    second,
    date: local.toISOString().slice(0, 10),
    hour: local.getUTCHours(),
    weekday: ((local.getUTCDay() + 6) % 7) + 1,
  }
  return lastTime
}

/** What is known of the request: the user, the device, the time and the page. */
export const context: DataNodeKind<WorkflowNodeOf<'context'>> = {
  gives: 'record',
  typeOf: (_, field) => typeOfFixed(contextFields, field),
  fieldsOf: () => Object.keys(contextFields),
  isPersonal: (_, field) => field?.startsWith('user.') ?? false,
  isForeign: (_, field) => foreignFields.has(field ?? ''),
  isGivenAddress: (field) => field?.startsWith('page.') ?? false,

  compile: () => ({
    inputOf: () => null,
    compute({ request }) {
      const { person, sender, page, now, clock } = request
      const local = localTimeOf(clock, now)
      return {
        'user.id': person.client,
        'user.isAnonymous': person.client === undefined,
        'user.locale': request.locale,
        'device.type': sender.deviceType,
        'device.os': sender.os,
        'device.browser': sender.browser,
        'device.mailClient': request.mailClient,
        'time.now': new Date(now).toISOString(),
        'time.date': local.date,
        'time.hour': local.hour,
        'time.weekday': local.weekday,
        'page.url': page,
        'page.host': page === '' ? undefined : URL.parse(page)?.host,
      }
    },
  }),
}
