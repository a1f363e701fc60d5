import { lazy, Suspense, useCallback, useMemo } from 'react'
import type { Meta } from '../../data/format.ts'
import { useMeta } from '../../data/statistics.ts'
import { useSetView, useView } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import { Segments } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { Builder } from './builder.tsx'
import styles from './explore.module.css'
import { type Query, readQuery } from './query-state.ts'
import { ResultPanel } from './result-panel.tsx'
import { words } from './texts.ts'

const QueryEditor = lazy(async () => ({ default: (await import('./query-editor.tsx')).QueryEditor }))

export function Screen() {
  const t = useTexts(words)
  const meta = useMeta()
  return (
    <Page title={t.title} isWide>
      <Loaded query={meta} skeleton={<Skeleton height={420} />}>
        {(model) => <Explore meta={model} />}
      </Loaded>
    </Page>
  )
}

function Explore({ meta }: { readonly meta: Meta }) {
  const t = useTexts(words)
  const view = useView()
  const setView = useSetView()
  const isCode = view.tab === 'json'
  const asked = JSON.stringify(view.query)
  const { query, leftOut } = useMemo(
    () => readQuery(asked === undefined ? undefined : JSON.parse(asked), meta),
    [asked, meta],
  )
  const put = useCallback((next: Query) => setView({ query: next, page: undefined }), [setView])
  return (
    <>
      {leftOut.length > 0 && (
        <p className={styles.leftOut} role="status">
          <Icon name="warning" size={16} />
          <span>{t.leftOut(leftOut.join(', '))}</span>
        </p>
      )}
      <div className={styles.columns} data-code={isCode}>
        <Card
          title={t.ask}
          actions={
            <Segments
              label={t.ask}
              options={[
                { id: 'builder', label: t.builder },
                { id: 'json', label: t.code },
              ]}
              value={isCode ? 'json' : 'builder'}
              onChange={(tab) => setView({ tab: tab === 'json' ? tab : undefined })}
            />
          }
        >
          {isCode ? (
            <Suspense fallback={<Skeleton height={360} />}>
              <QueryEditor meta={meta} query={query} onAsk={put} />
            </Suspense>
          ) : (
            <Builder key={asked === undefined ? '' : 'own'} meta={meta} query={query} onChange={put} />
          )}
        </Card>
        <ResultPanel meta={meta} query={query} onQuery={put} />
      </div>
    </>
  )
}
