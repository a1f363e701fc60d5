import { bundledProgram } from './boot/bundle.ts'

// Chooses what runs: the bundle where it is made from the source as it is, the source otherwise.

const bundled = bundledProgram()
if (bundled === undefined) {
  process.stderr.write(
    'Runs from source: packages/server/dist is absent or older (npm run prepare makes it).\n',
  )
}
await import(bundled?.href ?? './boot/command-line.ts')
