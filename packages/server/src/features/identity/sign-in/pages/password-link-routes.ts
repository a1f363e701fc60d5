import type { FastifyInstance, FastifyRequest } from 'fastify'
import { validateNewPassword } from '../../../../platform/crypto/passwords.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { type Language, negotiateLanguage } from '../../../../platform/i18n/language.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import type { LinkView, PasswordLinkService } from '../../people/passwords/password-link-service.ts'
import {
  type AuthorizationReader,
  type AuthorizationRequest,
  authorizationParameters,
} from '../authorization-request.ts'
import { ensureBrowserCookie, formTokenOf } from './cookies.ts'
import { type Fields, formOf, queryOf, registerPages, requireOwnForm } from './page-scope.ts'
import { sendSignInPage } from './sign-in-page.ts'
import {
  type ForgotStep,
  forgotPage,
  forgotUrl,
  mailSentPage,
  messagePage,
  type SetPasswordStep,
  setPasswordPage,
  setPasswordUrl,
} from './sign-in-pages.ts'
import { signInWords } from './sign-in-words.ts'

export interface PasswordLinkRouteDependencies {
  readonly links: Pick<PasswordLinkService, 'requestReset' | 'inspect' | 'recordEnded' | 'redeem'>
  readonly readAuthorization: AuthorizationReader
  readonly publicUrl: () => string
}

/** The pages for users who have no password or have forgotten it. */
export function registerPasswordLinkRoutes(
  app: FastifyInstance,
  { links, readAuthorization, publicUrl }: PasswordLinkRouteDependencies,
): void {
  const languageFor = (request: FastifyRequest, fields: Fields): Language =>
    negotiateLanguage(fields.get('lang'), request.headers['accept-language'])

  /** The sign-in that led here, where there is one; an invalid one is ignored. */
  async function comingFrom(
    request: FastifyRequest,
    fields: Fields,
  ): Promise<AuthorizationRequest | undefined> {
    if (!fields.has('client_id')) return undefined
    return (await readAuthorization(fields, request.headers['accept-language'])).request
  }

  registerPages(app, {}, (scope) => {
    scope.get(forgotUrl, async (request, reply) => {
      const fields = queryOf(request)
      const step: ForgotStep = {
        language: languageFor(request, fields),
        formToken: formTokenOf(ensureBrowserCookie(request, reply)),
        username: parseEmailAddress(fields.get('username') ?? '') ?? '',
        request: await comingFrom(request, fields),
      }
      return sendSignInPage(reply, forgotPage(step))
    })

    scope.post(forgotUrl, async (request, reply) => {
      const fields = formOf(request, [...authorizationParameters, 'form_token', 'username'])
      requireOwnForm(request, fields, publicUrl())
      const language = languageFor(request, fields)
      const from = await comingFrom(request, fields)
      const typed = fields.get('username') ?? ''
      const email = parseEmailAddress(typed)
      if (email === undefined) {
        const formToken = formTokenOf(ensureBrowserCookie(request, reply))
        const message = signInWords[language].notAnEmail
        return sendSignInPage(
          reply,
          forgotPage({ language, formToken, username: typed, request: from, message }),
        )
      }
      await links.requestReset({ email, address: request.ip })
      return sendSignInPage(reply, mailSentPage(language, from))
    })

    const ended = (language: Language) => {
      const words = signInWords[language]
      const link = { label: words.askAgain, url: `${forgotUrl}?lang=${language}` }
      return messagePage(language, {
        title: words.linkEndedTitle,
        lead: words.linkEndedLead,
        link,
        status: 400,
      })
    }

    /** In the language that the page was opened in, or else the user's own. */
    function setPasswordStep(fields: Fields, view: LinkView, formToken: string): SetPasswordStep {
      const lang = fields.get('lang')
      return {
        language: lang ? negotiateLanguage(lang, undefined) : view.language,
        formToken,
        token: fields.get('token') ?? '',
        email: view.email,
        isInvitation: view.kind === 'invitation',
      }
    }

    // A mail scanner that follows the link only looks at it.
    scope.get(setPasswordUrl, async (request, reply) => {
      const fields = queryOf(request)
      const found = await links.inspect(fields.get('token') ?? '')
      if (!found) return sendSignInPage(reply, ended(languageFor(request, fields)))
      const formToken = formTokenOf(ensureBrowserCookie(request, reply))
      return sendSignInPage(reply, setPasswordPage(setPasswordStep(fields, found, formToken)))
    })

    scope.post(setPasswordUrl, async (request, reply) => {
      const fields = formOf(request, ['token', 'lang', 'form_token', 'username', 'password', 'repeated'])
      requireOwnForm(request, fields, publicUrl())
      const [token = '', password = ''] = [fields.get('token'), fields.get('password')]
      const found = await links.inspect(token)
      if (!found) {
        await links.recordEnded(token, { address: request.ip })
        return sendSignInPage(reply, ended(languageFor(request, fields)))
      }
      const step = setPasswordStep(fields, found, formTokenOf(ensureBrowserCookie(request, reply)))
      const { language } = step
      const words = signInWords[language]
      const again = (message: string, status = 400) =>
        sendSignInPage(reply, setPasswordPage({ ...step, message, status }))
      const fault = validateNewPassword(password)
      if (fault !== undefined) return again(words.passwordFaults[fault])
      if (password !== fields.get('repeated')) return again(words.different)
      try {
        await links.redeem(token, password, { address: request.ip })
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        if (error.errorName === 'invalidLink') return sendSignInPage(reply, ended(language))
        if (error.errorName === 'validation') return again(words.samePassword)
        if (error.errorName === 'unavailable') return again(words.busy, error.status)
        throw error
      }
      const [title, lead] = [words.passwordSetTitle, words.passwordSetLead]
      return sendSignInPage(reply, messagePage(language, { title, lead }))
    })
  })
}
