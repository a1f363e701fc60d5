import { type Asked, askedText } from '../../data/result.ts'
import { useMeta } from '../../data/statistics.ts'
import { analysis } from '../../texts/analysis.ts'
import { useTexts } from '../../texts/texts.ts'
import { words } from '../../tiles/texts.ts'
import type { Tile } from '../../tiles/tile.ts'

/** What a tile is called: its title, else one made of its content. */
export function useTileName(): (tile: Tile) => string {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const meta = useMeta().data
  return ({ title, kind, query, exploration }) => {
    if (title) return title
    switch (kind) {
      case 'query':
        return askedText((query ?? {}) as Partial<Asked>, meta, say)
      case 'exploration':
        return t.explorations[exploration ?? 'funnel']
      case 'experiment':
        return t.experiment
      case 'text':
        return t.text
    }
  }
}
