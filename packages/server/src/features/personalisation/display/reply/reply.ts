import type { Content } from '../../compile/executable.ts'
import { transparentImage } from './transparent-image.ts'

/** What is answered: a body with its type, or a redirect with its location. */
export type RunnerReply =
  | { readonly status: 200; readonly contentType: string; readonly body: string | Buffer }
  | { readonly status: 302; readonly location: string }
  | { readonly status: 204 | 404 }

export const nothing: RunnerReply = { status: 204 }
export const notFound: RunnerReply = { status: 404 }

const image: RunnerReply = { status: 200, contentType: 'image/png', body: transparentImage }

export const htmlType = 'text/html; charset=utf-8'
const jsonType = 'application/json; charset=utf-8'

const blankPage: RunnerReply = {
  status: 200,
  contentType: htmlType,
  body: '<!doctype html><html><head><meta charset="utf-8"><title></title></head><body></body></html>',
}

/** What an entrypoint answers that has nothing to show, by its format: never an error to who opens a mail. */
export function defaultReply(format: string): RunnerReply {
  if (format.endsWith('-image')) return image
  return format === 'page' ? blankPage : nothing
}

/** The same where not even the format is known: by what the caller says it can show. */
export function replyByAccept(accept: string | undefined): RunnerReply {
  if (accept === undefined) return nothing
  if (accept.startsWith('image/')) return image
  return accept.startsWith('text/html') ? blankPage : nothing
}

export function replyOf(content: Content, format: string): RunnerReply {
  switch (content.kind) {
    case 'json':
      return { status: 200, contentType: jsonType, body: content.body }
    case 'html':
      return { status: 200, contentType: htmlType, body: content.body }
    case 'image':
    case 'redirect':
      return { status: 302, location: content.location }
    case 'empty':
      return defaultReply(format)
  }
}

/** A click without a destination. */
export const deadClick = (isJson: boolean): RunnerReply => (isJson ? nothing : notFound)
