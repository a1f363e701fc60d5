import { expect, test } from 'vitest'
import { faultOfSelector } from './selector.ts'

test.each([
  '#hero',
  'main > .banner[data-zone="top" i] a + b ~ c *',
  'a:not(.x):nth-child(2n + 1), ul li:first-child ',
  'div:has(> img), :is(h1, h2) em',
  '#\\31 23, .caf\u00e9',
  '[id="1x"] [data-a=".5 #1"], li:nth-child(2), [title=\'\\\'#1\'], .a1-2, #--x, :is(a, .b)',
])('takes %s', (selector) => {
  expect(faultOfSelector(selector)).toBeUndefined()
})

test.each([
  ['', 'must be a CSS selector'],
  [' ', 'must be a CSS selector'],
  ['div {', 'must be a CSS selector'],
  ['a,', 'must be a CSS selector'],
  ['a[', 'Expected name, found the end'],
  ['a[b', 'must be a CSS selector'],
  ['> a', 'must begin with an element'],
  ['a >', 'must end with an element'],
  ['b, a + ', 'must end with an element'],
  [':not(a ~)', 'must end with an element'],
  ['a::before', '::before is none'],
  ['a:contains(x)', ':contains'],
  ['a:eq(1)', ':eq'],
  ['a[b!=c]', 'use :not([b=…])'],
  ['ns|a', 'namespace'],
  ['a || b', 'by spaces'],
  ['a < b', 'by spaces'],
  ['a:nth-child(x)', 'must have a place'],
  ['a:host', ':host'],
  [`${':not('.repeat(6)}a${')'.repeat(6)}`, 'nest deeper'],
  ['<script>alert(1)</script>', 'must'],
  ['javascript:alert(1)', 'must'],
  ['#1x', 'write [id="1x"]'],
  ['main > .5-columns', 'write [class~="5-columns"]'],
  ['#-2', 'begins with a digit'],
  ['a, 2b', 'begins with a digit'],
  [':is(a, #9)', 'write [id="9"]'],
])('refuses "%s"', (selector, says) => {
  expect(faultOfSelector(selector)).toContain(says)
})
