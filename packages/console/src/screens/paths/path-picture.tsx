import { sankey, sankeyLinkHorizontal } from 'd3-sankey'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { seriesVariable } from '../../charts/colours.ts'
import { formatMeasure } from '../../data/format.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Menu } from '../../ui/menu.tsx'
import type { PathGraph, PathLink, PathNode } from './path-graph.ts'
import styles from './path-picture.module.css'
import { words } from './texts.ts'

const labelWidth = 128
const nodeWidth = 10
const minColumn = 150
const gap = 20
const edge = 10

function layoutOf(graph: PathGraph, width: number, height: number) {
  const rank = ({ kind }: PathNode) => (kind === 'end' ? 2 : kind === 'rest' ? 1 : 0)
  const layout = sankey<PathNode, PathLink>()
    .nodeId(({ id }) => id)
    .nodeAlign((node) => (node as PathNode).column)
    .nodeSort((a, b) => rank(a) - rank(b) || b.sessions - a.sessions)
    .nodeWidth(nodeWidth)
    .nodePadding(gap)
    .extent([
      [0, edge],
      [width - labelWidth, height - edge],
    ])
  return layout({
    nodes: graph.nodes.map((each) => ({ ...each })),
    links: graph.links.map((each) => ({ ...each, value: each.sessions })),
  })
}

/** Paths as a stream from column to column; a step says its share when it is pointed at or has the focus. */
export function PathPicture({
  graph,
  onStep,
}: {
  readonly graph: PathGraph
  readonly onStep: (anchor: 'from' | 'to', step: string) => void
}) {
  const t = useTexts(words)
  const language = useLanguage()
  const holder = useRef<HTMLElement>(null)
  const [room, setRoom] = useState(0)
  const [pointed, setActive] = useState<string>()
  // Before it is painted: a picture of another width would move what stands in it.
  useLayoutEffect(() => {
    if (!holder.current) return
    setRoom(holder.current.getBoundingClientRect().width)
    const observer = new ResizeObserver(([entry]) => entry && setRoom(entry.contentRect.width))
    observer.observe(holder.current)
    return () => observer.disconnect()
  }, [])
  const inColumn = Math.max(
    ...Array.from(
      { length: graph.columns },
      (_, i) => graph.nodes.filter(({ column }) => column === i).length,
    ),
  )
  const width = Math.max(room, graph.columns * minColumn)
  const height = Math.max(300, inColumn * 48)
  const { nodes, links } = useMemo(() => layoutOf(graph, width, height), [graph, width, height])
  const draw = sankeyLinkHorizontal()
  const nameOf = ({ kind, name }: PathNode) => (kind === 'step' ? name : t.kinds[kind])
  const count = (sessions: number) => formatMeasure(language, 'integer', sessions)
  const share = (sessions: number, of: number) =>
    formatMeasure(language, 'ratio', of === 0 ? null : sessions / of)
  // A step that had the focus may be gone from the next picture.
  const shown = nodes.find(({ id }) => id === pointed)
  const active = shown?.id
  return (
    <>
      <p className={styles.said} aria-live="polite" data-quiet={shown === undefined}>
        {shown
          ? t.share(nameOf(shown), count(shown.sessions), share(shown.sessions, graph.sessions))
          : t.pointAt(count(graph.sessions))}
      </p>
      <section ref={holder} className={styles.scroll} aria-label={t.title}>
        <div className={styles.picture} style={{ width, height }}>
          <svg width={width} height={height} aria-hidden="true">
            {links.map((link) => {
              const [source, target] = [link.source as PathNode, link.target as PathNode]
              const isActive = active !== undefined && (source.id === active || target.id === active)
              return (
                <path
                  key={`${source.id}>${target.id}`}
                  d={draw(link) ?? ''}
                  strokeWidth={Math.max(1, link.width ?? 0)}
                  className={styles.link}
                  data-active={isActive}
                  data-faded={active !== undefined && !isActive}
                  data-kind={target.kind}
                  style={{ stroke: colourOf(source) }}
                >
                  <title>
                    {`${nameOf(source)} → ${nameOf(target)}\n${t.sessionsOf(count(link.sessions), share(link.sessions, source.sessions))}`}
                  </title>
                </path>
              )
            })}
          </svg>
          {nodes.map((node) => {
            const { id, kind, name, sessions, x0 = 0, y0 = 0, y1 = 0 } = node
            const button = (
              <AriaButton
                className={styles.node ?? ''}
                style={{ left: x0, top: y0, height: Math.max(2, y1 - y0), width: nodeWidth + labelWidth }}
                aria-label={t.stepOf(nameOf(node), count(sessions), share(sessions, graph.sessions))}
                onHoverStart={() => setActive(id)}
                onHoverEnd={() => setActive(undefined)}
                onFocus={() => setActive(id)}
                onBlur={() => setActive(undefined)}
              >
                <span
                  className={styles.block}
                  data-kind={kind}
                  style={kind === 'step' || kind === 'start' ? { background: colourOf(node) } : {}}
                />
                <span className={styles.label} data-tall={y1 - y0 > 36}>
                  <span className={styles.name} dir="auto" title={nameOf(node)}>
                    {nameOf(node)}
                  </span>{' '}
                  <span className={styles.count}>{count(sessions)}</span>
                </span>
              </AriaButton>
            )
            if (kind !== 'step') return <span key={id}>{button}</span>
            return (
              <Menu
                key={id}
                label={name}
                trigger={button}
                entries={[
                  { id: 'from', label: t.fromHere, icon: 'right', onAction: () => onStep('from', name) },
                  { id: 'to', label: t.toHere, icon: 'left', onAction: () => onStep('to', name) },
                ]}
              />
            )
          })}
        </div>
      </section>
    </>
  )
}

const colourOf = ({ column }: PathNode) => seriesVariable(column % 2 === 0 ? 0 : 5)
