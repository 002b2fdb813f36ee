import { palette } from '../web/stylesheet.ts'
import { CHART_STYLE } from './chart.ts'

/** The stylesheet of the console: the colours of all pages, and one step denser. Without the spaces that only people read. */
export function consoleStyle(accent: string): string {
  return (palette(accent) + more + base + frame + lists + objects + situations + CHART_STYLE)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ *([{}]) */g, '$1')
    .replaceAll(/([;:,]) /g, '$1')
    .replaceAll(';}', '}')
    .trim()
}

const more = `
:root { --good: #1a6e3c; --row: #f7f8fa; }
@media (prefers-color-scheme: dark) { :root { --good: #7fd6a2; --row: #12151a; } }
`

/** A drawing of a list, which has one in each row: the page would have it fifty times. */
function drawn(path: string): string {
  return `url("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20' fill='none' stroke='red' stroke-width='1.75' stroke-linecap='round' stroke-linejoin='round'><path d='${path}'/></svg>")`
}

const base = `
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere; -webkit-font-smoothing: antialiased;
  font: .875rem/1.43 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif; }
h1, h2, p, ul, dl, dd, dt { margin: 0; padding: 0; }
ul { list-style: none; }
h1 { font-size: 1.25rem; line-height: 1.75rem; font-weight: 600; letter-spacing: -.01em; }
h2 { font-size: .875rem; line-height: 1.25rem; font-weight: 600; }
a { color: var(--ink); text-decoration: none; text-underline-offset: 2px; }
a:hover, p a:not(.button), .notice a { text-decoration: underline; }
code, kbd { font: .8125rem/1.25rem ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-variant-ligatures: none; }
kbd { padding: 0 5px; border: 1px solid var(--line); border-radius: 4px; background: var(--ground); color: var(--muted); font-size: .75rem; }
svg { flex: none; width: 1rem; height: 1rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
time, td { font-variant-numeric: tabular-nums; }
time { white-space: nowrap; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; border-radius: 4px; }
.muted { color: var(--muted); }
caption, .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }
input, select, textarea { min-height: 32px; padding: 4px 8px; border: 1px solid var(--field); border-radius: 6px; background: var(--card); color: inherit; font: inherit; }
input:focus-visible, select:focus-visible { outline-offset: 0; border-color: var(--ink); }
[type=checkbox] { min-height: 0; width: 16px; height: 16px; margin: 0; accent-color: var(--ink); }
.button { display: inline-flex; align-items: center; min-height: 32px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--card); color: var(--text); font: inherit; font-weight: 500; white-space: nowrap; cursor: pointer; }
.button:hover { background: var(--hover); text-decoration: none; }
.button.main { border-color: var(--fill); background: var(--fill); color: var(--fill-text); }
.button.main:hover { background: var(--fill-hover); }
.button.danger { color: var(--danger); }
.button.main.danger { border-color: var(--danger); background: var(--danger); color: var(--card); }
.link { display: inline-flex; align-items: center; min-height: 24px; }
.link, .copy { padding: 0; border: 0; background: none; color: var(--ink); font: inherit; cursor: pointer; }
.copy { display: inline-flex; flex: none; align-items: center; justify-content: center; width: 24px; height: 24px; border-radius: 4px; color: var(--muted); vertical-align: middle; }
.copy:hover { background: var(--hover); color: var(--text); }
.copy svg { width: .875rem; height: .875rem; }
`

const frame = `
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; z-index: 3; padding: 8px; background: var(--card); }
.frame { display: grid; grid-template-columns: 208px minmax(0, 1fr); max-width: 1440px; min-height: 100vh; margin: 0 auto; }
.side { position: sticky; top: 0; display: flex; flex-direction: column; height: 100vh; padding: 16px 12px; border-right: 1px solid var(--line); overflow-y: auto; }
.brand { display: flex; align-items: center; gap: 8px; min-height: 32px; margin-bottom: 16px; padding: 0 8px; font-weight: 600; }
.brand + .muted { margin: -8px 0 8px; padding: 0 8px; }
.mark { flex: none; width: 24px; height: 24px; border-radius: 6px; background: var(--fill); color: var(--fill-text); font-size: 14px; line-height: 24px; text-align: center; overflow: hidden; }
.logo { max-width: 120px; height: 24px; object-fit: contain; }
.menu { display: none; }
nav li a { display: flex; align-items: center; gap: 10px; min-height: 32px; margin: 1px 0; padding: 4px 8px; border-radius: 6px; color: var(--text); }
nav li a:hover { background: var(--hover); text-decoration: none; }
nav li a svg { color: var(--muted); }
nav [aria-current] { background: var(--hover); font-weight: 600; }
nav [aria-current] svg { color: var(--ink); }
.group { margin: 12px 0 2px; padding: 0 8px; color: var(--muted); font-size: .75rem; }
.version { margin-top: auto; padding: 12px 8px 0; font-size: .75rem; }
.page { min-width: 0; max-width: 1232px; padding: 0 24px 48px; }
.top { display: flex; align-items: center; gap: 16px; min-height: 56px; }
.search { position: relative; flex: 1; display: flex; align-items: center; max-width: 440px; }
.search > svg { position: absolute; left: 10px; color: var(--muted); pointer-events: none; }
.search input { width: 100%; padding: 4px 32px; border-color: var(--line); }
.search kbd { position: absolute; right: 8px; pointer-events: none; }
.account { position: relative; margin-left: auto; }
.account summary { display: flex; align-items: center; gap: 4px; max-width: 240px; min-height: 32px; padding: 4px 8px; border-radius: 6px; list-style: none; cursor: pointer; overflow: hidden; white-space: nowrap; }
.account summary::-webkit-details-marker, .menu summary::-webkit-details-marker { display: none; }
.account summary span { overflow: hidden; text-overflow: ellipsis; }
.account summary:hover { background: var(--hover); }
.sheet { position: absolute; right: 0; z-index: 2; width: 240px; padding: 12px 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); box-shadow: var(--shadow); }
.sheet > * + * { margin-top: 8px; }
.sheet a { display: inline-block; line-height: 24px; }
main:focus { outline: 0; }
.heading { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; min-height: 40px; margin-bottom: 8px; }
.heading .actions, .heading > .button { margin-left: auto; }
.sub { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; margin: -4px 0 16px; color: var(--muted); }
.actions { display: flex; flex-wrap: wrap; gap: 8px; }
.notice { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin-bottom: 12px; padding: 8px 12px; border: 1px solid var(--line); border-left: 3px solid var(--good); border-radius: 6px; background: var(--card); }
.notice.bad { border-left-color: var(--danger); }
.notice ul { flex-basis: 100%; }
.notice form { margin-left: auto; }
dialog { padding: 20px 24px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); color: inherit; }
dialog::backdrop { background: rgb(0 0 0 / 40%); }
.keys { margin: 12px 0; }
.keys div { display: grid; grid-template-columns: 72px 1fr; min-height: 28px; align-items: center; }
.switch { display: flex; align-items: center; gap: 8px; min-height: 24px; margin-bottom: 12px; }
`

const lists = `
.filters { display: flex; flex-wrap: wrap; align-items: end; gap: 8px; margin-bottom: 12px; }
.filters label span { display: block; margin-bottom: 2px; color: var(--muted); font-size: .75rem; }
.filters input { width: 148px; border-color: var(--line); }
.filters select { max-width: 168px; border-color: var(--line); }
.set { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 12px; }
.set a { display: inline-flex; align-items: center; gap: 4px; min-height: 24px; padding: 0 8px; border-radius: 12px; background: var(--hover); color: var(--text); }
.set svg { width: .75rem; height: .75rem; color: var(--muted); }
.set li:last-child a { background: none; color: var(--ink); }
.scroll, .empty, .facts, .findings, .snippet, .secret, .address, fieldset { border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { height: 40px; max-width: 180px; padding: 4px 12px; text-align: left; font-weight: 400; vertical-align: middle; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
thead th { height: 32px; border-bottom: 1px solid var(--line); color: var(--muted); font-size: .75rem; white-space: nowrap; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody tr:hover, tbody tr.at { background: var(--row); }
tbody tr.at { box-shadow: inset 2px 0 var(--ink); }
tbody th { font-weight: 500; }
.pick { width: 40px; padding: 0; overflow: visible; }
.pick label { display: flex; align-items: center; justify-content: center; width: 40px; height: 40px; }
.rest { width: 40%; min-width: 128px; max-width: 0; }
th.act { text-align: right; }
.act > .actions { justify-content: flex-end; }
.row { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; min-height: 48px; padding: 8px 0; }
.list .bar { position: sticky; bottom: 0; background: var(--ground); }
.count { margin-right: 4px; font-weight: 500; }
.pages { display: flex; gap: 16px; align-items: center; min-height: 32px; margin-left: auto; }
.pages a { padding: 4px 0; }
.empty { padding: 32px 24px; }
.empty p + p { margin-top: 8px; }
.chip { display: inline-flex; align-items: center; gap: 4px; vertical-align: bottom; white-space: nowrap; }
.chip::before { content: ''; flex: none; width: 1rem; height: 1rem; background: currentColor; mask: var(--drawing) center / contain no-repeat; print-color-adjust: exact; }
.chip.quiet::before { content: none; }
.chip.good { --drawing: ${drawn('m4.5 10.5 3.5 3.5 7.5-8')}; }
.chip.good::before { background: var(--good); }
.chip.caution { --drawing: ${drawn('M10 3.5 2.8 16h14.4zM10 8.5v3.5M10 14v.05')}; }
.chip.bad { --drawing: ${drawn('M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM5.2 14.8 14.8 5.2')}; }
.chip.caution { color: var(--caution); }
.chip.bad { color: var(--danger); }
.chip.quiet { color: var(--muted); }
.id { display: inline-flex; align-items: center; gap: 2px; white-space: nowrap; }
.command { display: inline-flex; align-items: center; gap: 4px; padding: 2px 4px 2px 8px; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); }
.scopes code { display: inline-block; max-width: 100%; }
`

const objects = `
section { margin-top: 24px; }
section > header { display: flex; align-items: center; gap: 12px; min-height: 32px; margin-bottom: 4px; }
section > header > :nth-child(2) { margin-left: auto; }
.facts > div { display: grid; grid-template-columns: 176px minmax(0, 1fr); gap: 4px 16px; min-height: 40px; padding: 9px 12px; }
.facts > div + div, .findings > li + li { border-top: 1px solid var(--line); }
.facts dt { color: var(--muted); }
.facts li + li { margin-top: 4px; }
@media (min-width: 721px) { .facts .button { min-height: 24px; margin: -2px 0; padding: 0 8px; } }
.findings > li { display: grid; grid-template-columns: 24px minmax(0, 1fr); gap: 4px; padding: 10px 12px; }
.findings svg { margin-top: 2px; }
.findings .warning svg { color: var(--caution); }
.findings .failed svg { color: var(--danger); }
.findings .ok svg { color: var(--good); }
.danger-zone { margin-top: 32px; padding-top: 16px; border-top: 1px solid var(--line); }
.ask { max-width: 560px; }
.ask > * + * { margin-top: 12px; }
.ask .plate { padding: 12px; border: 1px solid var(--danger-line); border-radius: 8px; background: var(--danger-plate); color: var(--danger); }
.ask ul.plain { padding-left: 20px; list-style: disc; }
fieldset { margin: 0; padding: 8px 12px 12px; }
legend { padding: 0 4px; font-weight: 600; }
fieldset .field + .field { margin-top: 4px; }
.field { display: block; }
.field > span { display: block; margin-bottom: 4px; font-weight: 600; }
.field input:not([type=checkbox]), .field select { width: 100%; min-height: 36px; }
.field.flag { display: flex; align-items: start; gap: 8px; min-height: 24px; }
.field.flag > span { margin: 0; font-weight: 500; }
.field.flag input { margin-top: 2px; }
small { font-weight: 400; }
.hint { margin-top: 4px; color: var(--muted); font-size: .8125rem; }
.error { margin-top: 4px; color: var(--danger); white-space: pre-line; }
[aria-invalid] { border-color: var(--danger); }
textarea { width: 100%; font: .8125rem/1.25rem ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; resize: vertical; }
.whole summary { line-height: 24px; color: var(--muted); overflow: hidden; text-overflow: ellipsis; }
td:has(+ td > .whole) > a { display: inline-block; max-width: 100%; line-height: 24px; vertical-align: bottom; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.whole[open], .whole[open] summary, td:has(+ td > .whole) { white-space: normal; overflow-wrap: anywhere; }
.more > summary { min-height: 32px; padding: 4px 0; color: var(--ink); cursor: pointer; }
.more > * + *, fieldset > * + * { margin-top: 12px; }
fieldset > label.flag + label.flag { margin-top: 4px; }
.rows > fieldset { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 8px 12px; background: var(--ground); }
.rows > fieldset > * { margin: 0; }
.snippet { position: relative; }
.snippet pre { margin: 0; padding: 12px 40px 12px 12px; white-space: pre-wrap; }
.snippet .copy { position: absolute; top: 8px; right: 8px; }
.step > * + *, .result { margin-top: 8px; }
.result { margin-bottom: 16px; }
.step a, .plate a, dt a { text-decoration: underline; }
.plate a { color: inherit; }
.snippet + *, .facts + .hint { margin-top: 12px; }
.notice .note { flex-basis: 100%; }
.secret, .address { padding: 12px; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 0 24px; }
.card { max-width: 480px; margin: 10vh auto 0; padding: 24px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); box-shadow: var(--shadow); }
.card .brand { padding: 0; }
.card main > * + * { margin-top: 12px; }
`

const situations = `
@media (max-width: 1240px) { .far { display: none; } }
@media (max-width: 960px) {
  .frame { display: block; }
  .side { position: relative; z-index: 2; overflow: visible; display: flex; flex-direction: row; align-items: center; justify-content: space-between; height: auto; padding: 8px 16px; border: 0; border-bottom: 1px solid var(--line); }
  .menu:not([open]) + nav, .version { display: none; }
  .brand, .brand + .muted { margin: 0; padding: 0; }
  .menu { display: block; }
  .menu summary { display: flex; align-items: center; justify-content: center; width: 44px; height: 44px; list-style: none; cursor: pointer; }
  .menu + nav { position: absolute; top: 100%; right: 16px; z-index: 2; width: 220px; max-height: calc(100vh - 64px); padding: 8px; overflow-y: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); box-shadow: var(--shadow); }
}
@media (max-width: 720px) {
  .page { padding: 0 16px 32px; }
  .search kbd { display: none; }
  .menu + nav { width: calc(100% - 32px); }
  .account summary { max-width: 128px; }
  nav li a, .button, .account summary, input, select, .pages a { min-height: 44px; }
  .pages a, .set a { display: inline-flex; align-items: center; min-height: 44px; }
  input, select { font-size: 1rem; }
  .filters { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .filters input, .filters select { width: 100%; min-width: 0; max-width: none; }
  .filters .button { grid-column: 1 / -1; justify-content: center; }
  .rest { width: auto; min-width: 0; max-width: none; }
  td:has(> .none) { display: none; }
  .act > .actions { justify-content: flex-start; }
  .scroll { border: 0; background: none; overflow: visible; }
  table, tbody, tr, th, td, .far { display: block; }
  thead, thead tr, .list thead .pick { display: block; height: auto; border: 0; }
  thead th:not(.pick) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  thead .pick { width: auto; }
  thead .pick label { width: auto; justify-content: flex-end; gap: 8px; padding-right: 14px; }
  thead .pick label::before { content: 'All'; }
  tbody tr { position: relative; margin-bottom: 8px; padding: 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
  tbody tr + tr > * { border: 0; }
  tbody th, tbody td { height: auto; max-width: none; padding: 0; white-space: normal; }
  .list .bar { position: static; }
  tbody th { padding-right: 40px; font-weight: 600; }
  td[data-label] { position: relative; margin-top: 6px; padding-left: 104px; }
  td[data-label]::before { content: attr(data-label); position: absolute; left: 0; color: var(--muted); }
  tbody td.act { padding-left: 0; }
  tbody td.act::before { content: none; }
  tbody td.pick { position: absolute; top: 0; right: 0; width: auto; }
  .pick label { width: 44px; height: 44px; }
  .copy { width: 32px; height: 32px; }
  .facts > div { grid-template-columns: 1fr; }
  .heading .actions, .heading > .button { margin-left: 0; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .card { margin: 0; min-height: 100vh; border: 0; border-radius: 0; }
}
@media (forced-colors: active) { .chip::before { background: CanvasText !important; } .mark { border: 1px solid; } nav [aria-current] { outline: 1px solid; } }
@media print { .side, .top, .filters, .set, .bar, .pick, .act, .actions, .button, .copy, dialog { display: none !important; } .frame { display: block; } .page { max-width: none; padding: 0; } .scroll { overflow: visible; } td, th { white-space: normal; } }
`
