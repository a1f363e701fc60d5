import { Script } from 'node:vm'

/** Columns of a line up to which the stack of a syntax error marks its place. */
const markedColumns = 1_000

/** `line 3, column 7: `, from the lines that a stack begins with: the number, the line, and a mark below its place. */
function placeIn(stack: string): string {
  const [first = '', , marks = ''] = stack.split('\n', 3)
  const line = /:(\d+)$/.exec(first)?.[1]
  if (line === undefined) return ''
  const column = marks.search(/\^|$/) + 1
  return column > markedColumns
    ? `line ${line}, beyond column ${markedColumns}: `
    : `line ${line}, column ${column}: `
}

/**
 * What keeps a browser from running the code of an integration. It is compiled as the classic script that it is in
 * the page, and never run.
 * @returns what is wrong, with line and column from 1; undefined for a script without a fault
 */
export function faultOfCode(code: string): string | undefined {
  try {
    new Script(code, { filename: 'code' })
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return 'must nest less deeply: it cannot be read'
    if (!(error instanceof SyntaxError)) throw error
    const what = `${placeIn(error.stack ?? '')}${error.message}${adviceFor(code, error.message)}`
    return `must be a script that browsers can run; ${what}`
  }
}

function adviceFor(code: string, message: string): string {
  if (/^\s*<script/i.test(code)) return ' (leave out the element <script> around it)'
  return /\b(import|export|await|module)\b/.test(message)
    ? ' (it runs as a script and not as a module; import() is possible)'
    : ''
}
