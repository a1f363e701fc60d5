import { LRUCache } from 'lru-cache'

/** Names in a user-agent, in lower case, of what shows mails or fetches their images; the first that is found counts. */
const mailClients = [
  ['googleimageproxy', 'Gmail'],
  ['yahoomailproxy', 'Yahoo Mail'],
  ['yahoomobilemail', 'Yahoo Mail'],
  ['outlook', 'Outlook'],
  ['ms-office', 'Outlook'],
  ['msoffice', 'Outlook'],
  ['microsoft office', 'Outlook'],
  ['thunderbird', 'Thunderbird'],
  ['samsungemail', 'Samsung Email'],
  ['superhuman', 'Superhuman'],
  ['airmail', 'Airmail'],
  ['spark/', 'Spark'],
  ['lotus-notes', 'Notes'],
  ['notes/', 'Notes'],
] as const

/** Apple's privacy proxy names itself with nothing but this. */
const appleProxy = 'mozilla/5.0'

/** What user-agents name, of those that were met last: a service meets the same few thousand again and again. */
const met = new LRUCache<string, string>({ max: 5_000 })

/** The mail program that a user-agent names, or whose images it fetches; empty where it names none. */
export function mailClientOf(userAgent: string | undefined): string {
  if (userAgent === undefined || userAgent.length > 512) return readMailClient(userAgent ?? '')
  const known = met.get(userAgent)
  if (known !== undefined) return known
  const read = readMailClient(userAgent)
  met.set(userAgent, read)
  return read
}

function readMailClient(userAgent: string): string {
  const text = userAgent.slice(0, 512).toLowerCase()
  if (text.trim() === appleProxy) return 'Apple Mail'
  const found = mailClients.find(([token]) => text.includes(token))
  if (found) return found[1]
  // WebKit without the name of a browser is what Apple's own mail program draws with.
  const isBare = text.includes('applewebkit/') && !/safari\/|chrome\/|chromium|crios\/|fxios\//.test(text)
  return isBare && /macintosh|iphone|ipad/.test(text) ? 'Apple Mail' : ''
}
