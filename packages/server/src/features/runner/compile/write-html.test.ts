import { expect, test } from 'vitest'
import { HtmlScanner } from '../../../platform/text/html-places.ts'
import { partsOf } from './placeholders.ts'
import { writeHtml } from './write-html.ts'

function write(template: string, value: string): string {
  const scanner = new HtmlScanner()
  return partsOf(template)
    .map((part) => {
      if (!('text' in part)) return writeHtml(value, scanner.put())
      scanner.read(part.text)
      return part.text
    })
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
  ['<a href="mailto:{{x}}">', 'a@b.c?bcc=d', '<a href="mailto:a%40b.c%3Fbcc%3Dd">'],
  ['<a href="javascript:go(\'{{x}}\')">', "');evil('", '<a href="javascript:go(\'\')">'],
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
