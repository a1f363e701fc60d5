import type { Evidence } from '@millrace/contract/resources/evidence.ts'
import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import type { Language } from '../../../platform/i18n/language.ts'
import type { Phrased, Phrasing } from './phraser.ts'

/** What of a request and of a report the model needs to see. */
interface Request {
  readonly locale: Language
  readonly timezone: string
  readonly signal: AbortSignal
  readonly analysis: { readonly kind: 'guided' | 'plan'; readonly agentTurns?: number }
}
interface Report {
  readonly sections: readonly ReportSection[]
  readonly evidence: readonly Evidence[]
  readonly usage: { readonly agentTurns: number }
}

/**
 * A generator whose reports a language model phrases, and which counts the model's answers, those to the question
 * included.
 * @param phrase undefined where there is no model
 */
export function createPhrasedGenerator<Q extends Request, R extends Report>(
  generator: { generate(request: Q): Promise<R> },
  phrase: ((phrasing: Phrasing) => Promise<Phrased>) | undefined,
): { generate(request: Q): Promise<R> } {
  return {
    async generate(request) {
      const report = await generator.generate(request)
      const { locale, timezone, signal, analysis } = request
      const { sections, evidence, usage } = report
      const phrased = await phrase?.({ sections, evidence, locale, timezone, signal })
      const agentTurns = usage.agentTurns + (analysis.agentTurns ?? 0) + (phrased?.turns ?? 0)
      return {
        ...report,
        ...(phrased ? { sections: phrased.sections } : {}),
        usage: { ...usage, agentTurns },
      }
    },
  }
}
