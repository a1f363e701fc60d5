/** Domains of public mail services: no company can own one. */
const publicMailDomains: ReadonlySet<string> = new Set(
  `163.com 126.com aol.com bbox.fr bluewin.ch btinternet.com comcast.net duck.com fastmail.com foxmail.com free.fr
  freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.fr gmx.net googlemail.com hey.com hotmail.co.uk hotmail.com
  hotmail.de hotmail.es hotmail.fr hotmail.it icloud.com inbox.com laposte.net libero.it live.co.uk live.com live.fr
  live.nl mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com neuf.fr orange.fr outlook.com outlook.de
  outlook.es outlook.fr pm.me posteo.de proton.me protonmail.com qq.com rediffmail.com rocketmail.com sbcglobal.net
  sfr.fr sina.com sky.com t-online.de tuta.com tutanota.com verizon.net wanadoo.fr web.de yahoo.ca yahoo.co.in
  yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru ymail.com
  zoho.com`
    .split(/\s+/)
    .filter(Boolean),
)

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const pattern = new RegExp(`^(?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`)

/** The domain of an address as `parseEmailAddress` gives it. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

/** A domain in its one form, lower case; undefined when the text is none, or the domain of a public mail service. */
export function parseCompanyDomain(text: string): { domain: string } | { fault: string } {
  const domain = /^[!-~]{1,253}$/.test(text) ? text.toLowerCase() : ''
  if (!pattern.test(domain))
    return { fault: 'must be a domain name in ASCII characters, as example.com (others as xn--…)' }
  if (publicMailDomains.has(domain)) return { fault: 'is a public mail service: it belongs to no company' }
  return { domain }
}
