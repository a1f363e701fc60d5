import type { ReactNode } from 'react'
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { Icon, type IconName } from './icon.tsx'
import overlay from './overlay.module.css'

export interface MenuEntry {
  readonly id: string
  readonly label: string
  readonly icon?: IconName
  readonly isDanger?: boolean
  readonly onAction: () => void
}

/** A button that opens a list of what can be done; `trigger` is the button. */
export function Menu({
  trigger,
  entries,
  label,
}: {
  readonly trigger: ReactNode
  readonly entries: readonly MenuEntry[]
  readonly label: string
}) {
  return (
    <MenuTrigger>
      {trigger}
      <Popover className={overlay.popover ?? ''} placement="bottom end">
        <AriaMenu aria-label={label} onAction={(id) => entries.find((each) => each.id === id)?.onAction()}>
          {entries.map(({ id, label: text, icon, isDanger }) => (
            <MenuItem
              key={id}
              id={id}
              textValue={text}
              className={overlay.item ?? ''}
              {...(isDanger && { 'data-danger': true })}
            >
              {icon && <Icon name={icon} size={16} />}
              <span className={overlay.itemText}>{text}</span>
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}
