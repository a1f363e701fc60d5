/**
 * The crawler that a user-agent names, in lower case; undefined where it names none. A crawler is a program that
 * fetches pages on its own, whose events are not those of users. Programs that send for a server or an app (curl, okhttp,
 * axios, an absent or unknown name) are senders (docs/interface.md, Collector).
 *
 * Works on text only, in time linear in its length: no pattern can be made to backtrack.
 */
export function crawlerNamedIn(userAgent: string): string | undefined {
  const text = userAgent.toLowerCase()
  return botNamedIn(text) ?? crawlerTokens.find((token) => text.includes(token))
}

/** Products of users whose names end in "bot". */
const notBots = ['cubot', 'irobot', 'talkbot']

/** Most crawlers are called `<Name>bot`: Googlebot/2.1, bingbot, GPTBot, AhrefsBot, "compatible; MJ12bot". */
function botNamedIn(text: string): string | undefined {
  for (let at = text.indexOf('bot'); at !== -1; at = text.indexOf('bot', at + 3)) {
    const end = at + 3
    if (isLetter(text.charCodeAt(end)) || notBots.some((name) => text.endsWith(name, end))) continue
    let start = at
    while (end - start < maxNameLength && isNamePart(text.charCodeAt(start - 1))) start--
    return text.slice(start, end)
  }
  return undefined
}

const maxNameLength = 40

function isNamePart(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x5f
}

function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a
}

/** Crawlers, previewers and monitors without "bot" in their name, in lower case. */
const crawlerTokens = [
  // Search and archives
  'spider',
  'crawl',
  'slurp',
  'mediapartners-google',
  'apis-google',
  'feedfetcher',
  'google-read-aloud',
  'google-inspectiontool',
  'google-site-verification',
  'google-safety',
  'googleother',
  'google favicon',
  'google web preview',
  'bingpreview',
  'yandexaccessibility',
  'yandeximages',
  'yandexmetrika',
  'duckduckgo-favicons',
  'ia_archiver',
  'heritrix',
  'nutch',
  'httrack',
  'scrapy',
  'daum/',
  'yeti/',
  'teoma',
  // Models that read the web
  'chatgpt-user',
  'claude-web',
  'claude-user',
  'anthropic-ai',
  'perplexity-user',
  'cohere-ai',
  'meta-externalagent',
  'meta-externalfetcher',
  // Link previews
  'facebookexternalhit',
  'facebookcatalog',
  'embedly',
  'iframely',
  'quora link preview',
  'skypeuripreview',
  'vkshare',
  'slack-imgproxy',
  'outbrain',
  'flipboardproxy',
  'nuzzel',
  'w3c_validator',
  'validator.nu',
  // Audits, monitors, robots that drive a browser
  'headlesschrome',
  'phantomjs',
  'slimerjs',
  'lighthouse',
  'pagespeed',
  'gtmetrix',
  'ptst/',
  'pingdom',
  'statuscake',
  'site24x7',
  'newrelicpinger',
  'datadogsynthetics',
  'checkly',
  'catchpoint',
  'screaming frog',
  'sitebulb',
  'prerender',
  'rendertron',
  'seolyt',
  'netcraft',
  'censysinspect',
  'expanse, a palo alto',
  'zgrab',
  'masscan',
] as const
