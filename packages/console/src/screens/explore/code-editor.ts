import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language'
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint'
import type { EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Meta } from '../../data/format.ts'
import { completionsAt, pathAt, rangeOfPath } from './json-places.ts'

export interface CodeEditor {
  text(): string
  /** Puts another text in its place, unless it is the same. */
  show(text: string): void
  format(): void
  lint(): void
  /** Marks what the interface said of the query, at its places. */
  faults(faults: readonly { readonly path?: string; readonly message: string }[]): void
  destroy(): void
}

interface EditorOptions {
  readonly parent: HTMLElement
  readonly meta: Meta
  readonly text: string
  readonly label: string
  readonly fault: string
  readonly onChange: () => void
  readonly onAsk: () => void
}

const look = EditorView.theme({
  '&': { background: 'var(--surface)', color: 'var(--text)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-code)', minHeight: '320px', maxHeight: '60vh' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderInlineStartColor: 'var(--text)' },
  '.cm-gutters': {
    background: 'var(--surface-sunk)',
    color: 'var(--text-quiet)',
    border: '0',
  },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground, ::selection': {
    background: 'var(--accent-ground) !important',
  },
  '.cm-matchingBracket': { background: 'var(--accent-ground)' },
  '.cm-tooltip': {
    background: 'var(--surface-raised)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-small)',
    color: 'var(--text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--accent-ground)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--text-quiet)', fontStyle: 'normal' },
  '.cm-completionInfo': { maxWidth: '320px', padding: '8px 10px', fontFamily: 'var(--font)' },
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--series-1)' },
  { tag: tags.string, color: 'var(--series-4)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-2)' },
])

/** The nonce of the page: its policy refuses other style elements. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''

function parseFault(state: EditorState, fault: string): Diagnostic[] {
  const text = state.doc.toString()
  try {
    JSON.parse(text)
    return []
  } catch {
    let at: number | undefined
    syntaxTree(state).iterate({
      enter: (node) => {
        if (node.type.isError) at ??= node.from
      },
    })
    const from = Math.min(at ?? text.length, text.length)
    return [{ from, to: Math.min(from + 1, text.length), severity: 'error', message: fault }]
  }
}

function complete(meta: Meta) {
  return (context: CompletionContext): CompletionResult | null => {
    const node = syntaxTree(context.state).resolveInner(context.pos, -1)
    const isInString = node.name === 'String' || node.name === 'PropertyName'
    const word = context.matchBefore(/[\w.]*/)
    if (!isInString && !context.explicit && word?.from === word?.to) return null
    const text = context.state.doc.toString()
    const path = pathAt(text, context.pos)
    const options = completionsAt(path, node.name === 'PropertyName', meta)
    if (options.length === 0) return null
    const from = isInString ? node.from + 1 : (word?.from ?? context.pos)
    const isClosed = isInString && /"$/.test(text.slice(node.from + 1, node.to))
    return {
      from,
      to: isInString ? node.to - (isClosed ? 1 : 0) : context.pos,
      validFor: /^[\w.]*$/,
      options: options.map(
        ({ label, detail, info }): Completion => ({
          label,
          ...(detail === undefined ? {} : { detail }),
          ...(info === undefined ? {} : { info }),
          apply: isInString ? (isClosed ? label : `${label}"`) : JSON.stringify(label),
        }),
      ),
    }
  }
}

/** CodeMirror for one query. */
export function createCodeEditor({
  parent,
  meta,
  text,
  label,
  fault,
  onChange,
  onAsk,
}: EditorOptions): CodeEditor {
  let isTold = false
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.lineWrapping,
      lineNumbers(),
      history(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      json(),
      syntaxHighlighting(colours),
      autocompletion({ override: [complete(meta)], icons: false }),
      lintGutter(),
      linter((current) => parseFault(current.state, fault), { delay: 400 }),
      look,
      keymap.of([
        {
          key: 'Mod-Enter',
          run: () => {
            onAsk()
            return true
          },
        },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !isTold) onChange()
      }),
    ],
  })
  const put = (next: string) => {
    if (view.state.doc.toString() === next) return
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
  }
  return {
    text: () => view.state.doc.toString(),
    show(next) {
      isTold = true
      try {
        // What was typed with other spaces is left as it was typed.
        if (JSON.stringify(JSON.parse(view.state.doc.toString())) === JSON.stringify(JSON.parse(next))) return
        put(next)
      } catch {
        put(next)
      } finally {
        isTold = false
      }
    },
    format() {
      try {
        put(JSON.stringify(JSON.parse(view.state.doc.toString()), null, 2))
      } catch {
        this.lint()
      }
    },
    lint() {
      view.dispatch(setDiagnostics(view.state, parseFault(view.state, fault)))
    },
    faults(faults) {
      const source = view.state.doc.toString()
      const diagnostics = faults.map(({ path = '', message }): Diagnostic => {
        const { from, to } = rangeOfPath(source, path) ?? { from: 0, to: Math.min(1, source.length) }
        return { from, to, severity: 'error', message }
      })
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    destroy: () => view.destroy(),
  }
}
