import { useState } from 'react'
import { FileTrigger } from 'react-aria-components'
import { formatMeasure } from '../../data/format.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import styles from './cohort.module.css'
import { maxPersons, type PersonList, personsOf } from './person-list.ts'
import { words } from './texts.ts'

/** Identifiers by paste or from a file; a large file is not put into the field. */
export function ListEditor({
  list,
  fault,
  onChange,
}: {
  readonly list: PersonList | undefined
  readonly fault: string | undefined
  readonly onChange: (list: PersonList) => void
}) {
  const t = useTexts(words)
  const language = useLanguage()
  const [text, setText] = useState('')
  const [isFile, setFile] = useState(false)
  const count = formatMeasure(language, 'integer', list?.persons.length ?? 0)
  const tooMany = (list?.persons.length ?? 0) > maxPersons ? t.tooLarge : undefined
  return (
    <div className={styles.list}>
      <TextField
        label={t.identifiers}
        lines={8}
        hint={list ? (isFile ? t.fileRead(count) : t.listRead(count)) : t.listHint}
        fault={tooMany ?? fault}
        value={text}
        onChange={(next) => {
          setText(next)
          setFile(false)
          onChange(personsOf(next))
        }}
      />
      {list && list.tooLong > 0 && <p data-quiet>{t.tooLongLines(list.tooLong)}</p>}
      <div>
        <FileTrigger
          acceptedFileTypes={['text/plain', 'text/csv', '.txt', '.csv']}
          onSelect={async (files) => {
            const [file] = files ?? []
            if (!file) return
            onChange(personsOf(await file.text()))
            setText('')
            setFile(true)
          }}
        >
          <Button icon="download">{t.chooseFile}</Button>
        </FileTrigger>
      </div>
    </div>
  )
}
