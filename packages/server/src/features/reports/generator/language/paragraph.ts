import type { Figure, Paragraph } from '@millrace/contract/resources/report-section.ts'
import { type FigureContext, type FigureDraft, FigureFault, textOfFigure } from '../checker/figures.ts'
import type { Noun } from './nouns.ts'

/** A piece of a text: words, or a figure whose text is computed from its cells. */
export type Part = string | FigureDraft
export type Sentence = readonly Part[]

/** A value of a measure now and before, with how far they are apart. */
export interface ChangeParts {
  readonly noun: Noun
  readonly now: Sentence
  readonly before: Sentence
  readonly difference: Sentence
  /** In percent of what it was before; absent where that is not above 0. */
  readonly change?: Part | undefined
  /** What was counted before, where that is so little that the percentage misleads. */
  readonly smallBase?: { readonly noun: Noun; readonly count: Sentence } | undefined
  readonly direction: 'up' | 'down' | 'same'
}

/** The member of a dimension: its name, or nothing for those without a value. */
export interface MemberParts {
  readonly dimension: string
  readonly name: Sentence
}

/** Sentences in a row, with a word before the last. */
export const listed = (parts: readonly Sentence[], and: string): Sentence =>
  parts.flatMap((part, i) => (i === 0 ? part : [i === parts.length - 1 ? ` ${and} ` : ', ', ...part]))

/**
 * Joins words and figures to a sentence. Numbers never stand in the words themselves:
 * say`Revenue came to ${figure} in ${month}.`
 */
export function say(words: TemplateStringsArray, ...slots: readonly (Part | Sentence)[]): Sentence {
  return words.flatMap((word, i) => {
    const slot = slots[i]
    const own = word === '' ? [] : [word]
    if (slot === undefined) return own
    return [...own, ...(isSentence(slot) ? slot : [slot])]
  })
}

function isSentence(slot: Part | Sentence): slot is Sentence {
  return Array.isArray(slot)
}

/** The same with a capital letter at its beginning, unless a figure stands there. */
export function capitalized([first, ...rest]: Sentence): Sentence {
  if (typeof first !== 'string') return first === undefined ? [] : [first, ...rest]
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest]
}

/** Sentences of which the figures can be computed, one after the other; undefined where none can. */
export function paragraphOf(sentences: readonly Sentence[], context: FigureContext): Paragraph | undefined {
  let text = ''
  const figures: Figure[] = []
  for (const sentence of sentences) {
    const written = write(capitalized(sentence), text === '' ? 0 : text.length + 1, context)
    if (written === undefined || text.length + written.text.length > maxLength) continue
    if (figures.length + written.figures.length > maxFigures) continue
    text += (text === '' ? '' : ' ') + written.text
    figures.push(...written.figures)
  }
  return text === '' ? undefined : { text, figures }
}

/** Of a paragraph (packages/contract, `Paragraph`). */
const maxLength = 3_900
const maxFigures = 100

/** A sentence whose figures cannot be computed is left out: nothing is told of it. */
function write(sentence: Sentence, offset: number, context: FigureContext): Paragraph | undefined {
  let text = ''
  const figures: Figure[] = []
  try {
    for (const part of sentence) {
      const written = typeof part === 'string' ? part : textOfFigure(part, context)
      if (typeof part !== 'string') {
        const start = offset + text.length
        figures.push({ start, end: start + written.length, ...part, cells: [...part.cells] })
      }
      text += written
    }
  } catch (error) {
    if (error instanceof FigureFault) return undefined
    throw error
  }
  return { text, figures }
}
