import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const folder = fileURLToPath(new URL('./', import.meta.url))

/** What the client of the SDK takes from the contract, computed here: schemas stay out of the page. */
function contractTable(): Plugin {
  const file = fileURLToPath(new URL('../sdk/src/contract-table.ts', import.meta.url))
  return {
    name: 'contract-table',
    enforce: 'pre',
    async load(id) {
      if (id !== file) return undefined
      const { operationRows, errorNames } = await import(file)
      return `export const operationRows = ${JSON.stringify(operationRows)}
export const errorNames = ${JSON.stringify(errorNames)}`
    },
  }
}

export default defineConfig({
  root: folder,
  base: '/console/',
  plugins: [contractTable(), react()],
  html: { cspNonce: '%NONCE%' },
  // `npm run dev` beside a running service.
  server: { proxy: { '/v2': 'http://127.0.0.1:8080', '/collect': 'http://127.0.0.1:8080' } },
  build: {
    target: 'es2024',
    // A policy without `data:` for scripts and fonts, and files that are cached by their hash.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
  },
})
