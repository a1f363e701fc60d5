import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import overlay from './overlay.module.css'

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  /** In pixels; a phone's whole width is less. */
  readonly width?: number
  readonly children: ReactNode
  /** The buttons. */
  readonly end?: ReactNode
}

/** A window over the page. What must be answered before anything else is `role="alertdialog"` of its own. */
export function Dialog({ title, isOpen, onClose, width = 480, children, end }: DialogProps) {
  return (
    <ModalOverlay
      className={overlay.backdrop ?? ''}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable
    >
      <Modal
        className={overlay.modal ?? ''}
        style={{ '--dialog-width': `${width}px` } as React.CSSProperties}
      >
        <AriaDialog className={overlay.dialog ?? ''}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          {end && <div className={overlay.dialogEnd}>{end}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}
