import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { IconButton } from './button.tsx'
import styles from './code-block.module.css'
import { toast } from './toast.tsx'

/** Text for a terminal or a file, with a button that copies it. */
export function CodeBlock({ label, text }: { readonly label: string; readonly text: string }) {
  const t = useTexts(common)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    toast.say(t.copied)
  }
  return (
    <div className={styles.block}>
      <section className={styles.text} aria-label={label} dir="ltr">
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <IconButton icon="copy" label={`${t.copy}: ${label}`} onPress={() => void copy()} />
    </div>
  )
}
