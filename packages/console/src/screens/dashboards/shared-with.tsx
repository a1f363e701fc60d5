import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import styles from './shared-with.module.css'
import { words } from './texts.ts'

/** Which teams see a dashboard; every user does where none is chosen. */
export function SharedWith({
  teamIds,
  onChange,
}: {
  readonly teamIds: readonly string[]
  readonly onChange: (teamIds: string[]) => void
}) {
  const t = useTexts(words)
  const own = useProfile()?.resourceGroupIds ?? []
  const mayRead = useMay('team:read')
  const { data = [] } = useQuery({
    queryKey: ['teams', 100],
    queryFn: ({ signal }) => client.listTeams({ query: { perPage: 100 } }, { signal }),
    enabled: mayRead,
  })
  // Others could not be given to it; those that see it already may stay.
  const teams = data.filter(({ id }) => own.includes(id) || teamIds.includes(id))
  if (teams.length === 0) return null
  const names = teams.filter(({ id }) => teamIds.includes(id)).map(({ name }) => name)
  const text = teamIds.length === 0 ? t.everyone : names.join(', ') || t.someTeams(String(teamIds.length))
  return (
    <div className={styles.field}>
      <span className={styles.label}>{t.sharedWith}</span>
      <PopoverButton
        label={t.sharedWith}
        trigger={
          <Button icon="people" aria-label={`${t.sharedWith}: ${text}`}>
            <span className={styles.names} dir="auto">
              {text}
            </span>
          </Button>
        }
      >
        <div className={styles.panel}>
          <Checkbox isSelected={teamIds.length === 0} onChange={() => onChange([])}>
            {t.everyone}
          </Checkbox>
          {teams.map(({ id, name }) => (
            <Checkbox
              key={id}
              isSelected={teamIds.includes(id)}
              onChange={(isOn) => onChange(isOn ? [...teamIds, id] : teamIds.filter((each) => each !== id))}
            >
              <span dir="auto">{name}</span>
            </Checkbox>
          ))}
          <p data-quiet>{t.teamsHint}</p>
        </div>
      </PopoverButton>
    </div>
  )
}
