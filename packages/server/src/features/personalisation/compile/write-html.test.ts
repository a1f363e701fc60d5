import { expect, test } from 'vitest'
import { inspectHtml, withoutRefused } from '../../../platform/text/html-places.ts'
import { partsOf } from './placeholders.ts'
import { writeHtml } from './write-html.ts'

function write(template: string, value: string, mayLeadTo?: (address: string) => boolean): string {
  const html = withoutRefused(template, inspectHtml(template).refused)
  const places = inspectHtml(html).places.values()
  return partsOf(html)
    .map((part) =>
      'text' in part ? part.text : writeHtml(value, places.next().value?.place ?? 'nowhere', mayLeadTo),
    )
    .join('')
}

test.each([
  ['<p>{{x}}</p>', '<b>&"\'`', '<p>&lt;b&gt;&amp;&quot;&#39;&#96;</p>'],
  ['<p title="{{x}}">', '" onclick="a', '<p title="&quot; onclick=&quot;a">'],
  ["<p title='{{x}}'>", "' onclick='a", "<p title='&#39; onclick=&#39;a'>"],
  ['<p title={{x}}>', 'a onclick=b', '<p title=a&#32;onclick&#61;b>'],
  ['<p title=a{{x}}>', '>x', '<p title=a&#62;x>'],
  ['<a href="{{x}}">', 'https://a.example/?q="x', '<a href="https://a.example/?q=%22x">'],
  ['<a href="{{x}}">', 'javascript:alert(1)', '<a href="">'],
  ['<a href="{{x}}">', ' java\nscript:alert(1)', '<a href="">'],
  ['<a href="{{x}}">', 'data:text/html,x', '<a href="">'],
  ['<a href="{{x}}">', '/relative', '<a href="">'],
  ['<a href="{{x}}">', 'myapp://x', '<a href="myapp://x">'],
  ['<a href="https://a.example/{{x}}?b=1">', '../"&c', '<a href="https://a.example/..%2F%22%26c?b=1">'],
  ['<a href="/p/{{x}}">', 'a/b', '<a href="/p/a%2Fb">'],
  ['<a href="/{{x}}/b">', '', '<a href="/./b">'],
  ['<a href="/{{x}}/b">', '..', '<a href="/./b">'],
  ['<a href="/{{x}}{{x}}/{{x}}">', '', '<a href="/./">'],
  ['<a href="{{x}}/{{x}}/b">', '', '<a href="/./b">'],
  ['<a href="https://a.example/{{x}}/b">', '', '<a href="https://a.example//b">'],
  ['<p style="background:url(/{{x}}/b)">', '', '<p style="background:url(/./b)">'],
  ['<p style="background:url(/{{x}}/b)">', "a')", '<p style="background:url(/a%27%29/b)">'],
  ['<a href="mailto:{{x}}">', 'a@b.c?bcc=d', '<a href="mailto:a%40b.c%3Fbcc%3Dd">'],
  ['<a href="javascript:go(\'{{x}}\')">', "');evil('", '<a href="">'],
  ['<a href="java{{x}}">', 'script:alert(1)', '<a href="java">'],
  ['<a href={{x}}>', 'https://a.example/', '<a href=>'],
  ['<img src="{{x}}">', 'http://a.example/i.png', '<img src="http://a.example/i.png">'],
  ['<form action="{{x}}">', 'vbscript:x', '<form action="">'],
  ['<p onclick="go({{x}})">', '1);evil(', '<p onclick="go()">'],
  ['<P OnClick="go({{x}})">', '1);evil(', '<P OnClick="go()">'],
  ['<iframe srcdoc="{{x}}">', '<script>', '<iframe srcdoc="">'],
  ['<script>var a = "{{x}}"</script>{{x}}', '"<', '<script>var a = ""</script>&quot;&lt;'],
  ['<SCRIPT>{{x}}</SCRIPT >{{x}}', '<', '<SCRIPT></SCRIPT >&lt;'],
  ['<script><!--<script></script>{{x}}', 'alert(1)', '<script><!--<script></script>'],
  ['<style>p{color:{{x}}}</style>{{x}}', 'red', '<style>p{color:}</style>red'],
  ['<!-- {{x}} -->{{x}}', '-->', '<!--  -->--&gt;'],
  ['<!doctype {{x}}>{{x}}', 'a', '<!doctype >a'],
  ['<{{x}}>', 'script', '<>'],
  ['<p {{x}}="a">', 'onclick', '<p ="a">'],
  ['<p style="color: {{x}}">', '#c00', '<p style="color: #c00">'],
  ['<p style="color: {{x}}">', 'red;background:url(x)', '<p style="color: ">'],
  [
    '<p style="background:url({{x}})">',
    'https://a.example/(1).png',
    '<p style="background:url(https://a.example/%281%29.png)">',
  ],
  ['<p style="background:url(\'{{x}}\')">', 'javascript:x', '<p style="background:url(\'\')">'],
  ['<title>{{x}}</title>', '</title><script>', '<title>&lt;/title&gt;&lt;script&gt;</title>'],
  ['<textarea>{{x}}</textarea>', '</textarea>', '<textarea>&lt;/textarea&gt;</textarea>'],
  ['<title><a b="</title>{{x}}', '<', '<title><a b="</title>&lt;'],
  ['<script src="{{x}}"></script>', 'https://evil.example/x.js', '<script src=""></script>'],
  [
    '<script src="https://a.example/{{x}}.js"></script>',
    'b',
    '<script src="https://a.example/.js"></script>',
  ],
  ['<link rel="stylesheet" href="{{x}}">', 'https://evil.example/x.css', '<link rel="stylesheet" href="">'],
  ['<base href="{{x}}">', 'https://evil.example/', '<base href="">'],
  ['<OBJECT data="{{x}}">', 'https://evil.example/', '<OBJECT data="">'],
  ['<embed src="{{x}}">', 'https://evil.example/', '<embed src="">'],
  [
    '<svg><a><animate attributeName="href" to="{{x}}">',
    'javascript:x',
    '<svg><a><animate attributeName="href" to="">',
  ],
  [
    '<svg><set attributeName="href" values="{{x}}">',
    'javascript:x',
    '<svg><set attributeName="href" values="">',
  ],
  ['<svg><title><a href="{{x}}">', 'javascript:x', '<svg><title><a href="">'],
  ['<!--><script>--> {{x}}</script>{{x}}', 'a', '<!--><script>--> </script>a'],
  ['<!---><script>--> {{x}}</script>{{x}}', 'a', '<!---><script>--> </script>a'],
  ['<!--!> {{x}} -->{{x}}', 'a', '<!--!>  -->a'],
  ['<!-- a --!>{{x}}', 'a', '<!-- a --!>a'],
  ['1 < 2 {{x}}', '<b>', '1 < 2 &lt;b&gt;'],
  ['<a title="x" href="{{x}}" alt="{{x}}">', 'javascript:"', '<a title="x" href="" alt="javascript:&quot;">'],
])('%s takes %j', (template, value, written) => {
  expect(write(template, value)).toBe(written)
})

const evil = 'https://evil.example/'
const refusing = (address: string) => address !== evil

test.each([
  ['<a href="{{x}}">', '<a href="">'],
  ["<A HREF=' {{x}}'>", "<A HREF=' '>"],
  ['<img srcset="a.png 1x, {{x}} 2x">', '<img srcset="a.png 1x,  2x">'],
  ['<form action="{{x}}"><button formaction="{{x}}">', '<form action=""><button formaction="">'],
  ['<a ping="https://a.example/ {{x}}">', '<a ping="https://a.example/ ">'],
  ['<iframe src="{{x}}"></iframe>', '<iframe src=""></iframe>'],
  ['<svg><a xlink:href="{{x}}"><math href="{{x}}">', '<svg><a xlink:href=""><math href="">'],
  ['<video poster="{{x}}"><q cite="{{x}}">', '<video poster=""><q cite="">'],
  ['<p style="background: url({{x}})">', '<p style="background: url()">'],
  ['<svg><rect fill="url({{x}})" cursor="{{x}}">', '<svg><rect fill="url()" cursor="">'],
])('%s takes no whole address of a visitor', (template, written) => {
  expect(write(template, evil, refusing)).toBe(written)
})

test.each([
  '<a href="https://{{x}}/">',
  '<a href="https://{{x}}">',
  '<a href="HTTPS:{{x}}">',
  '<a href="https:/{{x}}/">',
  '<a href="https:\\\\{{x}}/">',
  '<a href="//{{x}}/">',
  '<a href="///{{x}}/">',
  '<a href="/\t/{{x}}/">',
  '<a href="\\/{{x}}/">',
  '<a href="https://shop.example{{x}}/">',
  '<a href="https://shop.example@{{x}}/">',
  '<a href="https://user:{{x}}@shop.example/">',
  '<a href="https&colon;&sol;&#x2f;{{x}}/">',
  '<a href="&#x000000000002f;/{{x}}/">',
  '<svg><rect mask="url(//{{x}}/a.svg#m)">',
  '<img srcset="https://a.example/a.png 1x,//{{x}}/b.png 2x">',
  '<a ping="https://a.example/ https://{{x}}/">',
  '<p style="background: url(https://{{x}}/a.png)">',
  '<p style="background: url(\'//{{x}}/a.png\')">',
])('%s takes no host of a value', (template) => {
  expect(inspectHtml(template).refused).toMatchObject([{ fault: expect.stringContaining('name its host') }])
  expect(write(template, 'evil.example')).not.toContain('evil')
})

test.each([
  '<meta http-equiv="refresh" content="0">',
  '<META content="0" HTTP-EQUIV=refresh>',
  "<meta http-equiv='&#82;EFRESH'>",
  '<meta http-equiv="{{x}}">',
  '<noscript><meta http-equiv="refresh"></noscript>',
  '<a href="javascript:alert(1)">',
  '<a href=" &#1;java&Tab;scr\nipt&colon;alert(1)">',
  '<a href="&#x6A&#97;vascript:x">',
  '<a href="&#x0000000000006a;avascript:x">',
  '<a href="&#000000000000106avascript:x">',
  '<svg><rect filter="url(javascript:x)">',
  '<a href=JaVaScRiPt:x>',
  '<a href="java{{x}}script:x">',
  '<a href="vbscript:x">',
  '<a href="data:text/html,x">',
  '<iframe src="data:image/png;base64,x">',
  '<iframe srcdoc="&lt;a href=&quot;javascript:x&quot;&gt;">',
  '<object data="data:text/html,x">',
  '<script src="data:text/javascript,x"></script>',
  '<svg><use xlink:href="data:image/svg+xml,x">',
  '<svg><animate attributeName="href" values="#a;javascript:x">',
  '<svg><style><a href="javascript:x"></style>',
  '<math><mtext href="javascript:x">',
  '<p style="background: url( javascript:x)">',
  '<form action="javascript:x">',
  '<input formaction=javascript:x>',
])('W16: %s is not shown as it is', (html) => {
  const { refused } = inspectHtml(html)
  expect(refused).toHaveLength(1)
  const safe = withoutRefused(html, refused)
  expect(safe).not.toMatch(/refresh|script:|data:|\{\{/i)
  expect(inspectHtml(safe).refused).toEqual([])
})

test.each([
  '<img src="data:image/png;base64,iVBORw0KGgo=">',
  '<img srcset="data:image/png;base64,iVBO 1x, b.png 2x">',
  '<p style="background: url(data:image/gif;base64,R0lG)">',
  '<a href="myapp://x">',
  '<a href="#top">',
  '<a href="mailto:a@example.com">',
  '<meta http-equiv="content-type" content="text/html">',
  '<p title="javascript:x">javascript:x</p>',
  '<!-- <a href="javascript:x"> -->',
  '<script>const a = \'<a href="javascript:x">\'</script>',
])('%s is shown as it is', (html) => {
  expect(inspectHtml(html).refused).toEqual([])
})

test('what a document refuses is found in time in proportion to its length', async () => {
  const document = (size: number) =>
    '<a href="//{{x}}{{x}} {{x}}" style="{{x}} url({{x}}{{x}}" title=\''.repeat(size)
  await expect(() => inspectHtml(document(1_600))).toCostAtMost(64, () => inspectHtml(document(100)))
})
