import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useTexts } from '../../texts/texts.ts'
import { findReadyMade, tilesOf } from '../../tiles/ready-made.ts'
import { readyMadeWords } from '../../tiles/ready-made-texts.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { BoardPage } from './board-page.tsx'
import { OwnDashboard } from './own-dashboard.tsx'
import { dashboardQuery, useDashboardDeeds } from './requests.ts'
import { words } from './texts.ts'
import { useSharedState } from './use-shared.ts'

export function Screen() {
  const { id = '' } = useParams({ strict: false })
  const ready = findReadyMade(id)
  return ready ? <ReadyMade key={id} dashboard={ready} /> : <Own key={id} id={id} />
}

function Own({ id }: { readonly id: string }) {
  const t = useTexts(words)
  const answer = useQuery(dashboardQuery(id))
  if (answer.data) return <OwnDashboard saved={answer.data} />
  return (
    <Page title={t.title} isWide>
      <Loaded query={answer} skeleton={<Skeleton height={480} />}>
        {() => null}
      </Loaded>
    </Page>
  )
}

const nothingSaved = { range: null, comparison: 'none', filters: [] } as const

function ReadyMade({ dashboard }: { readonly dashboard: NonNullable<ReturnType<typeof findReadyMade>> }) {
  const t = useTexts(words)
  const ready = useTexts(readyMadeWords)
  const navigate = useNavigate()
  const { create } = useDashboardDeeds()
  const state = useSharedState({ ...nothingSaved, filters: [] })
  const name = ready.dashboards[dashboard.id]
  const tiles = tilesOf(dashboard, ready.tiles)
  const makeOwn = () =>
    create.mutate(
      { name, description: ready.about[dashboard.id], tiles, filters: [...state.filters] },
      {
        onSuccess: ({ id }) =>
          void navigate({ to: '/dashboards/$id', params: { id }, search: { edit: true } }),
        onError: (error) => toast.fail(error.message),
      },
    )
  return (
    <BoardPage
      name={name}
      lead={ready.about[dashboard.id]}
      tiles={tiles}
      state={state}
      actions={
        <Button icon="copy" onPress={makeOwn} isDisabled={create.isPending}>
          {t.makeOwn}
        </Button>
      }
    />
  )
}
