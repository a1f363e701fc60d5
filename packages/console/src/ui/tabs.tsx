import { Link } from '@tanstack/react-router'
import styles from './tabs.module.css'

const showWhole = (link: HTMLAnchorElement | null) =>
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

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
          // On a phone not all of them are in sight.
          {...(id === current && { ref: showWhole })}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
