import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { until } from '../until.ts'
import { root } from './blocks.ts'

export interface Outcome {
  readonly output: string
  /** What went wrong. */
  readonly fault?: string
}

/** The directory of a newcomer: like a clone, and everything that is made in it is new. */
export interface Clone {
  readonly path: string
  readonly environment: Record<string, string>
  remove(): void
}

/**
 * @param data where the service of the page has its data; without it there is none yet
 */
export function makeClone(data?: string): Clone {
  const path = mkdtempSync(join(tmpdir(), 'millrace-page-'))
  const here = fileURLToPath(root)
  for (const name of readdirSync(here))
    if (name !== 'data' && name !== 'README.md' && !name.startsWith('.'))
      symlinkSync(join(here, name), join(path, name))
  if (data !== undefined) symlinkSync(data, join(path, 'data'))
  const programs = join(path, '.programs')
  mkdirSync(programs)
  const place = (program: string) => execFileSync('which', [program], { encoding: 'utf8' }).trim()
  const install = (program: string, text: string) => {
    writeFileSync(join(programs, program), text)
    chmodSync(join(programs, program), 0o755)
  }
  // A command of a page whose request is refused fails, unless its block expects that.
  install(
    'curl',
    `#!/bin/sh
${place('curl')} --fail-with-body "$@"
code=$?
if [ $code = 22 ] && [ -e '${programs}/refusals' ]; then echo 1 >> '${programs}/refusals'; exit 0; fi
exit $code
`,
  )
  // The packages are there: installing them anew would replace those of this run.
  install('npm', `#!/bin/sh\nif [ "$1" = ci ]; then exit 0; fi\nexec ${place('npm')} "$@"\n`)
  return {
    path,
    environment: { PATH: `${programs}:${join(here, 'node_modules/.bin')}:${process.env.PATH}` },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** A bash session in which the commands of a page run one block after the other. */
export function startSession(clone: Clone, variables: Record<string, string>) {
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: clone.path,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...clone.environment, ...variables },
  })
  const lines = createInterface({ input: shell.stdout })
  const ended = once(shell, 'exit')
  shell.stdin.on('error', () => undefined)
  shell.stdin.write('set -euo pipefail\n')
  const refusals = join(clone.path, '.programs/refusals')
  let count = 0

  async function run(code: string, { refused = false } = {}): Promise<Outcome> {
    const file = join(clone.path, '.programs', `block-${++count}`)
    writeFileSync(`${file}.sh`, `${code}\n`)
    if (refused) writeFileSync(refusals, '')
    const finished = Promise.race([once(lines, 'line'), ended.then(() => undefined)])
    shell.stdin.write(`. '${file}.sh' > '${file}.out' 2> '${file}.err' < /dev/null\nprintf 'done\\n'\n`)
    const done = await finished
    const read = (name: string) => (existsSync(name) ? readFileSync(name, 'utf8') : '')
    const output = read(`${file}.out`)
    const met = read(refusals)
    rmSync(refusals, { force: true })
    if (done === undefined) return { output, fault: `a command failed: ${read(`${file}.err`)}${output}` }
    if (refused && met === '') return { output, fault: 'no request of it was refused' }
    return { output }
  }

  return {
    run,
    /** What is exported in it, for programs in other languages. */
    async environment(): Promise<Record<string, string>> {
      const { output } = await run('env -0')
      return Object.fromEntries(
        output.split('\0').flatMap((line) => {
          const at = line.indexOf('=')
          return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : []
        }),
      )
    },
    end() {
      shell.stdin.end()
      shell.kill()
    },
  }
}

/** Runs a program of another language in the directory of the page, with the environment of its session. */
export async function runProgram(
  clone: Clone,
  [command = '', ...parameters]: readonly string[],
  variables: Record<string, string>,
): Promise<Outcome> {
  const child = spawn(command, parameters, {
    cwd: clone.path,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: variables,
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? { output } : { output, fault: `it ended with ${code}: ${errors}${output}` }
}

export interface StartedService {
  readonly origin: string
  /** What it printed when it was ready. */
  readonly banner: string
  stop(): Promise<void>
}

/** Runs the command of a page that starts the service, on this port, and waits until it is ready. */
export async function startByCommand(clone: Clone, code: string, port: number): Promise<StartedService> {
  const child: ChildProcess = spawn('bash', ['-c', code], {
    cwd: clone.path,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, ...clone.environment, MILLRACE_PORT: String(port) },
  })
  const ended = once(child, 'exit')
  let banner = ''
  const origin = `http://127.0.0.1:${port}`
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        banner += text
        if (banner.includes('Try it:')) resolve()
      })
    void ended.then(([status]) => reject(new Error(`the service ended with ${status}: ${banner}`)))
  })
  await until(async () => (await fetch(`${origin}/health/ready`)).status === 200, 50)
  return {
    origin,
    banner,
    async stop() {
      // To the group, as Ctrl-C does.
      process.kill(-(child.pid ?? 0), 'SIGINT')
      await ended
    },
  }
}
