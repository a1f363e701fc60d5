import { Link } from '@tanstack/react-router'
import styles from './tabs.module.css'

/** Parts of a screen, each with an address: the first has none of its own. */
export function Tabs<Id extends string>({
  label,
  tabs,
  current,
}: {
  readonly label: string
  readonly tabs: readonly { readonly id: Id; readonly label: string }[]
  readonly current: Id
}) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {tabs.map(({ id, label }, i) => (
        <Link
          key={id}
          to="."
          search={(i === 0 ? {} : { tab: id }) as never}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={id === current ? 'page' : undefined}
          className={styles.tab}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
