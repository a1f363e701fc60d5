import { type Call, curlOf, sdkCallOf } from '../data/call-texts.ts'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { IconButton } from './button.tsx'
import { Menu } from './menu.tsx'
import { toast } from './toast.tsx'

/** What the screen asks of the interface, for a terminal or a program. */
export function CopyAs({ call }: { readonly call: Call }) {
  const t = useTexts(common)
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text)
    toast.say(t.copied)
  }
  return (
    <Menu
      label={t.copy}
      trigger={<IconButton icon="code" label={`${t.copyAsCurl}, ${t.copyAsSdk}`} />}
      entries={[
        { id: 'curl', label: t.copyAsCurl, onAction: () => void copy(curlOf(call)) },
        { id: 'sdk', label: t.copyAsSdk, onAction: () => void copy(sdkCallOf(call)) },
      ]}
    />
  )
}
