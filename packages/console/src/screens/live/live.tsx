import type { ActivityOutcome } from '@millrace/contract/resources/datasource-activity.ts'
import { useQuery } from '@tanstack/react-query'
import { countersQuery, useChosenDatasource } from '../../data/datasources.ts'
import { useActivity } from '../../data/use-activity.ts'
import { useSetView, useView } from '../../data/view-state.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Select } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { Feed, outcomes } from './feed.tsx'
import styles from './live.module.css'
import { Log } from './log.tsx'
import { words } from './texts.ts'

const readOnly = (value: unknown): readonly ActivityOutcome[] =>
  Array.isArray(value) ? outcomes.filter((each) => value.includes(each)) : []

/** What arrives at a datasource, and what its rules did. */
export function Screen() {
  const t = useTexts(words)
  const view = useView()
  const setView = useSetView()
  const { query, all, chosen, isUnknown } = useChosenDatasource(view.datasource)
  const feed = useActivity(chosen?.id)
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        chosen && (
          <>
            {all.length > 1 && (
              <Select
                label={t.datasource}
                hidesLabel
                options={all.map(({ id, name }) => ({ id, label: name }))}
                value={chosen.id}
                onChange={(datasource) => setView({ datasource, page: undefined })}
              />
            )}
            <CopyAs call={{ operation: 'watchDatasource', request: { params: { id: chosen.id } } }} />
          </>
        )
      }
    >
      <Loaded
        query={query}
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty
            icon="pulse"
            title={t.noDatasource}
            action={
              <ButtonLink kind="main" to="/start">
                {t.begin}
              </ButtonLink>
            }
          >
            {t.noDatasourceHint}
          </Empty>
        }
      >
        {() =>
          chosen && (
            <>
              {isUnknown && (
                <p role="status" data-quiet>
                  {t.unknownDatasource}
                </p>
              )}
              <Counters id={chosen.id} />
              <div className={styles.feed}>
                <Feed
                  feed={feed}
                  only={readOnly(view.only)}
                  onOnly={(only) => setView({ only: only.length > 0 ? only : undefined }, true)}
                />
              </div>
              <Log datasourceId={chosen.id} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function Counters({ id }: { readonly id: string }) {
  const t = useTexts(words)
  const language = useLanguage()
  const { data } = useQuery({ ...countersQuery(id), refetchInterval: 10_000 })
  if (!data) return null
  return (
    <div className={styles.counters}>
      <dl aria-label={t.total}>
        {(['accepted', 'changed', 'dropped', 'bot', 'duplicate'] as const).map((each) => (
          <div key={each}>
            <dt>{t.counters[each]}</dt>
            <dd>{new Intl.NumberFormat(language).format(data[each])}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.total}>{t.total}</p>
    </div>
  )
}
