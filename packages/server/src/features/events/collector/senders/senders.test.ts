import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSenderReader, readSender } from './senders.ts'

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0'

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  `Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)`,
  `Mozilla/5.0 (X11; Linux x86_64) ${chrome.replace('Chrome', 'HeadlessChrome')} Safari/537.36`,
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)',
  'Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 Mobile Safari/537.36 (compatible; Bytespider; x@y)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)',
  'Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)',
  'DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)',
  'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
  'Baiduspider+(+http://www.baidu.com/search/spider.htm)',
  'Mediapartners-Google',
  'SomethingNewBot',
  'a bot',
])('knows the crawler %s', (userAgent) => {
  expect(readSender(userAgent).crawler).toBeDefined()
})

test('tells which crawler it is', () => {
  expect(readSender('Mozilla/5.0 (compatible; Googlebot/2.1)').crawler).toBe('googlebot')
  expect(readSender('Mozilla/5.0 HeadlessChrome/126.0').crawler).toBe('headlesschrome')
  expect(readSender('archive.org_bot').crawler).toBe('org_bot')
})

test.each([
  ['node', 'server'],
  ['undici', 'server'],
  ['axios/1.7.2', 'server'],
  ['curl/8.5.0', 'server'],
  ['python-requests/2.32.3', 'server'],
  ['Go-http-client/2.0', 'server'],
  ['Java/17.0.1', 'server'],
  ['Apache-HttpClient/4.5.14 (Java/17.0.9)', 'server'],
  ['SFDC-Callout/60.0', 'server'],
  ['Salesforce Marketing Cloud', 'server'],
  ['okhttp/4.12.0', 'app'],
  ['Dart/3.5 (dart:io)', 'app'],
  ['Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A)', 'app'],
  ['MyShop/42 CFNetwork/1496.0.7 Darwin/23.5.0', 'app'],
  ['iRobot/5.0 CFNetwork/1333 Darwin/21.5', 'app'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
  ['Abbott/1.0', 'unknown'],
])('takes %s for a sender of type %s', (userAgent, deviceType) => {
  expect(readSender(userAgent)).toMatchObject({ crawler: undefined, deviceType, browser: '' })
})

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 'desktop', 'Windows', 'Chrome'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0', 'desktop', 'Linux', 'Firefox'],
  [
    'Mozilla/5.0 (iPad; CPU OS 16_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.5 Mobile/15E148 Safari/604.1',
    'tablet',
    'iOS',
    'Safari',
  ],
  [
    `Mozilla/5.0 (Linux; Android 12; CUBOT KINGKONG 7) ${chrome} Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome',
  ],
  [`Mozilla/5.0 (Linux; Android 12; CUBOT) ${chrome} Mobile Safari/537.36`, 'mobile', 'Android', 'Chrome'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/468.0.0]',
    'mobile',
    'iOS',
    'Safari',
  ],
])('reads %s', (userAgent, deviceType, os, browser) => {
  expect(readSender(userAgent)).toMatchObject({ crawler: undefined, deviceType, os, browser })
})

test('takes no name from a user-agent that it does not know', () => {
  const invented = fc.stringMatching(/^[A-Z][a-z]{3,12}[0-9]{4}$/)
  fc.assert(
    fc.property(invented, invented, (browser, os) => {
      const sender = readSender(`${browser}/1.0 (${os} 5) x`)
      // An invented word may hold a known one, which is then what is read ("Agsaa" holds "GSA").
      expect([browser, os]).not.toContain(sender.browser)
      expect([browser, os]).not.toContain(sender.os)
    }),
  )
})

test('reads hostile user-agents in linear time', async () => {
  const evil = ['a', '(', '; ', '1', 'bot', ' ', 'Android ', 'Version/', 'like Android ', 'Mozilla/5.0 (']
  for (const part of evil) {
    const text = `Mozilla/5.0 ${part.repeat(20_000)}!`
    await expect(() => readSender(text)).toCostAtMost(20, () => [...text])
  }
})

test('remembers the most recently used', () => {
  const read = createSenderReader(2)
  const first = read('curl/1')
  read('curl/2')
  expect(read('curl/1')).toBe(first)
  read('curl/3')
  expect(read('curl/1')).toBe(first)
  expect(read(undefined)).toMatchObject({ deviceType: 'unknown', crawler: undefined })
  expect(read('curl/1')).toBe(first)
  read('curl/4')
  read('curl/5')
  expect(read('curl/1')).not.toBe(first)
  expect(read('curl/1')).toEqual(first)
})
