import { readFileSync } from 'node:fs'
import { lexer, type Token, walkTokens } from 'marked'
import { storedPages } from '../../../src/platform/http/documents/page-library.ts'

export const root = new URL('../../../../../', import.meta.url)

/** A fenced block of a page (CONTRIBUTING.md, Writing documents). */
export interface Block {
  /** From 1, among the blocks of its page. */
  readonly number: number
  readonly language: string
  /** Of the info string, behind the language. */
  readonly words: readonly string[]
  /** Why it must not run. */
  readonly reason?: string
  readonly code: string
}

export interface DocumentPage {
  readonly name: string
  readonly blocks: readonly Block[]
}

export function blocksOf(source: string): Block[] {
  const found: Block[] = []
  walkTokens(lexer(source), (token: Token) => {
    if (token.type !== 'code' || token.codeBlockStyle === 'indented') return
    const [, info = '', reason] = /^(.*?)(?:\s*\bno-run:\s*(.*))?$/.exec(token.lang ?? '') ?? []
    const [language = '', ...words] = info.trim().split(/\s+/)
    found.push({
      number: found.length + 1,
      language,
      words,
      ...(reason !== undefined && { reason }),
      code: token.text,
    })
  })
  return found
}

/** The pages of docs/ and the README. */
export function documentPages(): DocumentPage[] {
  const files = [...storedPages().map((name) => [name, `docs/${name}.md`] as const), ['README', 'README.md']]
  return files.map(([name = '', file = '']) => ({
    name,
    blocks: blocksOf(readFileSync(new URL(file, root), 'utf8')),
  }))
}
