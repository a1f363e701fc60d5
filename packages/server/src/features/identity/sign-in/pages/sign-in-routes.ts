import { checkEmail } from '@millrace/contract/operations/auth.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../../platform/errors.ts'
import { faults, pageFault } from '../../../../platform/http/form-faults.ts'
import { rawRoute } from '../../../../platform/http/route.ts'
import type { Language } from '../../../../platform/i18n/language.ts'
import { parseEmailAddress } from '../../../../platform/mail/email-address.ts'
import { readRefreshCookie } from '../../sessions/tokens/refresh-cookie.ts'
import {
  type AuthorizationReader,
  AuthorizationRefused,
  authorizationParameters,
  buildRedirect,
  type ReturnAddress,
  toParameters,
  type ValidatedRequest,
} from '../authorization-request.ts'
import type { NextStep, SignInService } from '../sign-in-service.ts'
import { oauthDescription, oauthError } from '../tokens/oauth-failures.ts'
import {
  browserOf,
  ensureBrowserCookie,
  forgetKeptSignIn,
  formTokenOf,
  readDeviceCookie,
  readKeptSignIn,
  setDeviceCookie,
} from './cookies.ts'
import {
  type Fields,
  formBodyLimit,
  formOf,
  isBrowser,
  queryOf,
  readQuery,
  registerPages,
  requireOwnForm,
} from './page-scope.ts'
import { sendSignInPage } from './sign-in-page.ts'
import {
  codePage,
  consentPage,
  emailPage,
  expiredPage,
  type PageContext,
  passwordPage,
  signInUrl,
} from './sign-in-pages.ts'
import { signInWords } from './sign-in-words.ts'

export interface SignInRouteDependencies {
  readonly signIn: SignInService
  readonly readAuthorization: AuthorizationReader
  /** Address under which users reach the service. */
  readonly publicUrl: () => string
}

const known = [...authorizationParameters, 'form_token']
const maxUsernameLength = 254

/** The fault of a user name that is no address. */
function faultOfUsername(typed: string): DomainError {
  if (typed === '') return pageFault('username', faults.required)
  const isLong = typed.length > maxUsernameLength
  return pageFault('username', isLong ? faults.tooLong(maxUsernameLength) : faults.notAnAddress)
}

/**
 * The page's text for a failure.
 * @param wrong the text for a wrong password or code
 */
function wordsFor(
  error: unknown,
  language: Language,
  wrong: 'wrong' | 'wrongCode' = 'wrong',
): { message: string; status: number } {
  const words = signInWords[language]
  if (!(error instanceof DomainError)) throw error
  const { errorName, status, retryAfterSeconds } = error
  if (errorName === 'invalidCredentials') return { message: words[wrong], status }
  if (errorName === 'tooManyAttempts') return { message: words.tooMany(retryAfterSeconds ?? 1), status }
  if (errorName === 'signInUnavailable') return { message: words.busy, status }
  throw error
}

/** The steps of a sign-in in a browser, and operation 2; pages that work without scripts. */
export function registerSignInRoutes(app: FastifyInstance, dependencies: SignInRouteDependencies): void {
  const { signIn, readAuthorization, publicUrl } = dependencies

  /** Of requests whose client and redirect_uri were right. */
  const returnAddresses = new WeakMap<FastifyRequest, ReturnAddress>()

  async function validate(
    request: FastifyRequest,
    fields: Fields,
    misread?: DomainError,
  ): Promise<ValidatedRequest> {
    const validated = await readAuthorization(fields, request.headers['accept-language'], misread)
    returnAddresses.set(request, validated.request)
    return validated
  }

  /**
   * Errors of a request, and failures of the service, are redirected to the application (RFC 6749 4.1.2.1). Once a
   * page is shown its form can be sent again, and failures stay on pages.
   */
  function findReturn(error: DomainError, request: FastifyRequest): string | undefined {
    if (request.method === 'POST') return undefined
    const refused = error instanceof AuthorizationRefused ? error : undefined
    const to = refused?.returnAddress ?? (error.status >= 500 ? returnAddresses.get(request) : undefined)
    const result = {
      error: refused?.code ?? oauthError(error),
      error_description: oauthDescription(error.message),
    }
    return to && buildRedirect(to, result, publicUrl())
  }

  function contextOf({ client, request }: ValidatedRequest, browser: string): PageContext {
    return { request, clientName: client.name, formToken: formTokenOf(browser) }
  }

  /** The page or the redirect of the next step. */
  function follow(
    request: FastifyRequest,
    reply: FastifyReply,
    step: NextStep,
    context: PageContext,
  ): FastifyReply {
    if (step.kind !== 'code' && step.device !== undefined) setDeviceCookie(request, reply, step.device)
    switch (step.kind) {
      case 'done':
        return reply.header('cache-control', 'no-store').redirect(step.location, 303)
      case 'code':
        return sendSignInPage(reply, codePage(context, step.signIn))
      case 'consent':
        return sendSignInPage(reply, consentPage(context, step.signIn, step.email))
    }
  }

  /** What a step needs, from a form that this service wrote for this browser. */
  async function readStep(request: FastifyRequest, extra: readonly string[]) {
    const fields = formOf(request, [...known, ...extra])
    requireOwnForm(request, fields, publicUrl())
    const browser = browserOf(request)
    if (browser === undefined || fields.get('form_token') !== formTokenOf(browser))
      throw new DomainError('forbidden', {}, { message: 'The browser keeps no cookies' })
    const validated = await validate(request, fields)
    const cookieToken = readRefreshCookie(request)
    const source = { address: request.ip, cookieToken, device: readDeviceCookie(request) }
    return { fields, context: contextOf(validated, browser), step: { ...validated, browser, source } }
  }

  registerPages(app, { findReturn }, (scope) => {
    scope.get(signInUrl, async (request, reply) => {
      const { fields, misread } = readQuery(request)
      const validated = await validate(request, fields, misread)
      const browser = ensureBrowserCookie(request, reply)
      const context = contextOf(validated, browser)
      const kept = readKeptSignIn(request)
      const source = { address: request.ip, cookieToken: undefined, device: undefined }
      const resumed = kept && (await signIn.resume(kept, { ...validated, browser, source }))
      if (resumed) {
        forgetKeptSignIn(request, reply)
        return follow(request, reply, resumed, context)
      }
      // An application that knows the address saves typing it; it proves nothing.
      const username = parseEmailAddress(fields.get('username') || fields.get('login_hint') || '')
      if (username === undefined) return sendSignInPage(reply, emailPage(context))
      const way = await signIn.findWay(username, validated.request)
      if (way?.required) return reply.header('cache-control', 'no-store').redirect(way.location, 303)
      return sendSignInPage(reply, passwordPage(context, { username, singleSignOn: way?.location }))
    })

    rawRoute(scope, checkEmail, {
      bodyLimit: formBodyLimit,
      async handler(request, reply) {
        const fields = formOf(request, [...known, 'username'])
        requireOwnForm(request, fields, publicUrl())
        const validated = await validate(request, fields)
        const typed = fields.get('username') ?? ''
        const username = parseEmailAddress(typed)
        if (username === undefined) {
          if (!isBrowser(request)) throw faultOfUsername(typed)
          const { notAnEmail } = signInWords[validated.request.language]
          const context = contextOf(validated, ensureBrowserCookie(request, reply))
          return sendSignInPage(reply, emailPage(context, notAnEmail, typed.slice(0, maxUsernameLength)))
        }
        const way = await signIn.findWay(username, validated.request)
        reply.header('cache-control', 'no-store')
        if (isBrowser(request)) {
          if (way?.required) return reply.redirect(way.location, 303)
          const context = contextOf(validated, ensureBrowserCookie(request, reply))
          return sendSignInPage(reply, passwordPage(context, { username, singleSignOn: way?.location }))
        }
        const parameters = toParameters(validated.request)
        parameters.set('username', username)
        const passwordStep = `${publicUrl()}${signInUrl}?${parameters}`
        return reply
          .code(204)
          .header('location', way?.required ? way.location : passwordStep)
          .send()
      },
    })

    scope.post('/v2/oauth/sign-in', async (request, reply) => {
      const { fields, context, step } = await readStep(request, ['username', 'password'])
      const username = parseEmailAddress(fields.get('username') ?? '')
      if (username === undefined) return sendSignInPage(reply, emailPage(context))
      const way = await signIn.findWay(username, step.request)
      if (way?.required) return reply.header('cache-control', 'no-store').redirect(way.location, 303)
      try {
        const next = await signIn.signIn(username, fields.get('password') ?? '', step)
        return follow(request, reply, next, context)
      } catch (error) {
        const failure = wordsFor(error, step.request.language)
        return sendSignInPage(
          reply,
          passwordPage(context, { username, singleSignOn: way?.location, ...failure }),
        )
      }
    })

    scope.post('/v2/oauth/one-time-code', async (request, reply) => {
      const { fields, context, step } = await readStep(request, ['sign_in', 'code'])
      const secret = fields.get('sign_in') ?? ''
      try {
        const next = await signIn.giveOneTimeCode(secret, fields.get('code') ?? '', step)
        if (!next) return sendSignInPage(reply, expiredPage(step.request))
        return follow(request, reply, next, context)
      } catch (error) {
        return sendSignInPage(
          reply,
          codePage(context, secret, wordsFor(error, step.request.language, 'wrongCode')),
        )
      }
    })

    scope.get('/v2/oauth/consent', async (request, reply) => {
      const fields = queryOf(request)
      const validated = await validate(request, fields)
      const browser = ensureBrowserCookie(request, reply)
      const secret = fields.get('sign_in') ?? ''
      const step = {
        ...validated,
        browser,
        source: { address: request.ip, cookieToken: undefined, device: undefined },
      }
      const asked = await signIn.findAsked(secret, step)
      if (!asked) return sendSignInPage(reply, expiredPage(validated.request))
      return sendSignInPage(reply, consentPage(contextOf(validated, browser), secret, asked.email))
    })

    scope.post('/v2/oauth/consent', async (request, reply) => {
      const { fields, step } = await readStep(request, ['sign_in', 'decision'])
      const allowed = fields.get('decision') === 'allow'
      const location = await signIn.decide(fields.get('sign_in') ?? '', allowed, step)
      if (location === undefined) return sendSignInPage(reply, expiredPage(step.request))
      return reply.header('cache-control', 'no-store').redirect(location, 303)
    })
  })
}
