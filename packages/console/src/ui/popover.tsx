import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Popover as AriaPopover, DialogTrigger } from 'react-aria-components'
import overlay from './overlay.module.css'

/** A button that opens a small panel beside it. */
export function PopoverButton({
  trigger,
  label,
  children,
}: {
  readonly trigger: ReactNode
  readonly label: string
  readonly children: ReactNode | ((close: () => void) => ReactNode)
}) {
  return (
    <DialogTrigger>
      {trigger}
      <AriaPopover className={`${overlay.popover} ${overlay.panel}`} placement="bottom start">
        <AriaDialog aria-label={label} style={{ outline: 'none' }}>
          {({ close }) => (typeof children === 'function' ? children(close) : children)}
        </AriaDialog>
      </AriaPopover>
    </DialogTrigger>
  )
}
