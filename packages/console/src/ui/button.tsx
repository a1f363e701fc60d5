import { createLink } from '@tanstack/react-router'
import type { ReactNode, Ref } from 'react'
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Tooltip,
  TooltipTrigger,
} from 'react-aria-components'
import styles from './button.module.css'
import { Icon, type IconName } from './icon.tsx'
import overlay from './overlay.module.css'

export type ButtonKind = 'plain' | 'main' | 'quiet' | 'danger'

const classOf = (kind: ButtonKind, more = '') =>
  [styles.button, kind === 'plain' ? '' : styles[kind], more].filter(Boolean).join(' ')

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'> {
  readonly kind?: ButtonKind
  readonly icon?: IconName
  readonly children: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button({ kind = 'plain', icon, children, ...rest }: ButtonProps) {
  return (
    <AriaButton {...rest} className={classOf(kind)}>
      {icon && <Icon name={icon} size={16} />}
      {children}
    </AriaButton>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: IconName
  /** What it does: its name for screen readers and its tooltip. */
  readonly label: string
  /** As of something that is on. */
  readonly isFilled?: boolean
}

export function IconButton({ kind = 'quiet', icon, label, isFilled, ...rest }: IconButtonProps) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...rest} aria-label={label} className={classOf(kind, styles.icon)}>
        <Icon name={icon} {...(isFilled && { isFilled })} />
      </AriaButton>
      <Tooltip className={overlay.tooltip ?? ''} offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  )
}

interface AnchorProps extends React.AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly kind?: ButtonKind
  readonly icon?: IconName
  readonly ref?: Ref<HTMLAnchorElement>
}

/** A link to a screen that looks like a button. */
export const ButtonLink = createLink(function Anchor({
  kind = 'plain',
  icon,
  children,
  ...rest
}: AnchorProps) {
  return (
    <a {...rest} className={classOf(kind)}>
      {icon && <Icon name={icon} size={16} />}
      {children}
    </a>
  )
})
