/** What the shop of the sample data sells, who comes to it, and where from. */

/** A program that sends, by its user-agent, and how often it is met. */
export const agents = [
  {
    weight: 27,
    isPhone: true,
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  },
  {
    weight: 22,
    isPhone: true,
    userAgent:
      'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
  },
  {
    weight: 5,
    isPhone: true,
    userAgent:
      'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36',
  },
  {
    weight: 21,
    isPhone: false,
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  },
  {
    weight: 7,
    isPhone: false,
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0',
  },
  {
    weight: 9,
    isPhone: false,
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  },
  {
    weight: 5,
    isPhone: false,
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  },
  {
    weight: 4,
    isPhone: false,
    userAgent:
      'Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1',
  },
] as const

/** The first crawler that finds a new shop. */
export const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

/** Countries by an address of a large network there, of which the collector keeps the country alone. */
export const places = [
  { weight: 34, address: '90.0.0.1' },
  { weight: 20, address: '84.128.0.1' },
  { weight: 11, address: '81.128.0.1' },
  { weight: 9, address: '24.0.0.1' },
  { weight: 7, address: '79.0.0.1' },
  { weight: 6, address: '80.24.0.1' },
  { weight: 5, address: '81.240.0.1' },
  { weight: 4, address: '85.0.0.1' },
  { weight: 3, address: '84.24.0.1' },
  { weight: 1, address: '126.0.0.1' },
] as const

/** Where a session comes from: the page before, and what the link adds to the address. */
export interface Origin {
  readonly weight: number
  readonly referrer?: string
  readonly tags?: string
}

const utm = (source: string, medium: string, campaign?: string): string =>
  `utm_source=${source}&utm_medium=${medium}${campaign === undefined ? '' : `&utm_campaign=${campaign}`}`

/** Of a first session. */
export const firstOrigins: readonly Origin[] = [
  { weight: 33, referrer: 'https://www.google.com/' },
  { weight: 5, referrer: 'https://www.bing.com/' },
  { weight: 4, referrer: 'https://duckduckgo.com/' },
  { weight: 12 },
  { weight: 14, referrer: 'https://www.google.com/', tags: utm('google', 'cpc', 'brand') },
  { weight: 10, referrer: 'https://www.instagram.com/' },
  { weight: 5, referrer: 'https://l.facebook.com/' },
  { weight: 4, referrer: 'https://www.youtube.com/' },
  { weight: 6, referrer: 'https://trailnotes.example/ten-huts-for-autumn' },
  { weight: 3, referrer: 'https://weekend-outside.example/' },
]

/** Of a person who was here before. */
export const laterOrigins: readonly Origin[] = [
  { weight: 46 },
  { weight: 24, referrer: 'https://www.google.com/' },
  { weight: 22, tags: utm('newsletter', 'email', 'weekly') },
  { weight: 5, referrer: 'https://www.instagram.com/' },
  { weight: 3, referrer: 'https://duckduckgo.com/' },
]

/** Of the days of the campaign. */
export const campaignOrigins: readonly Origin[] = [
  { weight: 50, referrer: 'https://www.google.com/', tags: utm('google', 'cpc', 'season_sale') },
  { weight: 30, tags: utm('newsletter', 'email', 'season_sale') },
  {
    weight: 20,
    referrer: 'https://www.instagram.com/',
    tags: utm('instagram', 'paid_social', 'season_sale'),
  },
]

/** Days before the end on which the campaign runs, and how many sessions it brings beside the others. */
export const campaign = { from: 16, to: 10, extra: 0.55 } as const

export interface Product {
  readonly weight: number
  readonly sku: string
  readonly path: string
  readonly category: string
  readonly price: number
}

const catalogue: Readonly<Record<string, readonly (readonly [name: string, price: number])[]>> = {
  tents: [
    ['aurora-2', 249],
    ['aurora-3', 319],
    ['ridge-1', 189],
    ['basecamp-4', 449],
    ['tarp-light', 79],
  ],
  boots: [
    ['granite-mid', 159],
    ['granite-low', 129],
    ['fjord', 179],
    ['marsh', 99],
    ['trail-runner', 119],
    ['hut-slipper', 39],
  ],
  jackets: [
    ['drizzle', 139],
    ['storm', 259],
    ['down-light', 199],
    ['windbreaker', 89],
    ['fleece', 69],
  ],
  backpacks: [
    ['day-20', 79],
    ['tour-40', 149],
    ['expedition-65', 219],
    ['city-16', 69],
  ],
  kitchen: [
    ['stove-one', 59],
    ['pot-set', 45],
    ['bottle', 24.9],
    ['mug', 14.9],
    ['cutlery', 9.9],
  ],
  sleeping: [
    ['mat-light', 89],
    ['mat-warm', 129],
    ['bag-0', 179],
    ['bag-10', 139],
    ['pillow', 29.9],
  ],
}

export const categories = Object.keys(catalogue)

/** What is cheap and what stands first is looked at more often. */
export const products: readonly Product[] = Object.entries(catalogue).flatMap(([category, items], row) =>
  items.map(([name, price], place) => ({
    weight: 10 / (1 + place) / (1 + row / 4),
    sku: `${category.slice(0, 2).toUpperCase()}-${name}`,
    path: `/${category}/${name}`,
    category,
    price,
  })),
)

export const reading = [
  '/journal/first-night-outside',
  '/journal/care-for-boots',
  '/delivery',
  '/about',
] as const
export const searches = ['rain jacket', 'tent 2 persons', 'warm sleeping bag', 'boots wide', 'stove'] as const

/** Sessions of a day beside those of others, from Sunday. */
export const weekdays = [1.18, 1.02, 0.95, 0.92, 0.94, 0.9, 1.12] as const
/** Of an hour of the day, UTC. */
export const hours = [
  3, 2, 1, 1, 1, 2, 4, 7, 10, 12, 13, 14, 15, 14, 13, 13, 14, 16, 19, 22, 22, 18, 12, 6,
] as const
