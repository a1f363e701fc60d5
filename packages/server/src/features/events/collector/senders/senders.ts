import Bowser from 'bowser'
import { LRUCache } from 'lru-cache'
import { detachString } from '../detach-string.ts'
import { type Sender, senderText } from '../rows/event-row.ts'
import { crawlerNamedIn } from './crawlers.ts'

/** What a user-agent says about the sender. */
export interface KnownSender extends Sender {
  /** The name of a crawler; undefined for users and programs that send for them. */
  readonly crawler: string | undefined
  /** The sender as keys of a row. */
  readonly text: string
}

/** Longer user-agents are cut: no real one is longer, and patterns run on short texts only. */
const maxUserAgentLength = 512

/** Programs that send for an app on a phone, in lower case. */
const appTokens = [
  'okhttp',
  'dalvik',
  'cfnetwork',
  'dart/',
  'dart:io',
  'alamofire',
  'expo/',
  'react-native',
] as const

/** Programs that send for a server, in lower case. */
const serverTokens = [
  'node',
  'undici',
  'axios',
  'got (',
  'got/',
  'superagent',
  'deno/',
  'bun/',
  'curl/',
  'wget/',
  'libwww',
  'httpie',
  'python',
  'aiohttp',
  'httpx',
  'urllib',
  'go-http-client',
  'go-resty',
  'java/',
  'java-http-client',
  'apache-httpclient',
  'jakarta',
  'spring',
  'ktor',
  'guzzlehttp',
  'php/',
  'symfony',
  'ruby',
  'faraday',
  'reqwest',
  'hyper/',
  'restsharp',
  'dotnet',
  'powershell',
  'postmanruntime',
  'insomnia',
  'salesforce',
  'sfdc',
  'zapier',
  'make/',
  'n8n',
] as const

/**
 * Parses user-agents and caches the `capacity` most recently used: a service sees the same few thousand again and
 * again, and parsing one costs a hundred times a look-up.
 */
export function createSenderReader(capacity = 5000): (userAgent: string | undefined) => KnownSender {
  const known = new LRUCache<string, KnownSender>({ max: capacity })
  let last: KnownSender | undefined
  let lastUserAgent: string | undefined
  return (userAgent) => {
    // Requests of one connection come from one sender.
    if (last !== undefined && userAgent === lastUserAgent) return last
    const text = userAgent ?? ''
    const key = text.length <= maxUserAgentLength ? text : detachString(text.slice(0, maxUserAgentLength))
    let sender = known.get(key)
    if (sender === undefined) {
      sender = readSender(key)
      known.set(key, sender)
    }
    last = sender
    lastUserAgent = userAgent
    return sender
  }
}

/** Reads one user-agent, at most its first 512 characters. */
export function readSender(userAgent: string): KnownSender {
  const text = userAgent.slice(0, maxUserAgentLength)
  const sender = text.trim() === '' ? unknownSender : describe(text)
  return { ...sender, crawler: crawlerNamedIn(text), text: senderText(sender) }
}

const unknownSender: Sender = { deviceType: 'unknown', os: '', browser: '' }

function describe(userAgent: string): Sender {
  const { os, platform, browser } = Bowser.parse(userAgent)
  const program = programOf(userAgent)
  return {
    deviceType: program ?? deviceTypes.find((type) => type === platform.type) ?? 'unknown',
    os: osNames.has(os.name) ? (os.name ?? '') : '',
    // A program has a name and a version too; only what draws pages is a browser.
    browser: program === undefined && browserNames.has(browser.name) ? (browser.name ?? '') : '',
  }
}

const deviceTypes = ['desktop', 'mobile', 'tablet'] as const

// Of an unknown user-agent the parser takes the first word for a name: only known names become values of a
// dimension, or any sender could make millions of them.
const browserNames: ReadonlySet<string | undefined> = new Set(Object.values(Bowser.BROWSER_MAP))
const osNames: ReadonlySet<string | undefined> = new Set(Object.values(Bowser.OS_MAP))

/** Browsers call themselves Mozilla, programs do not; Android's own client does both. */
function programOf(userAgent: string): 'app' | 'server' | undefined {
  const text = userAgent.toLowerCase()
  if (text.startsWith('mozilla/')) return undefined
  if (appTokens.some((token) => text.includes(token))) return 'app'
  if (serverTokens.some((token) => text.includes(token))) return 'server'
  return undefined
}
