import { ValidationError } from '@millrace/sdk'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { client } from '../../client.ts'
import type { Meta } from '../../data/format.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'
import { type CodeEditor, createCodeEditor } from './code-editor.ts'
import styles from './query-editor.module.css'
import type { Query } from './query-state.ts'
import { words } from './texts.ts'

/** The query as the interface takes it, with completion, and what the interface says of it at its place. */
export function QueryEditor({
  meta,
  query,
  onAsk,
}: {
  readonly meta: Meta
  readonly query: Query
  readonly onAsk: (query: Query) => void
}) {
  const t = useTexts(words)
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor>(null)
  const [isChanged, setChanged] = useState(false)
  const asked = JSON.stringify(query, null, 2)
  // What the interface refuses is not asked, so that the panel beside keeps its answer.
  const check = useMutation({
    mutationFn: (body: Query) => client.explainQuery({ body }),
    onSuccess: (_, body) => {
      setChanged(false)
      onAsk(body)
    },
    onError: (error) => {
      if (error instanceof ValidationError) editor.current?.faults(error.errors)
      else toast.fail(error.message)
    },
  })
  const ask = () => {
    try {
      check.mutate(JSON.parse(editor.current?.text() ?? '') as Query)
    } catch {
      editor.current?.lint()
    }
  }
  const latest = useRef(ask)
  latest.current = ask

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once, and told of later questions below
  useEffect(() => {
    const parent = place.current
    if (!parent) return
    editor.current = createCodeEditor({
      parent,
      meta,
      text: asked,
      label: t.code,
      fault: t.jsonFault,
      onChange: () => setChanged(true),
      onAsk: () => latest.current(),
    })
    return () => editor.current?.destroy()
  }, [meta])

  useEffect(() => {
    editor.current?.show(asked)
    setChanged(false)
  }, [asked])

  return (
    <div className={styles.editor}>
      <div ref={place} className={styles.place} />
      <div className={styles.foot}>
        <span className={styles.hint} data-quiet>
          {isChanged ? t.jsonNotAsked : t.jsonHint}
        </span>
        <Button onPress={() => editor.current?.format()}>{t.format}</Button>
        <Button kind="main" onPress={ask} isPending={check.isPending}>
          {t.askThis}
        </Button>
      </div>
    </div>
  )
}
