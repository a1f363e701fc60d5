import type { Credit, Interaction } from './statistics-oracle-credits.ts'

/** What definitions say in a test, by identifiers. */
export interface Named {
  readonly workflows: Readonly<Record<string, { readonly name: string; readonly teams: readonly string[] }>>
  readonly categories: Readonly<Record<string, { readonly name: string; readonly parent?: string }>>
  readonly tagKeys: Readonly<
    Record<string, { readonly isMultiple: boolean; readonly values: Readonly<Record<string, string>> }>
  >
}

type Cell = string | boolean | null

const labelled: Readonly<Record<string, string>> = {
  'workflows.version': 'versionId',
  'workflows.branch': 'branchId',
  'workflows.entrypoint': 'entrypointId',
  'workflows.zone': 'zone',
  'workflows.zoneType': 'zoneType',
  'workflows.message': 'message',
  'workflows.language': 'language',
  'workflows.returnCode': 'returnCode',
  'workflows.mailClient': 'mailClient',
  'workflows.utmSource': 'parameter.utm_source',
}

/** The value of a dimension, which knows nothing of how the service finds it. */
export function cellOf({ person, identified, workflow, texts }: Interaction, id: string, named: Named): Cell {
  const label = (key: string) => texts.get(`label.${key}`) || null
  const key = labelled[id]
  if (key !== undefined) return label(key)
  if (id.startsWith('workflows.parameter.')) {
    return texts.get(`label.${id.slice('workflows.'.length)}`) ?? null
  }
  if (id.startsWith('tags.')) {
    const { isMultiple, values } = named.tagKeys[id.slice('tags.'.length)] ?? {
      isMultiple: false,
      values: {},
    }
    const present = (label('tagValueIds') ?? '').split(/[^0-9a-f]+/).filter((each) => each in values)
    const names = isMultiple
      ? [...new Set(present)].map((each) => values[each] ?? '').sort()
      : present.slice(-1).map((each) => values[each] ?? '')
    return names.length > 0 ? names.join(', ') : null
  }
  const path: string[] = []
  for (let at = label('categoryId'); at !== null && at in named.categories; ) {
    path.unshift(named.categories[at]?.name ?? '')
    at = named.categories[at]?.parent ?? null
  }
  switch (id) {
    case 'workflows.id':
      return workflow
    case 'workflows.name':
      return named.workflows[workflow]?.name ?? workflow
    case 'workflows.team':
      return named.workflows[workflow]?.teams.toSorted().join(', ') || null
    case 'workflows.category':
      return path.at(-1) ?? label('categoryId')
    case 'workflows.categoryLevel1':
    case 'workflows.categoryLevel2':
    case 'workflows.categoryLevel3':
      return path[Number(id.at(-1)) - 1] ?? null
    case 'workflows.isIndividualized':
      return isOwn({ texts })
    case 'workflows.isAnonymous':
      return !identified
    case 'workflows.person':
      return person
    case 'workflows.deviceType':
      return texts.get('deviceType') ?? null
    case 'workflows.time.day':
      return null
    default:
      throw new Error(`the oracle does not know ${id}`)
  }
}

function isOwn({ texts }: Pick<Interaction, 'texts'>): boolean {
  return texts.get('label.individualized') === 'true'
}

/** Where displays close together are one opening. */
function placeOf({ workflow, texts }: Interaction): string {
  const message = texts.get('label.message')
  if (message) return `message ${message}`
  const url = texts.get('url')
  return url ? `page ${url}` : `entrypoint ${workflow} ${texts.get('label.entrypointId') ?? ''}`
}

/** Displays that begin an opening, by walking through those of each person and place. */
export function openingsOf(displays: readonly Interaction[]): Interaction[] {
  const runs = Map.groupBy(displays, (each) => JSON.stringify([each.person, placeOf(each)]))
  return [...runs.values()].flatMap((run) => {
    const ordered = run.toSorted((a, b) => a.time - b.time)
    return ordered.filter(({ time }, i) => i === 0 || time - (ordered[i - 1]?.time ?? Number.NaN) > 30_000)
  })
}

/** What one group of rows holds; openings are those that begin in it. */
export interface Group {
  readonly interactions: readonly Interaction[]
  readonly openings: readonly Interaction[]
  readonly ownOpenings: readonly Interaction[]
  readonly credits: readonly Credit[]
}

const distinct = (all: readonly { person: string }[]) => new Set(all.map(({ person }) => person)).size
const over = (above: number, below: number) => (below === 0 ? null : above / below)

/** Every measure of workflows, and those of credit that they need, by a plain computation. */
export function measuresOf({ interactions, openings, ownOpenings, credits }: Group) {
  const displays = interactions.filter(({ kind }) => kind === 0)
  const clicks = interactions.filter(({ kind }) => kind === 1)
  const [ownDisplays, ownClicks] = [displays.filter(isOwn), clicks.filter(isOwn)]
  const times = displays.flatMap(({ texts }) => {
    const text = texts.get('label.generationMs')
    return text === undefined || text === null || !(Number(text) >= 0) ? [] : [Number(text)]
  })
  const converted = credits.filter(({ secondsFromClick }) => secondsFromClick !== undefined)
  const ownConverted = converted.filter(({ interaction }) => isOwn(interaction))
  const cents = (all: readonly Credit[]) => Number(all.reduce((sum, { value }) => sum + value, 0n)) / 100
  const revenue = cents(credits)
  const ownRevenue = cents(credits.filter(({ interaction }) => isOwn(interaction)))
  const defaults = displays.length - ownDisplays.length
  const uplift = (own: number, all: number) =>
    defaults === 0 ? null : own - ((all - own) / defaults) * ownDisplays.length
  const buyers = distinct(converted.map(({ purchase }) => purchase))
  return {
    'workflows.count': interactions.length,
    'workflows.displays': displays.length,
    'workflows.clicks': clicks.length,
    'workflows.openings': openings.length,
    'workflows.openers': distinct(displays),
    'workflows.clickers': distinct(clicks),
    'workflows.individualizedDisplays': ownDisplays.length,
    'workflows.individualizedOpenings': ownOpenings.length,
    'workflows.individualizedOpeners': distinct(ownDisplays),
    'workflows.individualizedClicks': ownClicks.length,
    'workflows.generationTime': over(
      times.reduce((sum, each) => sum + each, 0),
      times.length,
    ),
    'workflows.openingsPerOpener': over(openings.length, distinct(displays)),
    'workflows.clicksPerClicker': over(clicks.length, distinct(clicks)),
    'workflows.clickToOpenRate': over(clicks.length, openings.length),
    'workflows.clickerToOpenerRate': over(distinct(clicks), distinct(displays)),
    'workflows.individualizedDisplayRate': over(ownDisplays.length, displays.length),
    'workflows.individualizedOpenerRate': over(distinct(ownDisplays), distinct(displays)),
    'workflows.conversionRate': over(converted.length, clicks.length),
    'workflows.uniqueConversionRate': over(buyers, distinct(clicks)),
    'workflows.clickUplift': uplift(ownClicks.length, clicks.length),
    'workflows.conversionUplift': uplift(ownConverted.length, converted.length),
    'workflows.revenueUplift': uplift(ownRevenue, revenue),
    'purchases.afterClick': converted.length,
    'purchases.buyersAfterClick': buyers,
    'purchases.individualizedAfterClick': ownConverted.length,
    'purchases.influencedRevenue': revenue,
    'purchases.individualizedInfluencedRevenue': ownRevenue,
  }
}
