import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { differences, fitsText, lastJson } from './answers.ts'
import type { Block, DocumentPage } from './blocks.ts'
import { openExample } from './browser.ts'
import { type Program, programsOf, requestIn } from './programs.ts'
import {
  type Clone,
  type Outcome,
  runProgram,
  type StartedService,
  startByCommand,
  startSession,
} from './session.ts'

/** What a start prints and a page names as `<company>` and so on. */
export interface Printed {
  readonly company: string
  readonly datasource: string
  readonly client: string
  readonly email: string
  readonly password: string
  readonly token: string
}

export interface PageRun {
  readonly page: DocumentPage
  readonly clone: Clone
  /** The address of the service, which a block `service` starts where nothing is known of it yet. */
  readonly origin: string
  readonly printed?: Printed
  readonly browser?: Browser
  /** Programs that run the languages that need one, by language. */
  readonly interpreters: Readonly<Record<string, string | undefined>>
  /** Reads what a service printed that the page has started itself. */
  readonly readPrinted: (service: StartedService) => Promise<Printed>
}

/** What a test does with the blocks of a page, in their order; resolves with what went wrong, a text each. */
export async function runPage(run: PageRun): Promise<string[]> {
  const { page, clone } = run
  const programs = programsOf(page)
  let { printed } = run
  let service: StartedService | undefined
  let output = ''
  const variables = printed
    ? Object.fromEntries(Object.entries(printed).map(([name, value]) => [name.toUpperCase(), value]))
    : {}
  const session = startSession(clone, variables)

  const filled = (code: string): string =>
    code.replaceAll(
      /<(company|datasource|client|email|password|token)>/g,
      (placeholder, name: keyof Printed) => (printed ? printed[name] : placeholder),
    )

  async function runFile(command: string, name: string, code: string): Promise<Outcome> {
    writeFileSync(join(clone.path, name), filled(code))
    return runProgram(clone, [command, name], await session.environment())
  }

  async function send(code: string): Promise<Outcome> {
    const { url, headers, body } = requestIn(filled(code))
    const reply = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body !== undefined && { body }),
    })
    const text = await reply.text()
    return reply.status < 400 ? { output: text } : { output: text, fault: `${reply.status} ${text}\n${body}` }
  }

  async function execute({ language, words, code, number }: Block): Promise<Outcome> {
    switch (language) {
      case 'sh': {
        if (!words.includes('service'))
          return session.run(filled(code), { refused: words.includes('refused') })
        service = await startByCommand(clone, code, Number(new URL(run.origin).port))
        printed = await run.readPrinted(service)
        return { output: service.banner }
      }
      case 'ts':
      case 'js': {
        const program = programs.find(({ last }) => last === number)
        return program ? runFile(process.execPath, fileOf(program), program.code) : { output: '' }
      }
      case 'python':
      case 'php': {
        const interpreter = run.interpreters[language]
        return interpreter ? runFile(interpreter, `program-${number}.${language}`, code) : { output: '' }
      }
      case 'html': {
        if (!run.browser) return { output: '' }
        const [fault] = await openExample(run.browser, filled(code), run.origin)
        return { output: '', ...(fault !== undefined && { fault }) }
      }
      case 'kotlin':
      case 'swift':
      case 'dart':
        return send(code)
      default:
        return { output: '' }
    }
  }

  /** How long events take to be in the statistics depends on the machine: a block that sleeps first may come again. */
  async function repeat(question: Block | undefined, answer: Block): Promise<void> {
    for (
      let times = 0;
      times < 20 && question?.code.startsWith('sleep ') && compare(answer, output).length > 0;
      times++
    )
      output = (await execute(question)).output
  }

  const faults: string[] = []
  let former: Block | undefined
  try {
    for (const block of page.blocks) {
      if (block.reason !== undefined) continue
      const title = `${page.name}, block ${block.number} (${[block.language, ...block.words].join(' ')}), ${block.code.split('\n', 1)[0]}`
      if (block.words.includes('opened') && !run.browser) continue
      if (block.words.includes('answer')) {
        await repeat(former, block)
        faults.push(...compare(block, output).map((fault) => `${title}: ${fault}\nprinted: ${output}`))
        continue
      }
      const outcome = await execute(block)
      output = outcome.output
      former = block
      if (outcome.fault === undefined) continue
      faults.push(`${title}: ${outcome.fault}`)
      break
    }
  } finally {
    session.end()
    await service?.stop()
  }
  return faults
}

export function fileOf({ language, last }: Program): string {
  return `program-${last}.${language === 'ts' ? 'ts' : 'mjs'}`
}

function compare({ language, words, code }: Block, output: string): string[] {
  if (language === 'json') return differences(JSON.parse(code), lastJson(output), words.includes('same'))
  return fitsText(code.trim(), output.trim()) ? [] : ['something else was printed']
}
