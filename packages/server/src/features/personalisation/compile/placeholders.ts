import { placeholderPattern } from '@millrace/contract/resources/workflow-definition.ts'

/** A stretch of text, or a name between braces. */
export type TemplatePart = { readonly text: string } | { readonly placeholder: string }

/** A text cut at its placeholders; texts between them may be empty and are left out. */
export function partsOf(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const found of template.matchAll(new RegExp(placeholderPattern, 'g'))) {
    if (found.index > end) parts.push({ text: template.slice(end, found.index) })
    parts.push({ placeholder: found[1] ?? '' })
    end = found.index + found[0].length
  }
  if (end < template.length) parts.push({ text: template.slice(end) })
  return parts
}
