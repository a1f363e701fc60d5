import { MillraceError } from '@millrace/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isPassing, isSessionEnded, statusOf } from '../data/query-client.ts'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import styles from './state.module.css'

/** A screen, or a part of one, that has nothing to show: what this is, and what to do next. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div className={styles.state}>
      <span className={styles.icon}>
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      {children && <div data-quiet>{children}</div>}
      {action && <div className={styles.actions}>{action}</div>}
    </div>
  )
}

/** `requestId` of the fail envelope, by which the log of the service is searched. */
const requestIdOf = (error: unknown): string | undefined => {
  const data = error instanceof MillraceError ? error.data : undefined
  const id = typeof data === 'object' && data !== null && 'requestId' in data ? data.requestId : undefined
  return typeof id === 'string' ? id : undefined
}

export function Failed({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const t = useTexts(common)
  const status = statusOf(error)
  if (status === 403)
    return (
      <Empty icon="shield" title={t.forbidden}>
        {error instanceof Error ? error.message : t.forbiddenHint}
      </Empty>
    )
  if (status === 404)
    return (
      <Empty icon="question" title={t.notFound}>
        {t.notFoundHint}
      </Empty>
    )
  const requestId = requestIdOf(error)
  return (
    <div role="alert">
      <Empty
        icon="warning"
        title={t.failed}
        action={
          retry && (
            <Button icon="refresh" onPress={retry}>
              {t.retry}
            </Button>
          )
        }
      >
        <p>{isPassing(error) ? t.failedOffline : error instanceof Error ? error.message : String(error)}</p>
        {requestId && <p className={styles.request}>{t.requestId(requestId)}</p>}
      </Empty>
    </div>
  )
}

/** Lines that stand where text will be. */
export function Skeleton({ lines = 3, height }: { readonly lines?: number; readonly height?: number }) {
  const t = useTexts(common)
  return (
    <div className={styles.skeleton} role="status" aria-label={t.loading}>
      {height === undefined ? (
        Array.from({ length: lines }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
          <span key={i} className={styles.line} style={{ width: `${90 - ((i * 17) % 45)}%` }} />
        ))
      ) : (
        <span className={styles.line} style={{ height }} />
      )}
    </div>
  )
}

/** One place decides what is seen while a question is open, refused, failed or answered with nothing. */
export function Loaded<T>({
  query,
  skeleton,
  isEmpty,
  empty,
  children,
}: {
  readonly query: UseQueryResult<T>
  readonly skeleton?: ReactNode
  readonly isEmpty?: (data: T) => boolean
  readonly empty?: ReactNode
  readonly children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = query
  if (data === undefined) {
    // The banner of the session says what to do; what is on the screen stays.
    if (error && !isSessionEnded(error)) return <Failed error={error} retry={() => void refetch()} />
    return skeleton ?? <Skeleton />
  }
  if (isEmpty?.(data)) return empty
  return children(data)
}
