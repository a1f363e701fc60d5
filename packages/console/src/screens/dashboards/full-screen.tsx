import { type ReactNode, useEffect, useState } from 'react'
import { useInstant } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import styles from './board.module.css'
import { words } from './texts.ts'

const everyMinute = 60_000

/** All of the screen, kept awake, asking again every minute; what is shown stays until the next answer is there. */
export function FullScreen({
  name,
  onLeave,
  children,
}: {
  readonly name: string
  readonly onLeave: () => void
  readonly children: (every: number) => ReactNode
}) {
  const t = useTexts(words)
  const instant = useInstant()
  const [time, setTime] = useState(() => new Date())
  useEffect(() => {
    const root = document.documentElement
    // Where the browser refuses, the page alone is filled.
    void root.requestFullscreen?.().catch(() => undefined)
    let lock: WakeLockSentinel | undefined
    void navigator.wakeLock?.request('screen').then(
      (held) => {
        lock = held
      },
      () => undefined,
    )
    return () => {
      void lock?.release()
      if (document.fullscreenElement) void document.exitFullscreen()
    }
  }, [])
  useEffect(() => {
    const changed = () => {
      if (!document.fullscreenElement) onLeave()
    }
    const pressed = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.fullscreenElement) onLeave()
    }
    document.addEventListener('fullscreenchange', changed)
    addEventListener('keydown', pressed)
    return () => {
      document.removeEventListener('fullscreenchange', changed)
      removeEventListener('keydown', pressed)
    }
  }, [onLeave])
  useEffect(() => {
    const timer = setInterval(() => setTime(new Date()), everyMinute)
    return () => clearInterval(timer)
  }, [])
  return (
    <div className={styles.full}>
      <div className={styles.fullHead}>
        <h1 dir="auto">{name}</h1>
        <span data-quiet>{t.refreshed(instant(time, 'time'))}</span>
        <Button icon="close" autoFocus onPress={onLeave}>
          {t.leaveFull}
        </Button>
      </div>
      {children(everyMinute)}
    </div>
  )
}
