import { useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'

interface PlaceLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** Path and view below the address of the console, as a text. */
  readonly place: string
}

/** A link to what is kept as a text. It is one of the browser too: a middle click opens it beside. */
export function PlaceLink({ place, onClick, ...rest }: PlaceLinkProps) {
  const { history } = useRouter()
  return (
    <a
      {...rest}
      href={`/console${place}`}
      onClick={(event) => {
        onClick?.(event)
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.defaultPrevented) return
        event.preventDefault()
        history.push(`/console${place}`)
      }}
    />
  )
}
