import type { DomainError } from '../../../../platform/errors.ts'
import { frenchFailures } from '../../../../platform/i18n/french-failures.ts'
import type { Language } from '../../../../platform/i18n/language.ts'

/** The names of what is wrong, as far as they are names of fields. */
function namesIn({ data }: DomainError): string[] {
  const { errors = [] } = data as { errors?: readonly { path: string }[] }
  return errors.map(({ path }) => path).filter((path) => !path.includes(' '))
}

function inFrench(error: DomainError): string {
  const names = namesIn(error)
  if (names.length > 0) return `Ce qui suit est inconnu ou mal formé dans la demande : ${names.join(', ')}`
  return frenchFailures[error.errorName]
}

/** The text of a failure on a page: a whole sentence in one language. */
export function failureText(error: DomainError, language: Language): string {
  const sentence = error.localizedMessage?.[language] ?? (language === 'en' ? error.message : inFrench(error))
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}
