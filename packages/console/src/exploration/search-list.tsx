import { useState } from 'react'
import { Autocomplete, Input, ListBox, ListBoxItem, SearchField, type Selection } from 'react-aria-components'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import field from '../ui/field.module.css'
import { Icon } from '../ui/icon.tsx'
import overlay from '../ui/overlay.module.css'
import styles from './exploration.module.css'
import { words } from './texts.ts'

export interface Choice {
  readonly id: string
  readonly label: string
  readonly hint?: string | undefined
}

export interface SearchListProps {
  readonly label: string
  readonly choices: readonly Choice[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
  readonly isMultiple?: boolean
  /** Gets what is typed, where the service searches; else the list is searched here. */
  readonly onSearch?: (text: string) => void
  /** Whether what is typed may be chosen itself. */
  readonly takesOwn?: boolean
}

const maxShown = 100

/** A field that searches and the list of what it finds: all by keyboard, the focus stays in the field. */
export function SearchList(props: SearchListProps) {
  const { label, choices, chosen, onChange, isMultiple = false, onSearch, takesOwn = false } = props
  const say = useTexts(common)
  const t = useTexts(words)
  const [text, setText] = useState('')
  const sought = text.trim().toLowerCase()
  const found = onSearch
    ? choices
    : choices.filter((each) => `${each.label} ${each.id}`.toLowerCase().includes(sought))
  const offered = found.slice(0, maxShown)
  const missing = chosen
    .filter((id) => !offered.some((each) => each.id === id) && id.toLowerCase().includes(sought))
    .map((id) => choices.find((each) => each.id === id) ?? { id, label: id })
  const own =
    takesOwn && text.trim() !== '' && ![...offered, ...missing].some(({ id }) => id === text.trim())
      ? [{ id: text.trim(), label: t.ownValue(text.trim()) }]
      : []
  const all: readonly Choice[] = [...missing, ...offered, ...own]
  const change = (keys: Selection) => {
    if (keys === 'all') return
    const shown = new Set(all.map(({ id }) => id))
    const kept = chosen.filter((id) => !shown.has(id) || keys.has(id))
    onChange(
      isMultiple
        ? [...kept, ...[...keys].map(String).filter((id) => !chosen.includes(id))]
        : [...keys].map(String),
    )
  }
  return (
    <div className={styles.searchList}>
      <Autocomplete
        inputValue={text}
        onInputChange={(next) => {
          setText(next)
          onSearch?.(next.trim())
        }}
      >
        <SearchField aria-label={label} autoFocus>
          <Input className={field.input ?? ''} placeholder={say.search} dir="auto" />
        </SearchField>
        <ListBox
          aria-label={label}
          className={styles.choices ?? ''}
          selectionMode={isMultiple ? 'multiple' : 'single'}
          selectedKeys={[...chosen]}
          onSelectionChange={change}
          items={all}
          dependencies={[chosen]}
          renderEmptyState={() => <p className={styles.nothing}>{t.nothingFound}</p>}
        >
          {(each: Choice) => (
            <ListBoxItem id={each.id} textValue={each.label} className={overlay.item ?? ''}>
              {({ isSelected }) => (
                <>
                  {isMultiple && (
                    <span className={styles.tick} data-on={isSelected}>
                      {isSelected && <Icon name="check" size={12} />}
                    </span>
                  )}
                  <span className={overlay.itemText} dir="auto">
                    {each.label}
                  </span>
                  {each.hint && <span className={styles.count}>{each.hint}</span>}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Autocomplete>
    </div>
  )
}
