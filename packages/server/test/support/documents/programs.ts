import type { DocumentPage } from './blocks.ts'

export interface Program {
  readonly language: 'ts' | 'js'
  readonly code: string
  /** Of the block with which it ends. */
  readonly last: number
}

/** The programs of a page: a block that begins with `import` begins one, and the next ones continue it. */
export function programsOf({ blocks }: DocumentPage): Program[] {
  const programs: { language: 'ts' | 'js'; code: string; last: number; ended: boolean }[] = []
  for (const { language, words, code, number, reason } of blocks) {
    const current = programs.at(-1)
    if (words.includes('answer') && current) current.ended = true
    if ((language !== 'ts' && language !== 'js') || reason !== undefined) continue
    if (!current || current.ended || current.language !== language || code.startsWith('import '))
      programs.push({ language, code, last: number, ended: false })
    else {
      current.code += `\n${code}`
      current.last = number
    }
  }
  return programs
}

export interface ShownRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** A text for a variable within quotes, the present time for one elsewhere. */
function filledIn(json: string): string {
  let quoted = false
  let out = ''
  for (let at = 0; at < json.length; at++) {
    const variable = /^(?:\\\([^()]*(?:\([^()]*\)[^()]*)*\)|\$\{[^}]*\}|\$[A-Za-z_]\w*)/.exec(
      json.slice(at),
    )?.[0]
    if (variable) {
      out += quoted ? crypto.randomUUID() : Date.now()
      at += variable.length - 1
      continue
    }
    if (json[at] === '"') quoted = !quoted
    out += json[at]
  }
  return out
}

/** The request that a program in a language without a compiler here would send (CONTRIBUTING.md, Writing documents). */
export function requestIn(code: string): ShownRequest {
  const url = /["'](https?:\/\/[^"'\s]+)["']/.exec(code)?.[1]
  if (url === undefined) throw new Error('the block has no literal that begins with http')
  const body = [...code.matchAll(/("""|''')([\s\S]*?)\1/g)]
    .map(([, , text = '']) => text.trim())
    .find((text) => /^[[{]/.test(text))
  const headers = Object.fromEntries(
    [...code.matchAll(/["'](Content-Type|Authorization)["']\s*[,:]\s*["']([^"']+)["']/gi)].map(
      ([, name = '', value = '']) => [name.toLowerCase(), value],
    ),
  )
  return { url, headers, ...(body !== undefined && { body: filledIn(body) }) }
}
