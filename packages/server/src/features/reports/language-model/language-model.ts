import { setTimeout as wait } from 'node:timers/promises'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { createSemaphore } from '../../../platform/limits/semaphore.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { OutgoingClient } from '../../../platform/outgoing/outgoing-client.ts'
import { OutgoingError } from '../../../platform/outgoing/outgoing-error.ts'

export interface LanguageModelSettings {
  /** Base address of an OpenAI-compatible interface, without a final slash. */
  readonly url: string
  /** Name of the model. */
  readonly name: string
  readonly key: string | undefined
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Why the model gave no answer. The message names neither the key nor what was sent or answered. */
export class LanguageModelError extends Error {}

export type LanguageModel = ReturnType<typeof createLanguageModel>

export interface LanguageModelDependencies {
  readonly settings: LanguageModelSettings
  /** May reach the configured address, wherever it lies. */
  readonly outgoing: Pick<OutgoingClient, 'askJson'>
  readonly log: Pick<Logger, 'warn'>
  /** Milliseconds for one answer; default 60,000. */
  readonly timeoutMs?: number
  /** Milliseconds before the second attempt, doubled before each further one; default 500. */
  readonly retryMs?: number
}

const attempts = 3
const maxAnswerBytes = 256 * 1024
const maxContentLength = 64 * 1024
const maxTokens = 4_000
/** Answers that are waited for at once, and those that wait for them. */
const atOnce = 2
const waiting = 20

/** Of a server that may answer a moment later. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504])

const isAnswer = Compile(
  Type.Object({
    choices: Type.Array(
      Type.Object({ message: Type.Object({ content: Type.String({ maxLength: maxContentLength }) }) }),
      { minItems: 1 },
    ),
  }),
)

/** A model behind an OpenAI-compatible interface (`POST /chat/completions`). */
export function createLanguageModel({
  settings,
  outgoing,
  log,
  timeoutMs = 60_000,
  retryMs = 500,
}: LanguageModelDependencies) {
  const semaphore = createSemaphore(atOnce, waiting)
  const { url, name, key } = settings

  const isPassing = (error: unknown) =>
    error instanceof OutgoingError &&
    (error.fault === 'unreachable' || (error.fault === 'status' && passing.has(error.status ?? 0)))

  async function ask(body: string, signal: AbortSignal | undefined): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await outgoing.askJson(`${url}/chat/completions`, body, {
          ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
          limitBytes: maxAnswerBytes,
          timeoutMs,
          ...(signal ? { signal } : {}),
        })
      } catch (error) {
        signal?.throwIfAborted()
        if (attempt === attempts || !isPassing(error)) throw error
        await wait(retryMs * 2 ** (attempt - 1), undefined, signal ? { signal } : {})
      }
    }
  }

  return {
    /**
     * The model's answer to a conversation. It is a text of unknown worth: who asks validates it.
     * @throws {LanguageModelError} when there is none in time, or it is no answer of such an interface
     */
    async complete(messages: readonly Message[], signal?: AbortSignal): Promise<string> {
      const body = JSON.stringify({
        model: name,
        messages,
        temperature: 0,
        max_tokens: maxTokens,
        stream: false,
      })
      try {
        const release = await semaphore.acquire(signal ? { signal } : {})
        try {
          return contentOf(await ask(body, signal))
        } finally {
          release()
        }
      } catch (error) {
        signal?.throwIfAborted()
        const reason = error instanceof OutgoingError ? error.message : 'its answer cannot be read'
        log.warn({ reason }, 'the language model gave no answer')
        throw error instanceof LanguageModelError ? error : new LanguageModelError(reason)
      }
    },
  }
}

function contentOf(text: string): string {
  const answer = parsed(text)
  if (!isAnswer.Check(answer)) throw new LanguageModelError('its answer has not the form of the interface')
  return answer.choices[0]?.message.content ?? ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON document of an answer, which some models put into a fenced block; undefined when it is none. */
export function jsonOf(content: string): unknown {
  const from = content.indexOf('{')
  const to = content.lastIndexOf('}')
  return from < 0 || to < from ? undefined : parsed(content.slice(from, to + 1))
}
