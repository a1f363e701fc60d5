import { Readable } from 'node:stream'
import type { ActivityMessages } from '@millrace/contract/resources/datasource-activity.ts'
import type { ActivityListener } from './activity-feed.ts'

/** Bytes that wait for a client at most, beside those of its connection. */
const maxWaiting = 16 * 1024

export interface ActivityStream extends ActivityListener {
  readonly body: Readable
  /** Keeps proxies from taking the silence for an end. */
  beat(): void
  end(reason: ActivityMessages['end']['reason']): void
}

/** Messages as server-sent events. What a slow client does not take in time is counted and not kept. */
export function createActivityStream(): ActivityStream {
  let isTaking = true
  let isEnded = false
  let skipped = 0
  const push = (text: string): void => {
    isTaking = body.push(text)
  }
  const body = new Readable({
    highWaterMark: maxWaiting,
    read() {
      isTaking = true
      if (skipped === 0) return
      const text = messageOf('skipped', { count: skipped })
      skipped = 0
      push(text)
    },
  })
  return {
    body,
    send(name, data, events) {
      if (isEnded || body.destroyed) return
      if (isTaking) push(messageOf(name, data))
      else skipped += events
    },
    beat() {
      if (isTaking && !isEnded) push(':\n\n')
    },
    end(reason) {
      if (isEnded || body.destroyed) return
      isEnded = true
      body.push(messageOf('end', { reason }))
      body.push(null)
    },
  }
}

function messageOf<Name extends keyof ActivityMessages>(name: Name, data: ActivityMessages[Name]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
