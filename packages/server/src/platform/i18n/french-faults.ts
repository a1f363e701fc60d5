/** Words of the validator that stand within others. */
const types: Readonly<Record<string, string>> = {
  'a list': 'une liste',
  'true or false': 'true ou false',
  'a whole number': 'un nombre entier',
  'a number': 'un nombre',
  'an object': 'un objet',
  'a text': 'un texte',
}
const units: Readonly<Record<string, string>> = {
  character: 'caractère',
  characters: 'caractères',
  item: 'élément',
  items: 'éléments',
  field: 'champ',
  fields: 'champs',
}

const typesOf = (text: string): string =>
  text
    .split(' or ')
    .map((each) => types[each] ?? each)
    .join(' ou ')
    .replace('true ou false', 'true ou false')

/** A sentence of the validator, and its French; the first that fits is taken. */
const phrases: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^is required; (.*) is not known$/s, (name) => `est obligatoire ; ${name} n’est pas connu`],
  [/^is required$/, () => 'est obligatoire'],
  [/^is not known; did you mean "(.*)"\?$/s, (name) => `n’est pas connu ; vouliez-vous dire « ${name} » ?`],
  [/^is not known; known are (.*)$/s, (names) => `n’est pas connu ; sont connus ${names}`],
  [/^is not known; none is expected here$/, () => 'n’est pas connu ; rien n’est attendu ici'],
  [
    /^(.*)is not supported here; supported are (.*)$/s,
    (what, names) => `${what}n’est pas pris en charge ici ; le sont ${names}`,
  ],
  [
    /^must be one of (.*); did you mean (.*)\?$/s,
    (names, name) => `doit être l’une des valeurs ${names} ; vouliez-vous dire ${name} ?`,
  ],
  [/^must be one of (.*)$/s, (names) => `doit être l’une des valeurs ${names}`],
  [
    /^must be at least (\S+); (?:it is|not) (.*)$/s,
    (limit, given) => `doit être au moins ${limit} ; reçu : ${given}`,
  ],
  [
    /^must be at most (\S+); (?:it is|not) (.*)$/s,
    (limit, given) => `doit être au plus ${limit} ; reçu : ${given}`,
  ],
  [
    /^must have at (least|most) (\d+) (\w+); it has (\d+)$/,
    (bound, limit, unit, size) =>
      `doit avoir au ${bound === 'least' ? 'moins' : 'plus'} ${limit} ${units[unit] ?? unit} ; il y en a ${size}`,
  ],
  [/^must not be empty$/, () => 'ne doit pas être vide'],
  [
    /^must have no duplicates; items (\d+) and (\d+) are the same$/,
    (a, b) => `ne doit pas avoir de doublons ; les éléments ${a} et ${b} sont les mêmes`,
  ],
  [/^may be sent once; it is sent (\d+) times$/, (count) => `s’envoie une fois ; reçu ${count} fois`],
  [
    /^must be ((?:a list|true or false|a whole number|a number|an object|a text)(?: or [a-z ]+)?), (?:it is|not) (.*)$/s,
    (type, given) => `doit être ${typesOf(type)} ; reçu : ${given}`,
  ],
  [/^is not valid$/, () => 'n’est pas valable'],
]

/** What is wrong with a field, in French where the validator said it; other sentences stay as they are. */
export function frenchFault(message: string): string {
  for (const [pattern, write] of phrases) {
    const [whole, ...parts] = pattern.exec(message) ?? []
    if (whole !== undefined) return write(...parts)
  }
  return message
}
