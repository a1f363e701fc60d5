import { type EventRule, eventRules, type RuleEffect } from '@millrace/contract/events/rules.ts'
import { type Html, html } from './html.ts'
import { renderInlineMarkdown } from './markdown-page.ts'

const effects: Readonly<Record<RuleEffect, string>> = {
  refused: 'The whole request is answered 4xx',
  bot: 'The events are counted as a crawler\u2019s',
  dropped: 'The event is not stored',
  changed: 'The event is stored, with a field altered or left out',
  noted: 'Nothing is done to the event, but the sender probably means something else',
}

/** The rules by which the collector validates events, as the datasource log names them. */
export function rulesSection(): Html {
  const rules = Object.entries<EventRule>(eventRules)
  return html`<article id="rules">
<h3><a href="#rules">Rules of the collector</a></h3>
<p>What the log of a datasource names as <code>rule</code>, and what the sender does about it.</p>
${(Object.keys(effects) as RuleEffect[]).flatMap((effect) => {
  const members = rules.filter(([, rule]) => rule.effect === effect)
  if (members.length === 0) return []
  return [
    html`<h4>${effect}</h4><p class="soft">${effects[effect]}</p>
<table class="fields" aria-label="Rules: ${effect}"><tbody>${members.map(
      ([id, { title, outcome, fix }]) => html`
<tr><th scope="row"><code>${id}</code><span class="type">${title}</span></th><td><p>${renderInlineMarkdown(fix)}</p><p>${renderInlineMarkdown(outcome)}</p></td></tr>`,
    )}</tbody></table>`,
  ]
})}
</article>`
}
