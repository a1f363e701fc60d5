/**
 * The style of the pages that the server writes itself. It is inlined and allowed by its hash, so that the
 * pages need nothing from anywhere else.
 */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #fbfaf7; --panel: #ffffff; --sunk: #f3f1ea; --line: #e2ded2; --ink: #1c2524; --soft: #5a6664;
  --accent: #0b6b6b; --accent-soft: #e0efec;
  --get: #1f5fa8; --post: #1e7040; --patch: #8a5300; --put: #6a3fa0; --delete: #b02a2a;
  --key: #0b6b6b; --text: #8a4b08; --number: #6a3fa0;
  --mono: ui-monospace, SFMono-Regular, "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #111716; --panel: #171f1e; --sunk: #0d1211; --line: #2b3634; --ink: #e4ebe8; --soft: #9baba7;
    --accent: #5cc4ba; --accent-soft: #17322f;
    --get: #7fb2ee; --post: #74cf98; --patch: #e3b35c; --put: #c2a2f0; --delete: #f28b8b;
    --key: #6cc9bf; --text: #e3b37a; --number: #c2a2f0;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif;
}
a { color: var(--accent); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px;
}
h1, h2, h3, h4 { line-height: 1.25; margin: 0; text-wrap: balance; }
p, ul { margin: 0.6rem 0; max-width: 46rem; }
ul { padding-left: 1.2rem; }
code { font-family: var(--mono); font-size: 0.88em; background: var(--sunk); border-radius: 4px; padding: 0.1em 0.3em; overflow-wrap: anywhere; }
pre {
  margin: 0.5rem 0; padding: 0.8rem 1rem; background: var(--sunk); border: 1px solid var(--line);
  border-radius: 8px; overflow-x: auto; font: 0.84rem/1.55 var(--mono); tab-size: 2;
}
pre code { font: inherit; background: none; padding: 0; overflow-wrap: normal; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--panel); padding: 0.5rem 1rem; z-index: 1; }
.soft { color: var(--soft); }
.k { color: var(--key); } .s { color: var(--text); } .n { color: var(--number); }

.shell { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
.contents { padding: 1.2rem 1.2rem 0; }
.contents .brand { display: flex; align-items: baseline; gap: 0.6rem; flex-wrap: wrap; }
.brand a { font-size: 1.25rem; font-weight: 700; color: var(--ink); text-decoration: none; letter-spacing: -0.01em; }
.contents ul { list-style: none; margin: 0; padding: 0; }
.contents > ul { display: flex; flex-wrap: wrap; gap: 0.4rem; margin-top: 0.8rem; }
.contents .tag { display: inline-block; padding: 0.15rem 0.7rem; border: 1px solid var(--line); border-radius: 99px; text-decoration: none; font-size: 0.9rem; background: var(--panel); }
.contents li ul { display: none; }
main { padding: 1.2rem 1.2rem 5rem; min-width: 0; }
@media (min-width: 62rem) {
  .shell { grid-template-columns: 18rem minmax(0, 1fr); }
  .contents { position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto; padding: 1.8rem 0.8rem 3rem 1.2rem; border-right: 1px solid var(--line); font-size: 0.9rem; }
  .contents > ul { display: block; margin-top: 1rem; }
  .contents > ul > li { margin-bottom: 1rem; }
  .contents .tag { border: 0; padding: 0; background: none; font-weight: 600; color: var(--ink); font-size: 0.95rem; }
  .contents li ul { display: block; margin-top: 0.2rem; }
  .contents li li a { display: grid; grid-template-columns: 3.4rem 1fr; align-items: baseline; padding: 0.16rem 0.4rem; margin-left: -0.4rem; border-radius: 6px; color: var(--soft); text-decoration: none; line-height: 1.35; }
  .contents li li a:hover { background: var(--accent-soft); color: var(--ink); }
  main { padding: 2rem 2.5rem 6rem; }
}
.method { font: 700 0.74rem/1 var(--mono); letter-spacing: 0.02em; }
.GET { color: var(--get); } .POST { color: var(--post); } .PATCH { color: var(--patch); }
.PUT { color: var(--put); } .DELETE { color: var(--delete); }

h1 { font-size: 2rem; letter-spacing: -0.02em; }
.group { margin-top: 3.2rem; }
.group > h2 { font-size: 1.5rem; letter-spacing: -0.01em; }
.group > p { margin-top: 0.2rem; color: var(--soft); }
article { background: var(--panel); border: 1px solid var(--line); border-radius: 12px; padding: 1.2rem 1.3rem 1.3rem; margin-top: 1.2rem; }
article:target { border-color: var(--accent); }
article h3 { font-size: 1.15rem; }
article h3 a { color: inherit; text-decoration: none; }
article h3 a:hover { text-decoration: underline; }
.route { display: flex; flex-wrap: wrap; gap: 0.3rem 0.7rem; align-items: baseline; margin-top: 0.35rem; }
.route code { background: none; padding: 0; font-size: 0.95rem; overflow-wrap: anywhere; }
.route .method { font-size: 0.85rem; }
.facts { display: flex; flex-wrap: wrap; gap: 0.35rem; margin: 0.7rem 0 0; padding: 0; list-style: none; font-size: 0.82rem; max-width: none; }
.facts li { background: var(--sunk); border-radius: 99px; padding: 0.1rem 0.7rem; }
.facts .extension { background: var(--accent-soft); }
h4 { font-size: 0.78rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); margin: 1.3rem 0 0.4rem; }
h5 { margin: 0.9rem 0 0.3rem; font-size: 0.9rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
td, th { text-align: left; vertical-align: top; padding: 0.45rem 0.8rem 0.45rem 0; border-top: 1px solid var(--line); font-weight: 400; }
thead th { border-top: 0; font-size: 0.8rem; color: var(--soft); padding-top: 0; }
tbody tr:first-child > * { border-top: 0; }
thead + tbody tr:first-child > * { border-top: 1px solid var(--line); }
.fields th { width: 38%; }
.fields th code { background: none; padding: 0; font-weight: 600; font-size: 0.86rem; }
.type { display: block; font: 0.78rem/1.4 var(--mono); color: var(--soft); overflow-wrap: anywhere; }
.needed { color: var(--delete); font-family: inherit; }
.fields td p { margin: 0; }
.fields td p + p { color: var(--soft); font-size: 0.86rem; }
.failures td:nth-child(-n+2) { width: 5.5rem; font-family: var(--mono); font-size: 0.85rem; white-space: nowrap; }
details { margin-top: 0.5rem; }
summary { cursor: pointer; color: var(--accent); font-size: 0.92rem; }
@media (max-width: 40rem) {
  h1 { font-size: 1.6rem; }
  article { padding: 1rem; border-radius: 10px; }
  .fields tr { display: block; border-top: 1px solid var(--line); padding: 0.45rem 0; }
  .fields tbody tr:first-child { border-top: 0; }
  .fields th, .fields td { display: block; width: auto; border: 0; padding: 0; }
  .failures td:nth-child(-n+2) { width: 3.6rem; }
}

#guides > h2, #reference { font-size: 1.5rem; margin-top: 1.6rem; }
.guide-list { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 0.4rem 2rem; margin: 0.8rem 0 2rem; }
.guide-list h3 { font-size: 0.95rem; margin-top: 0.8rem; }
.guide-list ul { list-style: none; padding: 0; margin: 0.3rem 0; font-size: 0.92rem; line-height: 1.45; }
.guide-list li { margin-bottom: 0.3rem; }
.guide { max-width: 62rem; overflow-wrap: break-word; }
.guide h2 { font-size: 1.4rem; margin: 2.4rem 0 0.6rem; }
.guide h3 { font-size: 1.1rem; margin: 1.7rem 0 0.4rem; }
.guide h2 a, .guide h3 a, .guide h4 a { color: inherit; text-decoration: none; }
.guide h2 a:hover, .guide h3 a:hover, .guide h4 a:hover { text-decoration: underline; }
.guide ol { max-width: 46rem; padding-left: 1.4rem; }
.guide li > p { margin: 0.3rem 0; }
.guide blockquote { margin: 0.8rem 0; padding: 0.1rem 1rem; border-left: 3px solid var(--line); color: var(--soft); }
.wide { overflow-x: auto; margin: 0.8rem 0; }
.wide td, .wide th { min-width: 5rem; }
.wide td:first-child { overflow-wrap: normal; }
.guide img { display: block; width: 100%; height: auto; aspect-ratio: 1180 / 760; border: 1px solid var(--line); border-radius: 8px; }
.to-pages { display: flex; justify-content: space-between; margin: 0 0 1rem; }
.on-page ul { list-style: none; padding: 0; }
.on-page .level-3 { padding-left: 1rem; }
.neighbours { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.contents.pages > ul { display: block; }
.contents.pages > ul > li { margin-bottom: 0.8rem; }
.contents.pages .tag { border: 0; padding: 0; background: none; font-weight: 600; }
.contents.pages li ul { display: block; }
.contents.pages li li a { display: block; padding: 0.16rem 0.4rem; }
.contents.pages li li li a { padding-left: 1.2rem; font-size: 0.92em; }
.contents.pages [aria-current] { color: var(--accent); font-weight: 600; }
@media (min-width: 62rem) {
  .guides .guide { grid-column: 2; grid-row: 1; }
  .guides .contents { grid-column: 1; grid-row: 1; }
  .to-pages, .on-page { display: none; }
}

.welcome { max-width: 46rem; margin: 0 auto; padding: 3rem 1.2rem 4rem; }
.welcome h1 { font-size: 2.4rem; }
.welcome .lead { font-size: 1.1rem; margin-top: 0.4rem; }
.doors { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.7rem; margin: 1.6rem 0 2rem; padding: 0; list-style: none; max-width: none; }
.doors a { display: block; height: 100%; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 0.8rem 1rem; text-decoration: none; color: var(--soft); font-size: 0.9rem; line-height: 1.4; }
.doors a:hover { border-color: var(--accent); }
.doors strong { display: block; color: var(--accent); font-size: 1rem; }
.steps { padding: 0; list-style: none; counter-reset: step; max-width: none; }
.steps > li { counter-increment: step; margin-bottom: 1.1rem; }
.steps h2 { font-size: 1rem; }
.steps h2::before { content: counter(step) ". "; color: var(--soft); }

.sign-in { display: grid; place-items: center; min-height: 100vh; min-height: 100dvh; padding: 1.5rem 1rem 4rem; }
.sign-in > div { width: 100%; max-width: 25rem; }
.card { padding: 2rem; background: var(--panel); border: 1px solid var(--line); border-radius: 16px; box-shadow: 0 1px 2px rgb(0 0 0 / 4%), 0 12px 32px rgb(0 0 0 / 5%); }
.card .mark { display: flex; align-items: center; gap: 0.55rem; margin: 0 0 1.6rem; font-weight: 700; letter-spacing: -0.01em; }
.card .mark svg { width: 1.6rem; height: 1.6rem; color: var(--accent); }
.card h1 { font-size: 1.5rem; }
.card .lead { margin: 0.4rem 0 0; color: var(--soft); }
.card form { margin-top: 1.4rem; }
.card label { display: block; margin: 0 0 0.35rem; font-weight: 600; font-size: 0.92rem; }
.card input:not([type=hidden]) { width: 100%; min-height: 2.9rem; padding: 0.6rem 0.8rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 10px; }
.card input:focus-visible, .card button:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.card input[readonly] { color: var(--soft); }
.card .hint { margin: 0.35rem 0 0; font-size: 0.85rem; color: var(--soft); }
.card .field + .field { margin-top: 1rem; }
.card button { width: 100%; min-height: 2.9rem; margin-top: 1.2rem; padding: 0.6rem 1rem; font: inherit; font-weight: 600; color: #ffffff; background: #0b6b6b; border: 1px solid #0b6b6b; border-radius: 10px; cursor: pointer; }
.card button:hover { background: #095858; }
.card button.quiet { margin-top: 0.6rem; color: var(--ink); background: none; border-color: var(--line); }
.card button.quiet:hover { background: var(--sunk); }
.card .as { display: flex; justify-content: space-between; gap: 0.8rem; margin: 1.2rem 0 0; padding: 0.6rem 0.8rem; background: var(--sunk); border-radius: 10px; font-size: 0.92rem; }
.card .as span { overflow: hidden; text-overflow: ellipsis; }
.card .links { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.4rem 1rem; margin: 1.2rem 0 0; font-size: 0.92rem; }
.card .fault { margin: 1.2rem 0 0; padding: 0.6rem 0.8rem; border: 1px solid var(--delete); border-radius: 10px; color: var(--delete); font-size: 0.92rem; }
.card .good { margin: 1.2rem 0 0; padding: 0.6rem 0.8rem; border: 1px solid var(--accent); border-radius: 10px; font-size: 0.92rem; }
.card ul.scopes { padding-left: 1.1rem; }
.languages { margin-top: 1.2rem; font-size: 0.85rem; color: var(--soft); text-align: center; }
@media (max-width: 30rem) {
  .sign-in { place-items: start stretch; padding: 0 0 2rem; }
  .sign-in > div { max-width: none; }
  .card { min-height: 60vh; padding: 1.5rem 1.2rem; border-width: 0 0 1px; border-radius: 0; box-shadow: none; }
}
`
