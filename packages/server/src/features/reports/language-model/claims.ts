import type { Catalogue, Language } from '../../../platform/i18n/language.ts'
import { countryForms } from '../../questions/countries.ts'
import { dimensionWords, measureWords } from '../../questions/lexicon.ts'
import { formsOfName, wordsOf } from '../../questions/words.ts'

/** Words that say which way something went, or that it is not so. */
const claims: Catalogue<Readonly<Record<'up' | 'down' | 'not' | 'unsure', string>>> = {
  en: {
    up: 'rose rise risen rising increased increase increases grew growth grown higher more above gained gain up most highest largest best exceeded exceeds over peak peaked',
    down: 'fell fall fallen falling decreased decrease decreases dropped drop declined decline lower less below lost loss down least lowest smallest worst fewer under',
    not: "no not never none neither nor without cannot isn't wasn't didn't doesn't hardly nothing",
    unsure: 'may might could possibly perhaps likely unlikely usual unusual significant insignificant',
  },
  fr: {
    up: 'augmente augmentation hausse progresse progression croissance cru superieur superieure plus gagne gain dessus maximum meilleur meilleure pic depasse monte croit',
    down: 'baisse baisser diminue diminution recule recul inferieur inferieure moins perdu perte dessous minimum pire chute descend decroit',
    not: 'ne n pas aucun aucune jamais rien ni sans non',
    unsure:
      'peut pourrait peut-etre probable probablement possible habituel habituelle inhabituel inhabituelle significatif significative',
  },
}

function formsByClaim(language: Language): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(claims[language]).flatMap(([claim, words]) =>
      words.split(' ').flatMap((word) => formsOfName(word).map((form) => [form, claim] as const)),
    ),
  )
}

const formsOf: Catalogue<ReadonlyMap<string, string>> = { en: formsByClaim('en'), fr: formsByClaim('fr') }

/** Words of measures, dimensions and countries, whose order says which figure belongs to which. */
const subjects: ReadonlySet<string> = new Set(
  [...measureWords, ...dimensionWords]
    .flatMap(({ en, fr }) => [...en, ...fr])
    .flatMap(formsOfName)
    .concat(countryForms().flatMap(([forms]) => forms))
    .filter((form) => form.length > 3),
)

/** Nothing that a page or a mail might take for more than text. */
const unwanted = /[<>`*_#|\\{}@[\]]|:\/\/|www\.|javascript:|data:|[\p{C}\p{Zl}\p{Zp}\p{N}]/iu
const placeholder = /⟦(\d{1,3})⟧/g

/** How much longer an answer may be than its text. */
const growth = 2
const allowance = 80

/**
 * Whether an answer makes the claim of the text: the same placeholders in the same order among the same names of
 * measures and dimensions, as many words that say up, down and not, and nothing but plain text around them.
 */
export function isSameClaim(text: string, answer: string, language: Language): boolean {
  if (answer.trim() === '' || answer.length > growth * text.length + allowance) return false
  const outside = answer.replace(placeholder, '')
  if (/[⟦⟧]/.test(outside) || unwanted.test(outside)) return false
  const [before, after] = [outlineOf(text, language), outlineOf(answer, language)]
  return (
    before.sequence.join(' ') === after.sequence.join(' ') &&
    before.claims.toSorted().join(' ') === after.claims.toSorted().join(' ')
  )
}

/** The placeholders and names of a text in their order, and its claims. */
function outlineOf(text: string, language: Language) {
  const sequence: string[] = []
  const found: string[] = []
  const spaced = text.replace(placeholder, ' figure=$1 ')
  for (const { text: word, form } of wordsOf(spaced)) {
    const claim = formsOf[language].get(form)
    if (/^figure=\d+$/.test(word)) sequence.push(word)
    else if (claim !== undefined) found.push(claim)
    else if (subjects.has(form)) sequence.push(form)
  }
  return { sequence, claims: found }
}
