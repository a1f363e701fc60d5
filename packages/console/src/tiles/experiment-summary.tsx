import type { OperationData } from '@millrace/sdk'
import { MillraceError } from '@millrace/sdk'
import { formatChange, formatMeasure } from '../data/format.ts'
import { useLanguage, useTexts } from '../texts/texts.ts'
import { Badge } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import { type Asking, experimentResultsQuery, useTileAnswer } from './asking.ts'
import { words } from './texts.ts'
import styles from './tile-body.module.css'

type Results = Exclude<OperationData<'readExperimentResults'>, string>

/** The success metric of an experiment, variant by variant. */
export function ExperimentSummary({ id, asking }: { readonly id: string; readonly asking: Asking }) {
  const t = useTexts(words)
  const answer = useTileAnswer<Results>(experimentResultsQuery(id), asking)
  const { error } = answer
  if (answer.data === undefined && error instanceof MillraceError && error.is('experimentNotStarted'))
    return <Empty icon="clock" title={t.notStarted} />
  return <Loaded query={answer}>{(results) => <Summary results={results} />}</Loaded>
}

function Summary({ results }: { readonly results: Results }) {
  const t = useTexts(words)
  const language = useLanguage()
  const metric = results.metrics.find(({ role }) => role === 'success') ?? results.metrics[0]
  const isRate = metric?.kind === 'unique_conversion' || metric?.kind === 'click_rate'
  const lines = results.variants.map((variant) => ({
    ...variant,
    figures: metric?.variants.find(({ variantId }) => variantId === variant.id),
  }))
  const percent = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : formatChange(language, value)
  return (
    <div className={styles.experiment}>
      <div className={styles.verdict}>
        <Badge kind={results.validated ? 'good' : 'warn'}>
          {results.validated ? t.validated : t.notValidated}
        </Badge>
        {results.sampleRatio.holds === false && <span data-quiet>{t.ratioBroken}</span>}
      </div>
      <Table
        label={t.experiment}
        rows={lines}
        rowKey={({ id }) => id}
        columns={[
          {
            id: 'variant',
            title: t.variant,
            cell: ({ id, name }) => (
              <>
                {name} {id === results.baselineVariantId && <span data-quiet>({t.baseline})</span>}
              </>
            ),
          },
          {
            id: 'units',
            title: t.units,
            isNumber: true,
            cell: ({ units }) => formatMeasure(language, 'integer', units),
          },
          {
            id: 'estimate',
            title: t.estimate,
            isNumber: true,
            cell: ({ figures }) => formatMeasure(language, isRate ? 'ratio' : 'decimal', figures?.estimate),
          },
          {
            id: 'lift',
            title: t.lift,
            isNumber: true,
            cell: ({ figures }) => percent(figures?.comparison?.alwaysValid.lift.estimate),
          },
          {
            id: 'interval',
            title: t.interval,
            isNumber: true,
            cell: ({ figures }) => {
              const { low, high } = figures?.comparison?.alwaysValid.lift ?? {}
              return low === undefined ? '–' : `${percent(low)} … ${percent(high)}`
            },
          },
        ]}
      />
    </div>
  )
}
