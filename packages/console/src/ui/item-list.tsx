import type { ReactNode } from 'react'
import styles from './item-list.module.css'

/** Things of the account, one below the other, each with what can be done to it: on a phone too without sideways scrolling. */
export function ItemList({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ul className={styles.list} aria-label={label}>
      {children}
    </ul>
  )
}

export function Item({
  title,
  details,
  action,
}: {
  readonly title: ReactNode
  readonly details: readonly (readonly [label: string, value: ReactNode])[]
  readonly action?: ReactNode
}) {
  return (
    <li className={styles.item}>
      <div className={styles.text}>
        <div className={styles.title} dir="auto">
          {title}
        </div>
        <dl className={styles.details}>
          {details.map(([label, value]) => (
            <div key={label} className={styles.detail}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
      {action}
    </li>
  )
}
