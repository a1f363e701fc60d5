import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/state.tsx'

/** Instead of a screen that threw. */
export function BrokenScreen({ error }: { readonly error: unknown }) {
  const t = useTexts(common)
  return (
    <div role="alert">
      <Empty
        icon="warning"
        title={t.broken}
        action={
          <Button icon="refresh" onPress={() => location.reload()}>
            {t.reload}
          </Button>
        }
      >
        <p>{t.brokenHint}</p>
        <p>
          <code>{error instanceof Error ? error.message : String(error)}</code>
        </p>
      </Empty>
    </div>
  )
}

export function UnknownScreen() {
  const t = useTexts(common)
  return (
    <Empty icon="question" title={t.notFound}>
      {t.notFoundHint}
    </Empty>
  )
}
