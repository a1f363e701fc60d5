import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseEmailAddress } from '../../platform/email-address.ts'
import { bindBrowser, formTokenOf } from '../../platform/http/own-form.ts'
import { sendSignInPage } from '../../platform/http/sign-in-page.ts'
import type { Language } from '../../platform/mail/letter.ts'
import { judgeNewPassword } from '../../platform/passwords.ts'
import {
  type AuthorizationReader,
  type AuthorizationRequest,
  authorizationParameters,
  languageOf,
} from './authorization-request.ts'
import { type Fields, formOf, queryOf, registerPages, requireOwnForm } from './page-scope.ts'
import {
  type ForgotStep,
  forgotPage,
  forgotUrl,
  mailSentPage,
  messagePage,
  setPasswordPage,
} from './sign-in-pages.ts'
import { signInWords } from './sign-in-words.ts'

/** Links with which people set a password. */
export interface PasswordLinks {
  /** Mails a link where there is somebody to mail it to; never says whether there is. */
  requestReset(wanted: { readonly email: string; readonly address: string }): Promise<void>
  /** Whose link it is; looking at it does not use it up. */
  inspect(secret: string): Promise<{ kind: 'password-reset' | 'invitation'; email: string } | undefined>
  /** False when the link works no more. @throws DomainError `validation` for a password that is not good */
  redeem(secret: string, password: string, from: { readonly address: string }): Promise<boolean>
}

export interface PasswordLinkRouteDependencies {
  readonly links: PasswordLinks
  readonly readAuthorization: AuthorizationReader
  readonly origin: () => string
}

/** The pages for people who have no password or have forgotten it. */
export function registerPasswordLinkRoutes(
  app: FastifyInstance,
  { links, readAuthorization, origin }: PasswordLinkRouteDependencies,
): void {
  const languageFor = (request: FastifyRequest, fields: Fields): Language =>
    languageOf(fields.get('lang'), request.headers['accept-language'])

  /** The sign-in that led here, where there is one; one that is not right leads nowhere. */
  async function comingFrom(
    request: FastifyRequest,
    fields: Fields,
  ): Promise<AuthorizationRequest | undefined> {
    if (!fields.has('client_id')) return undefined
    return (await readAuthorization(fields, request.headers['accept-language'])).request
  }

  registerPages(app, (scope) => {
    scope.get(forgotUrl, async (request, reply) => {
      const fields = queryOf(request)
      const step: ForgotStep = {
        language: languageFor(request, fields),
        formToken: formTokenOf(bindBrowser(request, reply)),
        username: parseEmailAddress(fields.get('username') ?? '') ?? '',
        request: await comingFrom(request, fields),
      }
      return sendSignInPage(reply, forgotPage(step))
    })

    scope.post(forgotUrl, async (request, reply) => {
      const fields = formOf(request, [...authorizationParameters, 'form_token', 'username'])
      requireOwnForm(request, fields, origin())
      const language = languageFor(request, fields)
      const from = await comingFrom(request, fields)
      const typed = fields.get('username') ?? ''
      const email = parseEmailAddress(typed)
      if (email === undefined) {
        const formToken = formTokenOf(bindBrowser(request, reply))
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

    // A mail scanner that follows the link only looks at it.
    scope.get('/v2/oauth/set-password', async (request, reply) => {
      const fields = queryOf(request)
      const language = languageFor(request, fields)
      const token = fields.get('token') ?? ''
      const found = await links.inspect(token)
      if (!found) return sendSignInPage(reply, ended(language))
      const formToken = formTokenOf(bindBrowser(request, reply))
      const isInvitation = found.kind === 'invitation'
      return sendSignInPage(
        reply,
        setPasswordPage({ language, formToken, token, email: found.email, isInvitation }),
      )
    })

    scope.post('/v2/oauth/set-password', async (request, reply) => {
      const fields = formOf(request, ['token', 'lang', 'form_token', 'username', 'password', 'repeated'])
      requireOwnForm(request, fields, origin())
      const language = languageFor(request, fields)
      const words = signInWords[language]
      const [token = '', password = ''] = [fields.get('token'), fields.get('password')]
      const found = await links.inspect(token)
      if (!found) return sendSignInPage(reply, ended(language))
      const fault = judgeNewPassword(password)
      const isRepeated = password === fields.get('repeated')
      if (fault !== undefined || !isRepeated) {
        const formToken = formTokenOf(bindBrowser(request, reply))
        const isInvitation = found.kind === 'invitation'
        const message = fault === undefined ? words.different : words.passwordFaults[fault]
        const step = { language, formToken, token, email: found.email, isInvitation, message }
        return sendSignInPage(reply, setPasswordPage(step))
      }
      if (!(await links.redeem(token, password, { address: request.ip })))
        return sendSignInPage(reply, ended(language))
      return sendSignInPage(
        reply,
        messagePage(language, { title: words.passwordSetTitle, lead: words.passwordSetLead }),
      )
    })
  })
}
