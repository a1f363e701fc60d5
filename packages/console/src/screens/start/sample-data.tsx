import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { client } from '../../client.ts'
import { countersQuery, trackingQuery } from '../../data/datasources.ts'
import { useMay } from '../../data/profile.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './start.module.css'
import { words } from './texts.ts'

/** About as many events as the service makes. */
const expectedEvents = 29_000

/** Fills in the sample data and leads to it, or removes it. */
export function SampleData() {
  const t = useTexts(words)
  const may = useMay('company:update')
  const queries = useQueryClient()
  const present = useQuery(trackingQuery).data?.find(({ sampleData }) => sampleData)
  const [isFollowed, setFollowed] = useState(false)
  const fill = useMutation({
    mutationFn: () => client.createSampleData({}),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: trackingQuery.queryKey })
      setFollowed(true)
    },
    onError: (error) => toast.fail(error.message),
  })
  const remove = useMutation({
    mutationFn: () => client.deleteSampleData({}),
    onSuccess: async () => {
      await queries.invalidateQueries()
      toast.say(t.removed)
    },
    onError: (error) => toast.fail(error.message),
  })
  return (
    <Card title={t.sample}>
      <p data-quiet>{present && !isFollowed ? t.removeHint : t.sampleHint}</p>
      {fill.isPending || isFollowed ? (
        <Loading id={isFollowed ? present?.id : undefined} />
      ) : (
        <div className={styles.actions}>
          {present && (
            <ButtonLink kind="main" to="/">
              {t.look}
            </ButtonLink>
          )}
          {may && present && (
            <Button icon="trash" onPress={() => remove.mutate()} isDisabled={remove.isPending}>
              {t.remove}
            </Button>
          )}
          {may && !present && (
            <Button kind="main" icon="chart" onPress={() => fill.mutate()}>
              {t.fill}
            </Button>
          )}
          {!may && !present && <p data-quiet>{t.mayNotFill}</p>}
        </div>
      )}
    </Card>
  )
}

/** From sending to the statistics; then the overview. */
function Loading({ id }: { readonly id: string | undefined }) {
  const t = useTexts(words)
  const language = useLanguage()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { data } = useQuery({ ...countersQuery(id), refetchInterval: 700 })
  const share = Math.min(1, (data?.accepted ?? 0) / expectedEvents)
  const isDone = share > 0.9
  useEffect(() => {
    if (!isDone) return
    // What was known of statistics is older than the sample data.
    queries.removeQueries({ queryKey: ['statistics-query'] })
    queries.removeQueries({ queryKey: ['statistics-meta'] })
    void navigate({ to: '/' })
  }, [isDone, navigate, queries])
  const percent = new Intl.NumberFormat(language, { style: 'percent' }).format(share)
  return (
    <div role="status" className={styles.progress}>
      <span>{id === undefined ? t.filling : t.loading(percent)}</span>
      <progress
        {...(id === undefined ? {} : { value: share })}
        max={1}
        aria-label={id === undefined ? t.filling : t.loading(percent)}
      />
    </div>
  )
}
