import { useTexts } from '../texts/texts.ts'
import { ButtonLink } from '../ui/button.tsx'
import type { IconName } from '../ui/icon.tsx'
import { Empty } from '../ui/state.tsx'
import { words } from './texts.ts'

/** Instead of an exploration, before the first event. */
export function NoEvents({ icon }: { readonly icon: IconName }) {
  const t = useTexts(words)
  return (
    <Empty
      icon={icon}
      title={t.noEvents}
      action={
        <ButtonLink kind="main" to="/start">
          {t.begin}
        </ButtonLink>
      }
    >
      {t.noEventsHint}
    </Empty>
  )
}
