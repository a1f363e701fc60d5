import { useSyncExternalStore } from 'react'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button, IconButton } from './button.tsx'
import styles from './toast.module.css'

interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'plain' | 'bad'
  readonly undo?: () => void
}

const listeners = new Set<() => void>()
let toasts: readonly Toast[] = []
let lastId = 0

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

const remove = (id: number): void => set(toasts.filter((each) => each.id !== id))

function show(toast: Omit<Toast, 'id'>): void {
  const id = ++lastId
  set([...toasts.slice(-3), { ...toast, id }])
  // What can be undone, and what went wrong, stays long enough to be read and reached.
  setTimeout(() => remove(id), toast.undo || toast.kind === 'bad' ? 12_000 : 5_000)
}

export const toast = {
  say: (text: string) => show({ text, kind: 'plain' }),
  fail: (text: string) => show({ text, kind: 'bad' }),
  /** For a deed that can be taken back, instead of a question before it. */
  undo: (text: string, undo: () => void) => show({ text, kind: 'plain', undo }),
}

export function Toasts() {
  const t = useTexts(common)
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text, kind, undo }) => (
        <div key={id} className={styles.toast} data-kind={kind}>
          <span className={styles.text}>{text}</span>
          {undo && (
            <Button
              kind="quiet"
              onPress={() => {
                remove(id)
                undo()
              }}
            >
              {t.undo}
            </Button>
          )}
          <IconButton icon="close" label={t.close} onPress={() => remove(id)} />
        </div>
      ))}
    </div>
  )
}
