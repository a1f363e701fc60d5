import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import type { Meta } from '../../data/format.ts'
import { titleOf } from '../../data/result.ts'
import { useSetView } from '../../data/view-state.ts'
import { ConditionChips } from '../../exploration/condition-editor.tsx'
import shared from '../../exploration/exploration.module.css'
import { SearchList } from '../../exploration/search-list.tsx'
import type { Selection } from '../../exploration/selection.ts'
import { SelectionEditor } from '../../exploration/selection-editor.tsx'
import { words as say } from '../../exploration/texts.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import field from '../../ui/field.module.css'
import { Segments, Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/page.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import styles from './funnel-editor.module.css'
import { type FunnelState, isBreakdown, orders, stepLimits, units } from './funnel-state.ts'
import { words } from './texts.ts'

/** What the funnel asks: its steps, and how they are counted. */
export function FunnelEditor({ state, meta }: { readonly state: FunnelState; readonly meta: Meta }) {
  const t = useTexts(words)
  const s = useTexts(say)
  const setView = useSetView()
  const { steps } = state
  const setSteps = (next: readonly Selection[]) => setView({ steps: next })
  return (
    <Card title={t.steps}>
      <ol className={styles.steps}>
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
          <li key={index} className={styles.step}>
            <span className={styles.number} aria-hidden="true">
              {index + 1}
            </span>
            <SelectionEditor
              label={t.stepNumber(index + 1)}
              selection={step}
              onChange={(next) => setSteps(steps.with(index, next))}
            />
            <span className={styles.deeds}>
              <IconButton
                icon="up"
                label={t.moveUp(index + 1)}
                isDisabled={index === 0}
                onPress={() => setSteps(swapped(steps, index - 1))}
              />
              <IconButton
                icon="close"
                label={t.removeStep(index + 1)}
                isDisabled={steps.length <= stepLimits.min}
                onPress={() => setSteps(steps.toSpliced(index, 1))}
              />
            </span>
          </li>
        ))}
      </ol>
      {steps.length < stepLimits.max && (
        <div>
          <Button icon="plus" onPress={() => setSteps([...steps, {}])}>
            {t.addStep}
          </Button>
        </div>
      )}
      <Breakdown state={state} meta={meta} />
      <div className={shared.part}>
        <span className={shared.partTitle}>{s.filters}</span>
        <ConditionChips
          conditions={state.filters}
          onChange={(filters) => setView({ filters: filters.length > 0 ? filters : undefined })}
        />
      </div>
      <details className={shared.options} open={isSpecial(state)}>
        <summary>{t.options}</summary>
        <Select
          label={t.order}
          options={orders.map((id) => ({ id, label: t.orders[id], hint: t.orderHints[id] }))}
          value={state.order}
          onChange={(order) => setView({ order })}
        />
        <WindowFields key={`${state.window.value} ${state.window.unit}`} state={state} />
        <div className={shared.part}>
          <span className={shared.partTitle}>{t.count}</span>
          <span>
            <Segments
              label={t.count}
              options={[
                { id: 'person' as const, label: t.people },
                { id: 'session' as const, label: t.sessions },
              ]}
              value={state.per}
              onChange={(per) => setView({ per })}
            />
          </span>
        </div>
      </details>
    </Card>
  )
}

/** What differs from a usual funnel is seen at once. */
const isSpecial = ({ order, per, window }: FunnelState) =>
  order !== 'ordered' || per !== 'person' || window.value !== 14 || window.unit !== 'day'

/** A step changes places with the one after it. */
const swapped = (steps: readonly Selection[], index: number): readonly Selection[] => {
  const [first, second] = [steps[index], steps[index + 1]]
  return first && second ? steps.toSpliced(index, 2, second, first) : steps
}

function WindowFields({ state: { window } }: { readonly state: FunnelState }) {
  const t = useTexts(words)
  const setView = useSetView()
  const [text, setText] = useState(String(window.value))
  const apply = () => {
    const value = Number(text)
    if (Number.isInteger(value) && value >= 1) setView({ window: { ...window, value } })
    else setText(String(window.value))
  }
  return (
    <form
      className={shared.pair}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <TextField
        label={t.window}
        type="number"
        inputMode="numeric"
        value={text}
        onChange={setText}
        onBlur={apply}
      />
      <Select
        label={t.unit}
        hidesLabel
        options={units.map((id) => ({ id, label: t.units[id] }))}
        value={window.unit}
        onChange={(unit) => setView({ window: { ...window, unit } })}
      />
    </form>
  )
}

function Breakdown({ state, meta }: { readonly state: FunnelState; readonly meta: Meta }) {
  const t = useTexts(words)
  const setView = useSetView()
  const chosen = state.breakdown
  const name = chosen === undefined ? t.noBreakdown : titleOf(meta, chosen)
  return (
    <div className={shared.part}>
      <span className={shared.partTitle}>{t.breakdown}</span>
      <div className={styles.breakdown}>
        <PopoverButton
          label={t.breakdown}
          trigger={
            <AriaButton className={field.trigger ?? ''} aria-label={`${t.breakdown}: ${name}`}>
              <span className={field.value} dir="auto">
                {name}
              </span>
              <Icon name="down" size={14} />
            </AriaButton>
          }
        >
          {(close) => (
            <SearchList
              label={t.breakdown}
              choices={Object.keys(meta.dimensions)
                .filter((each) => isBreakdown(meta, each))
                .map((id) => ({ id, label: titleOf(meta, id) }))}
              chosen={chosen === undefined ? [] : [chosen]}
              onChange={([first]) => {
                setView({ breakdown: first })
                close()
              }}
            />
          )}
        </PopoverButton>
        {chosen !== undefined && (
          <IconButton
            icon="close"
            label={t.removeBreakdown}
            onPress={() => setView({ breakdown: undefined })}
          />
        )}
      </div>
    </div>
  )
}
