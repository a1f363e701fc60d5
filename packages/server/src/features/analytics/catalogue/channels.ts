/** The words of a text. */
const listed = (text: string): string[] => text.trim().split(/\s+/)

/**
 * Where visitors come from, by the host of the referrer (docs/statistics.md, sessions). Our own compilation. A name
 * stands for that host, with or without `www.`; with a dot in front for its subdomains too; `.*` at its end for any
 * country's suffix, as `google.de` and `google.co.uk`. Names of Android applications are hosts of their referrers.
 */
const search = listed(`
  .aol.com .ask.com .baidu.com .bing.com .brave.com .coccoc.com .duckduckgo.com .ecosia.org .kagi.com
  .lilo.org .metager.de .metager.org .mojeek.com .naver.com .presearch.com .qwant.com
  .search.yahoo.co.jp .search.yahoo.com .seznam.cz .sogou.com .so.com .startpage.com .swisscows.com
  .yandex.* .you.com google.* images.google.* yahoo.* com.google.android.googlequicksearchbox`)

const social = listed(`
  .bsky.app .discord.com .facebook.com .fb.me .instagram.com .line.me .linkedin.com .lnkd.in
  .mastodon.online .mastodon.social .messenger.com .ok.ru .pin.it .pinterest.* .quora.com .reddit.com
  .snapchat.com .t.co .t.me .telegram.org .threads.com .threads.net .tiktok.com .tumblr.com .twitter.com
  .vk.com .weibo.com .whatsapp.com .x.com .xing.com .youtu.be .youtube.com news.ycombinator.com
  com.facebook.katana com.instagram.android com.linkedin.android com.pinterest com.reddit.frontpage
  com.twitter.android org.telegram.messenger`)

const mail = listed(`
  .mail.ru .mail.yahoo.com .mail.yahoo.co.jp .outlook.com .outlook.live.com .outlook.office.com
  .outlook.office365.com .proton.me mail.aol.com mail.google.com mail.proton.me mail.yandex.*
  mail.zoho.com webmail.free.fr com.google.android.gm com.microsoft.office.outlook`)

/** Values of `utm_medium` that mean mail, in lower case. */
const mailMedia = ['email', 'e-mail', 'e_mail', 'mail', 'newsletter']

export const channels = ['direct', 'search', 'social', 'mail', 'campaign', 'referral'] as const
type Channel = (typeof channels)[number]

/** A regular expression for hosts; `[.]` is a dot that needs no escape in any language. */
function patternOf(names: readonly string[]): string {
  const one = (name: string) => {
    const suffix = name.endsWith('.*') ? '[.](?:co[.]|com[.])?[a-z]{2,3}' : ''
    const plain = name.replace(/^\./, '').replace(/\.\*$/, '').replaceAll('.', '[.]')
    return `${name.startsWith('.') ? '(?:.*[.])?' : '(?:www[.])?'}${plain}${suffix}`
  }
  return `^(?:${names.map(one).join('|')})$`
}

interface Origin {
  /** SQL of the host of the referrer; empty when absent. */
  readonly referrerHost: string
  /** SQL of UTM fields; null when absent. */
  readonly utmSource: string
  readonly utmMedium: string
  readonly utmCampaign: string
}

/** SQL of the channel: the first rule that holds. */
export function channelSql({ referrerHost, utmSource, utmMedium, utmCampaign }: Origin): string {
  const from = (names: readonly string[]) => `match(${referrerHost}, '${patternOf(names)}')`
  const rules: readonly (readonly [condition: string, channel: Channel])[] = [
    [`ifNull(lower(${utmMedium}) IN (${mailMedia.map((each) => `'${each}'`).join(', ')}), 0)`, 'mail'],
    [[utmSource, utmMedium, utmCampaign].map((each) => `isNotNull(${each})`).join(' OR '), 'campaign'],
    [from(mail), 'mail'],
    [from(search), 'search'],
    [from(social), 'social'],
    [`${referrerHost} != ''`, 'referral'],
  ]
  return `multiIf(${rules.map(([condition, channel]) => `${condition}, '${channel}'`).join(', ')}, 'direct')`
}
