import type { generalErrors } from '@millrace/contract/errors/general.ts'
import type { checkEmail } from '@millrace/contract/operations/auth.ts'
import type {
  confirmSingleSignOn,
  consumeSamlResponse,
  finishSingleSignOn,
  startSingleSignOn,
} from '@millrace/contract/operations/single-sign-on.ts'
import type { DomainError } from '../../../../platform/errors.ts'
import type { Language } from '../../../../platform/i18n/language.ts'

/** What the operations that answer browsers with pages may fail with, and what their authorization request may. */
type PageFailure =
  | keyof typeof generalErrors
  | (
      | typeof checkEmail
      | typeof startSingleSignOn
      | typeof consumeSamlResponse
      | typeof finishSingleSignOn
      | typeof confirmSingleSignOn
    )['errors'][number]
  | 'unauthorizedClient'

/** The error table says it in English. */
const french: Readonly<Record<PageFailure, string>> = {
  validation: 'La demande n’est pas valable.',
  malformed: 'La demande est illisible.',
  unauthenticated: 'Il faut être connecté pour cela.',
  forbidden: 'Votre rôle ne permet pas cela.',
  notFound: 'Cet objet n’existe pas.',
  unknownPath: 'Il n’y a rien à cette adresse.',
  methodNotAllowed: 'Cette adresse ne répond pas à cette méthode.',
  notAcceptable: 'Aucun des formats acceptés ne peut être fourni.',
  requestTimeout: 'La demande n’est pas arrivée à temps.',
  conflict: 'Cela contredit l’état actuel.',
  payloadTooLarge: 'Le formulaire envoyé est trop volumineux.',
  uriTooLong: 'L’adresse est trop longue.',
  unsupportedMediaType: 'Le formulaire est envoyé dans un format qui n’est pas accepté ici.',
  tooManyRequests: 'Trop de demandes à la fois ; réessayez dans un instant.',
  headersTooLarge: 'Les en-têtes de la demande sont trop volumineux.',
  internal: 'Une erreur s’est produite de notre côté.',
  unavailable: 'Le service n’est pas disponible en ce moment ; réessayez dans un instant.',
  timeout: 'La demande a pris plus de temps que permis et a été interrompue.',
  tooComplex: 'La demande dépasse ce qui peut être calculé.',
  savedMeanwhile: 'Cet objet a été enregistré entre-temps.',
  invalidClient: 'L’application demandée n’est pas connue, ou elle est fermée.',
  unauthorizedClient: 'L’application demandée ne peut pas connecter de personnes ainsi.',
  invalidRedirectUri: 'L’adresse de retour (redirect_uri) n’est pas enregistrée pour cette application.',
  singleSignOnNotOffered: 'Il n’y a pas de connexion unique ici.',
  singleSignOnRefused: 'La connexion unique a été refusée.',
  tooManySamlResponses: 'Trop de connexions viennent de cette adresse en même temps ; réessayez bientôt.',
  missingSamlResponse: 'Le formulaire doit contenir une seule fois le champ SAMLResponse.',
}

const hasFrench = (name: string): name is PageFailure => Object.hasOwn(french, name)

/** The names of what is wrong, as far as they are names of fields. */
function namesIn({ data }: DomainError): string[] {
  const { errors = [] } = data as { errors?: readonly { path: string }[] }
  return errors.map(({ path }) => path).filter((path) => !path.includes(' '))
}

function inFrench(error: DomainError): string {
  const names = namesIn(error)
  if (names.length > 0) return `Ce qui suit est inconnu ou mal formé dans la demande : ${names.join(', ')}`
  if (hasFrench(error.errorName)) return french[error.errorName]
  return error.status < 500 ? french.validation : french.internal
}

/** The text of a failure on a page: a whole sentence in one language. */
export function failureText(error: DomainError, language: Language): string {
  const sentence = error.localizedMessage?.[language] ?? (language === 'en' ? error.message : inFrench(error))
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}
