import type { Meta } from '../../data/format.ts'
import { titleOf } from '../../data/result.ts'
import type { words as tileWords } from '../../tiles/texts.ts'
import type { Tile } from '../../tiles/tile.ts'

/** What a tile is called: its title, else one made of its content. */
export function nameOf(tile: Tile, meta: Meta | undefined, t: (typeof tileWords)['en']): string {
  if (tile.title) return tile.title
  switch (tile.kind) {
    case 'query': {
      const { measures = [], dimensions = [], timeDimensions = [] } = tile.query ?? {}
      const what = [...measures].map((each) => titleOf(meta, each)).join(', ')
      const [dimension] = dimensions
      if (dimension !== undefined) return t.by(what, titleOf(meta, dimension))
      return timeDimensions.some(({ granularity }) => granularity) ? t.byTime(what) : what
    }
    case 'exploration':
      return t.explorations[tile.exploration ?? 'funnel']
    case 'experiment':
      return t.experiment
    case 'text':
      return t.text
  }
}
