/**
 * Names of a path from the outside in: `products.*` is every entry of `products`, `\.` and `\*` are a dot and a star
 * within a name.
 */
export type Path = readonly PathStep[]

export type PathStep = { readonly name: string } | { readonly every: true }

export function parsePath(text: string): Path {
  const steps: PathStep[] = []
  let name = ''
  let isLiteral = false
  const finish = () => {
    steps.push(name === '*' && !isLiteral ? { every: true } : { name })
    name = ''
    isLiteral = false
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\\' && at + 1 < text.length) {
      name += text[++at]
      isLiteral = true
    } else if (character === '.') finish()
    else name += character
  }
  finish()
  return steps
}

/** One name as it is written in a path. */
export function escapeName(name: string): string {
  return name === '*' ? '\\*' : name.replace(/[\\.]/g, '\\$&')
}

export function isEvery(step: PathStep | undefined): boolean {
  return step !== undefined && 'every' in step
}

/** Whether a step of a path leads to an entry of this name. */
export function leadsTo(step: PathStep | undefined, name: string | undefined): boolean {
  return step !== undefined && ('every' in step || step.name === name)
}
