import type { ReactNode } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import overlay from './overlay.module.css'

/** Asks before what cannot be undone. */
export function Confirm({
  title,
  action,
  isOpen,
  isBusy = false,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string
  /** What the button does, in its words. */
  readonly action: string
  readonly isOpen: boolean
  readonly isBusy?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}) {
  const t = useTexts(common)
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      onClose={onClose}
      role="alertdialog"
      end={
        <>
          <Button onPress={onClose}>{t.cancel}</Button>
          <Button kind="danger" isDisabled={isBusy} onPress={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  )
}

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  /** In pixels; a phone's whole width is less. */
  readonly width?: number
  readonly children?: ReactNode
  readonly role?: 'dialog' | 'alertdialog'
  /** The buttons. */
  readonly end?: ReactNode
}

/** A window over the page. */
export function Dialog({ title, isOpen, onClose, width = 480, role = 'dialog', children, end }: DialogProps) {
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
        <AriaDialog role={role} className={overlay.dialog ?? ''}>
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
