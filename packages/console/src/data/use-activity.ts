import { useEffect, useState } from 'react'
import { client } from '../client.ts'
import { type Activity, heard, noActivity, type Told, toldOf } from './activity.ts'
import { createStreamReader } from './event-stream.ts'
import { isSessionEnded, statusOf } from './query-client.ts'

/** `away`: it is tried again; `full`: too many are open; the others are final. */
export type FeedState = 'opening' | 'open' | 'away' | 'full' | 'forbidden' | 'absent'

export interface Feed {
  readonly state: FeedState
  readonly activity: Activity
}

/** Between two drawings of what came. */
const drawEveryMs = 200
const [firstPauseMs, maxPauseMs, fullPauseMs] = [500, 15_000, 10_000]

/** Reads messages until the stream ends. @returns why the service ended it, if it said so */
async function readStream(
  datasourceId: string,
  signal: AbortSignal,
  onTold: (told: Told) => void,
): Promise<string | undefined> {
  const reply = await client.watchDatasource.raw({ params: { id: datasourceId } }, { signal })
  const read = createStreamReader()
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  let reason: string | undefined
  for (;;) {
    const piece = await reader?.read()
    if (!piece || piece.done) return reason
    for (const message of read(piece.value)) {
      const told = toldOf(message)
      if (told?.[0] === 'end') reason = told[1].reason
      else if (told) onTold(told)
    }
  }
}

const states: Readonly<Record<number, FeedState>> = { 403: 'forbidden', 404: 'absent', 429: 'full' }
const stateAfter = (error: unknown): FeedState => states[statusOf(error) ?? 0] ?? 'away'

/**
 * The live feed of a datasource, as long as the page is seen: a hidden one would hold one of the few connections that
 * a browser has.
 */
export function useActivity(datasourceId: string | undefined): Feed {
  const [feed, setFeed] = useState<Feed>({ state: 'opening', activity: noActivity })
  useEffect(() => {
    setFeed({ state: 'opening', activity: noActivity })
    if (datasourceId === undefined) return
    let leaving = new AbortController()
    let told: Told[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const become = (state: FeedState) => setFeed((before) => ({ ...before, state }))
    const draw = setInterval(() => {
      if (told.length === 0) return
      const news = told
      told = []
      setFeed(({ activity }) => ({ state: 'open', activity: news.reduce(heard, activity) }))
    }, drawEveryMs)

    async function follow(pauseMs: number, { signal }: AbortController): Promise<void> {
      let wait = pauseMs
      try {
        const reason = await readStream(datasourceId ?? '', signal, (each) => {
          wait = firstPauseMs
          told.push(each)
        })
        if (reason === 'forbidden') return become('forbidden')
        if (reason === 'gone') return become('absent')
        if (reason !== 'unauthenticated') become('away')
      } catch (error) {
        if (signal.aborted || isSessionEnded(error)) return
        const state = stateAfter(error)
        become(state)
        if (state === 'forbidden' || state === 'absent') return
        if (state === 'full') wait = fullPauseMs
      }
      if (signal.aborted) return
      timer = setTimeout(() => void follow(Math.min(2 * wait, maxPauseMs), leaving), wait)
    }

    const start = () => {
      clearTimeout(timer)
      leaving.abort()
      leaving = new AbortController()
      if (!document.hidden) void follow(firstPauseMs, leaving)
    }
    start()
    document.addEventListener('visibilitychange', start)
    return () => {
      document.removeEventListener('visibilitychange', start)
      clearTimeout(timer)
      clearInterval(draw)
      leaving.abort()
    }
  }, [datasourceId])
  return feed
}
