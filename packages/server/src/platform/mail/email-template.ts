import { html } from '../http/documents/html.ts'
import type { Language, LocalizedText } from '../i18n/language.ts'

export interface EmailTemplate {
  readonly language: Language
  /** One paragraph each. */
  readonly before: readonly string[]
  readonly link?: { readonly label: string; readonly url: string }
  readonly after?: readonly string[]
}

const closings: LocalizedText = {
  en: 'This message was sent by Millrace. Nobody reads replies to it.',
  fr: 'Ce message a été envoyé par Millrace. Les réponses ne sont pas lues.',
}

/** The body of a mail as plain text, and as HTML that loads nothing. */
export function emailTemplate({ language, before, link, after = [] }: EmailTemplate): {
  text: string
  html: string
} {
  const closing = closings[language]
  const text = [...before, ...(link ? [`${link.label}:\n${link.url}`] : []), ...after, `-- \n${closing}`]
  const paragraph = (each: string) => html`<p style="margin:0 0 16px">${each}</p>`
  const button =
    link &&
    html`<p style="margin:24px 0"><a href="${link.url}" style="background:#0b6b6b;color:#fff;padding:12px 20px;border-radius:8px;text-decoration:none;font-weight:600">${link.label}</a></p>
<p style="margin:0 0 16px;font-size:13px;color:#5a6664;word-break:break-all">${link.url}</p>`
  const page = html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"></head>
<body style="margin:0;padding:24px;background:#fbfaf7;color:#1c2524;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto;background:#fff;border:1px solid #e2ded2;border-radius:12px;padding:24px">
${before.map(paragraph)}${button}${after.map(paragraph)}
<p style="margin:24px 0 0;font-size:13px;color:#5a6664">${closing}</p>
</div></body></html>
`
  return { text: `${text.join('\n\n')}\n`, html: page.markup }
}
