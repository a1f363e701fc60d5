import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Language } from '../../platform/i18n/language.ts'
import { nameOfMember } from './describe-query.ts'
import type { Place, Slots } from './slots.ts'

const maxUnread = 20
const maxExamples = 12

/** The parts as they were written, in the order of the question. */
export function textsOf(places: readonly Place[], question: string): string[] {
  const texts = [...places]
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => question.slice(start, end))
  return [...new Set(texts)].slice(0, maxUnread)
}

/** The refusal of a question, with what it could have asked for. */
export function unreadable(question: string, slots: Slots, meta: StatisticsMeta, locale: Language) {
  const usual = ['purchases.revenue', 'purchases.count', 'events.people', 'sessions.count']
  const measures = [...new Set([...usual, ...Object.keys(meta.measures)])]
    .filter((id) => Object.hasOwn(meta.measures, id))
    .slice(0, maxExamples)
    .map((id) => nameOfMember(id, meta, locale))
  const unread = textsOf([...slots.unread, ...slots.loose], question)
  const [first] = unread
  const shown = first && [...first].slice(0, 60).join('')
  const message = {
    en: `The question names nothing that can be measured${shown ? ` (nothing is known of "${shown}")` : ''}; ask for example for ${measures.slice(0, 4).join(', ')}`,
    fr: `La question ne nomme rien qui se mesure${shown ? ` (« ${shown} » est inconnu)` : ''} ; demandez par exemple : ${measures.slice(0, 4).join(', ')}`,
  }
  return new DomainError('questionUnreadable', { unread, measures }, { message })
}
