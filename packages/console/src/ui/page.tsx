import { type ReactNode, useEffect } from 'react'
import { FavouriteButton } from './favourite-button.tsx'
import styles from './page.module.css'

/** What every screen has: its title, what can be done with all of it, and its content. */
export function Page({
  title,
  above,
  lead,
  actions,
  children,
  isWide,
}: {
  readonly title: string
  /** Breadcrumbs. */
  readonly above?: ReactNode
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly isWide?: boolean
}) {
  useEffect(() => {
    document.title = `${title} · Millrace`
  }, [title])
  return (
    <div className={styles.page} data-wide={isWide}>
      {above && <div className={styles.above}>{above}</div>}
      <header className={styles.head}>
        <div className={styles.titles}>
          <h1 dir="auto">{title}</h1>
          {lead && <p data-quiet>{lead}</p>}
        </div>
        <div className={styles.actions}>
          {actions}
          <div className={styles.favourite}>
            <FavouriteButton title={title} />
          </div>
        </div>
      </header>
      {children}
    </div>
  )
}

export function Card({
  title,
  actions,
  children,
  isFlush,
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** Without padding, for tables. */
  readonly isFlush?: boolean
}) {
  return (
    <section className={styles.card} data-flush={isFlush}>
      {(title || actions) && (
        <div className={styles.cardHead}>
          {title && <h2>{title}</h2>}
          {actions && <div className={styles.actions}>{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** A word in a coloured field, as a status. */
export function Badge({
  kind = 'plain',
  children,
}: {
  readonly kind?: 'plain' | 'good' | 'bad' | 'warn' | 'accent'
  readonly children: ReactNode
}) {
  return (
    <span className={styles.badge} data-kind={kind}>
      {children}
    </span>
  )
}
