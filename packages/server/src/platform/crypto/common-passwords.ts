import { readFileSync } from 'node:fs'
import { packageFile } from '../files/package-files.ts'

/**
 * Words of passwords that head the published lists of leaked ones, in lower case: short themselves, and found in
 * longer ones by what users append to them or by writing them twice.
 */
const words = new Set(
  `password passw0rd p@ssword p@ssw0rd passwort motdepasse contraseña wachtwoord iloveyou sunshine princess
  football baseball basketball superman trustno1 whatever computer internet michelle jennifer
  elizabeth alexander victoria danielle jonathan samantha christian nicholas benjamin patricia veronica
  starwars slipknot liverpool barcelona juventus manchester mercedes harley-davidson qwertyui qwertyuiop
  asdfghjk asdfghjkl azertyui azertyuiop qwertzui qazwsxedc 1q2w3e4r 1q2w3e4r5t 1qaz2wsx zaq12wsx q1w2e3r4
  letmein welcome changeme change-me changeit replaceme replace-me default administrator administrateur
  adminadmin rootroot secretsecret temporary testtest username dragon monkey shadow killer qwerty azerty
  abcdefgh abcdefghi 1234qwer 123qwerty qwer1234 asdf1234 zxcv1234 millrace`.split(/\s+/),
)

const listFile = packageFile('data/common-passwords.txt')
let list: string | undefined

/**
 * Of the million most frequent of the "10 Million Passwords" that Mark Burnett gave to the public domain in 2015:
 * those of 12 and more characters, in lower case, one on a line. Searched as one text, which is faster to load than
 * to take apart and fast enough for something that users do once a year.
 */
function isListed(lower: string): boolean {
  list ??= `\n${readFileSync(listFile, 'utf8')}`
  return !lower.includes('\n') && list.includes(`\n${lower}\n`)
}

/** Without the digits and marks that users append. */
const stemOf = (text: string): string => text.replace(/[\d!?.,*#$@_-]+$/, '')

/** The part that a text repeats, or the text itself. */
function unitOf(text: string): string {
  const at = `${text}${text}`.indexOf(text, 1)
  return text.slice(0, at)
}

/** Up to this length something that is repeated is no longer a secret than written once. */
const shortUnit = 7

/** Whether each character follows the one before in the same direction, as 123…, cba…, or is the same. */
function isSequence(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  const steps = codes.slice(1).map((code, i) => {
    const before = codes[i] ?? 0
    const isDigits = [code, before].every((each) => each >= 48 && each <= 57)
    const step = code - before
    // After the nine comes the nought.
    return isDigits && Math.abs(step) === 9 ? -Math.sign(step) : step
  })
  const [first = 0] = steps
  return Math.abs(first) <= 1 && steps.every((step) => step === first)
}

/** Whether a password is one of those that attackers try first. */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase()
  const unit = unitOf(lower)
  const isRepeated = unit.length < lower.length
  return (
    [lower, stemOf(lower), unit, stemOf(unit)].some((each) => words.has(each)) ||
    (isRepeated && unit.length <= shortUnit) ||
    isSequence(lower) ||
    isListed(lower)
  )
}
