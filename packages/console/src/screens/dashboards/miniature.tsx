import type { Place } from '../../tiles/tile.ts'

/** The grid of a dashboard, small. */
export function Miniature({
  tiles,
  className,
}: {
  readonly tiles: readonly Place[]
  readonly className?: string
}) {
  const rows = Math.max(8, ...tiles.map(({ y, h }) => y + h))
  return (
    <svg
      viewBox={`0 0 12 ${Math.min(rows, 12)}`}
      className={className}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {tiles.map(({ id, x, y, w, h }) => (
        <rect
          key={id}
          x={x + 0.2}
          y={y + 0.2}
          width={w - 0.4}
          height={h - 0.4}
          rx={0.3}
          fill="currentColor"
          opacity={h > 2 ? 0.22 : 0.45}
        />
      ))}
    </svg>
  )
}
