import type { GuidedAnalysisName } from '@millrace/contract/resources/report.ts'
import type { Catalogue, Language } from '../../../platform/i18n/language.ts'

/** Grows when the words change. */
export const promptVersion = 1

type Prompts = Readonly<Record<GuidedAnalysisName, string>>

const prompts: Catalogue<Prompts> = {
  en: {
    impact: 'What did personalised content contribute, and what changed?',
    revenue: 'How did revenue develop, and what drove it?',
    engagement: 'How did visits and activity develop, and what drove them?',
    retention: 'Who comes back, and what changed?',
  },
  fr: {
    impact: 'Qu’ont apporté les contenus personnalisés, et qu’est-ce qui a changé ?',
    revenue: 'Comment le chiffre d’affaires a-t-il évolué, et pourquoi ?',
    engagement: 'Comment les visites et l’activité ont-elles évolué, et pourquoi ?',
    retention: 'Qui revient, et qu’est-ce qui a changé ?',
  },
}

/** What a guided analysis looks at, unless a company has set its own text. */
export function defaultPrompt(analysis: GuidedAnalysisName, language: Language) {
  return { templateKey: `reports.${analysis}`, version: promptVersion, text: prompts[language][analysis] }
}
