import { palette } from '../web/stylesheet.ts'
import { CHART_STYLE } from './chart.ts'

/** The stylesheet of the console: the colours of all pages, and one step denser. Without the spaces that only people read. */
export function consoleStyle(accent: string): string {
  return (palette(accent, SURFACE) + base + frame + lists + objects + CHART_STYLE + situations)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ *([{}]) */g, '$1')
    .replaceAll(/ ([>+]) /g, '$1')
    .replaceAll(/([;:,]) /g, '$1')
    .replaceAll(';}', '}')
    .trim()
}

/** The page is as light as a card, and the side is tinted. */
const SURFACE = {
  light: `--ground: var(--card); --side: #f7f8fa; --line: #e4e7eb; --good: #1a6e3c; --good-plate: #e8f5ed;
    --tint: color-mix(in srgb, var(--fill) 10%, var(--card)); --edge: 1px solid var(--line); --shadow: 0 8px 24px rgb(16 24 40 / 12%);`,
  dark: `--ground: #101317; --side: #0b0d10; --line: #272d35; --good: #7fd6a2; --good-plate: #12261b;`,
}

const base = `
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere; -webkit-font-smoothing: antialiased;
  font: .875rem/1.43 system-ui, "Segoe UI", "Noto Sans", Arial, sans-serif; font-variant-numeric: tabular-nums; }
h1, h2, p, ul, ol, dl, dd, dt { margin: 0; padding: 0; }
ul, ol, summary { list-style: none; }
summary { cursor: pointer; }
summary::-webkit-details-marker { display: none; }
h1 { font-size: 1.25rem; line-height: 1.75rem; font-weight: 600; }
h2 { font-size: .9375rem; line-height: 1.5rem; font-weight: 600; }
a { color: var(--ink); text-decoration: none; text-underline-offset: 2px; }
a:hover, p a:not(.button), .notice a { text-decoration: underline; }
th a, .feed a { color: inherit; }
code, kbd, pre, textarea { font: .8125rem/1.25rem ui-monospace, Menlo, Consolas, monospace; }
kbd { padding: 0 5px; border: var(--edge); border-radius: 4px; background: var(--ground); color: var(--muted); font-size: .75rem; }
svg { flex: none; width: 1rem; height: 1rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
time { white-space: nowrap; }
.wrap { white-space: normal; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; border-radius: 4px; }
.muted, nav li a svg, .group, .count, .crumbs a, .sub, .hint, .search > svg, .filters label span, .set svg, thead th, .facts dt, .date, .feed :is(details, .meta, time, .when) { color: var(--muted); }
caption, .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }
input, select, textarea { min-height: 32px; padding: 4px 8px; border: 1px solid var(--field); border-radius: 6px; background: var(--card); color: inherit; }
input, select { font: inherit; }
[type=checkbox], [type=radio] { flex: none; min-height: 0; width: 16px; height: 16px; margin: 0; accent-color: var(--ink); }
.button { display: inline-flex; align-items: center; justify-content: center; gap: 6px; min-height: 32px; padding: 4px 12px; border: var(--edge); border-radius: 6px; background: var(--card); color: var(--text); font: inherit; font-weight: 500; white-space: nowrap; cursor: pointer; }
.button.main { border-color: var(--fill); background: var(--fill); color: var(--fill-text); }
.button.main:hover { background: var(--fill-hover); }
.button.danger { color: var(--danger); }
.button.main.danger { border-color: var(--danger); background: var(--danger); color: var(--card); }
.copy { display: inline-flex; flex: none; align-items: center; justify-content: center; width: 24px; height: 24px; padding: 0; border: 0; border-radius: 4px; background: none; color: var(--muted); cursor: pointer; vertical-align: middle; }
.copy svg { width: .875rem; height: .875rem; }
`

const frame = `
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; z-index: 3; padding: 8px; background: var(--card); }
.frame { display: grid; grid-template-columns: 224px minmax(0, 1fr); max-width: 1440px; min-height: 100vh; margin: 0 auto; }
.side { position: sticky; top: 0; display: flex; flex-direction: column; height: 100vh; padding: 12px; border-right: var(--edge); background: var(--side); overflow-y: auto; }
.brand { display: flex; align-items: center; gap: 8px; min-height: 40px; padding: 0 8px; font-weight: 600; }
.places { display: contents; }
.places > p { padding: 0 8px 8px; }
.mark, .avatar { flex: none; width: 24px; height: 24px; border-radius: 6px; background: var(--fill); color: var(--fill-text); font-size: 14px; line-height: 24px; text-align: center; overflow: hidden; }
.logo { max-width: 120px; height: 24px; object-fit: contain; }
.menu { display: none; }
nav li a { display: flex; align-items: center; gap: 10px; min-height: 32px; margin: 1px 0; padding: 4px 8px; border-radius: 6px; color: var(--text); }
nav [aria-current] { font-weight: 600; }
.side [aria-current] svg { color: var(--ink); }
.group { margin: 16px 0 4px; padding: 0 8px; font-size: .75rem; }
.me { position: relative; margin-top: auto; padding-top: 12px; }
.me summary { display: flex; align-items: center; gap: 8px; min-height: 44px; padding: 4px 8px; border-radius: 6px; line-height: 1.125rem; }
.who, .who > * { display: block; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.me .sheet { inset: auto 0 calc(100% - 12px); min-width: 0; }
.page { min-width: 0; max-width: 1240px; padding: 0 32px 64px; }
.top { display: flex; align-items: center; min-height: 60px; }
.search { position: relative; flex: 1; display: flex; align-items: center; max-width: 480px; }
.search > svg { position: absolute; left: 10px; pointer-events: none; }
.search input { padding: 4px 32px; }
.search kbd { position: absolute; right: 8px; pointer-events: none; }
.drop { position: relative; }
.sheet { position: absolute; right: 0; z-index: 3; min-width: 232px; margin-top: 4px; padding: 6px; border-radius: 8px; background: var(--card); box-shadow: 0 0 0 1px var(--line), var(--shadow); }
.sheet p { padding: 4px 10px; }
.sheet :is(a, button):not(.main) { display: flex; align-items: center; justify-content: start; width: 100%; min-height: 32px; padding: 4px 10px; border: 0; border-radius: 6px; background: none; color: var(--text); font: inherit; font-weight: 400; cursor: pointer; }
.sheet .danger { color: var(--danger) !important; }
.sheet hr { margin: 6px 0; border: 0; border-top: var(--edge); }
main:focus { outline: 0; }
p.crumbs a { display: inline-flex; align-items: center; gap: 4px; min-height: 24px; text-decoration: none; }
.crumbs svg { transform: rotate(90deg); }
.heading { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; min-height: 40px; margin-bottom: 8px; }
h1 + .count { font-size: 1.25rem; }
.avatar { border-radius: 50%; background: var(--tint); color: var(--text); font-size: .6875rem; font-weight: 600; }
.heading .avatar { width: 48px; height: 48px; font-size: 1rem; line-height: 48px; }
.thing { border-radius: 10px; }
.avatar + div { flex: 1 1 200px; min-width: 0; }
.avatar + div .sub { margin: 0; }
.heading .actions, .heading > .button { margin-left: auto; }
.sub { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; margin: -4px 0 16px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; }
.notice { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin-bottom: 12px; padding: 8px 12px; border: var(--edge); border-left: 3px solid var(--tone, var(--good)); border-radius: 6px; background: var(--card); }
.notice form { margin-left: auto; }
dialog > * + *, .more > * + *, fieldset > * + * { margin-top: 12px; }
dialog, .card { padding: 24px; border: var(--edge); border-radius: 12px; background: var(--card); color: inherit; }
`

const lists = `
.filters label span { display: block; margin-bottom: 2px; font-size: .75rem; }
.chips > div { display: contents; }
.chips, .chips nav, .set { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.chips { position: relative; margin: 8px 0 12px; }
.chips .drop { position: static; }
.chips .sheet { inset: 100% auto auto 0; }
.chips > div > form { flex: 0 1 240px; }
.chips :is(a, summary) { display: inline-flex; align-items: center; gap: 6px; min-height: 28px; padding: 2px 10px; border: var(--edge); border-radius: 14px; color: var(--muted); white-space: nowrap; }
:is(.chips, .tabs) [aria-current], .choice:has(:checked) { border-color: var(--ink); color: var(--text); }
:is(.side, .chips) [aria-current], :is(.choice, tr):has(:checked) { background: var(--tint); }
.sheet.filters { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; width: 360px; padding: 12px; }
.sheet.filters > .button { display: flex; grid-column: 1 / -1; justify-content: center; }
.search input, .chips :is(input, select) { width: 100%; border-color: var(--line); }
.set .muted { flex: none; }
.chips .set a { border-color: transparent; background: var(--hover); color: var(--text); white-space: normal; }
:is(.set, .drop, .crumbs) svg { width: .75rem; height: .75rem; }
.scroll, .empty, .facts, .feed, .findings, .snippet, .secret, .address, .answer, fieldset, .choice, figure, .tile { border: var(--edge); border-radius: 8px; background: var(--card); }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { height: 44px; max-width: 200px; padding: 4px 12px; text-align: left; font-weight: 400; vertical-align: middle; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
thead th { height: 32px; border-bottom: var(--edge); font-size: .75rem; }
tbody tr:hover, [data-row].at { background: var(--side); }
[data-row].at { box-shadow: inset 2px 0 var(--ink); }
tbody th { font-weight: 500; }
.pick { width: 40px; padding: 0; overflow: visible; }
.pick label { display: grid; place-items: center; width: 40px; height: 36px; }
.rest { width: 40%; min-width: 128px; max-width: 0; }
th.act { text-align: right; }
.act > .actions { justify-content: flex-end; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; min-height: 48px; padding: 8px 0; }
.list .bar { position: sticky; bottom: 0; background: var(--ground); }
.pages { display: flex; gap: 16px; align-items: center; min-height: 32px; margin-left: auto; }
.pages a { padding: 4px 0; }
.empty { padding: 32px 24px; }
section > .empty { padding: 14px; }
.empty p + p { margin-top: 8px; }
.state { display: inline-flex; align-items: center; gap: 6px; padding: 1px 8px; border-radius: 10px; background: var(--plate); color: var(--tone); font-size: .75rem; line-height: 1.125rem; font-weight: 500; vertical-align: middle; white-space: nowrap; }
.good, .ok { --tone: var(--good); --plate: var(--good-plate); }
.caution, .warning { --tone: var(--caution); --plate: var(--caution-plate); }
.bad, .failed { --tone: var(--danger); --plate: var(--danger-plate); }
.quiet, .plain { --tone: var(--muted); --plate: var(--hover); }
.state::before { content: ''; width: 6px; height: 6px; border-radius: 50%; background: currentColor; print-color-adjust: exact; }
.state:is(.caution, .bad)::before { border-radius: 1px; }
.state.caution::before { transform: rotate(45deg); }
.id { display: inline-flex; align-items: center; gap: 2px; white-space: nowrap; }
.command { display: inline-flex; align-items: center; gap: 4px; padding: 2px 4px 2px 8px; border: var(--edge); border-radius: 6px; background: var(--ground); }
.scopes code { display: inline-block; max-width: 100%; }
`

const objects = `
section { margin-top: 32px; }
section > header { display: flex; align-items: baseline; gap: 12px; margin-bottom: 8px; }
section > header > :nth-child(2) { margin-left: auto; }
.tabs { display: flex; gap: 16px; border-bottom: var(--edge); }
.tabs a { padding: 8px 0; border-bottom: 2px solid transparent; color: var(--muted); white-space: nowrap; }
.split { display: grid; gap: 0 40px; }
.split > * { min-width: 0; }
.answer { margin-top: 20px; padding: 14px 16px; border-left: 3px solid var(--tone); }
.count { font-weight: 400; }
.feed > li { display: grid; grid-template-columns: 20px minmax(0, 1fr) auto; gap: 0 10px; padding: 10px 14px; }
.feed > .date { display: block; padding: 8px 14px; font-size: .75rem; }
.feed > li > svg { margin-top: 2px; color: var(--tone, var(--muted)); }
.feed :is(details, .meta, time, .when) { font-size: .8125rem; line-height: 1.25rem; }
.feed > li > :is(details, .meta) { grid-column: 2 / -1; }
.feed summary { width: fit-content; min-height: 24px; padding: 2px 0; }
.feed p > a:only-child { display: inline-block; line-height: 1.5rem; }
.feed .meta { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; min-height: 24px; }
:is(.feed, .split) :is(.meta, .facts) .button { min-height: 24px; padding: 0; border: 0; background: none; color: inherit; font-weight: 400; text-decoration: underline; }
.feed pre { margin: 4px 0 0; padding: 12px; border-radius: 6px; background: var(--side); color: var(--text); white-space: pre-wrap; }
.facts > div { display: grid; grid-template-columns: 176px minmax(0, 1fr); gap: 4px 16px; min-height: 40px; padding: 9px 12px; }
tbody tr + tr, .facts > div + div, :is(.feed, .findings) > li + li { border-top: var(--edge); }
dialog .facts > div { min-height: 0; padding: 4px 12px; }
.facts li + li { margin-top: 4px; }
.findings > li { display: grid; grid-template-columns: 16px minmax(0, 1fr) auto; align-items: center; gap: 4px 12px; padding: 10px 14px; }
.findings svg { color: var(--tone); }
.ask { max-width: 560px; }
.ask > * + * { margin-top: 12px; }
.ask .plate { padding: 12px; border-radius: 8px; background: var(--danger-plate); color: var(--danger); }
.ask ul.plain { padding-left: 20px; list-style: disc; }
fieldset { margin: 0; padding: 8px 12px 12px; }
legend { padding: 0 4px; font-weight: 600; }
fieldset .field + .field { margin-top: 4px; }
.field { display: block; }
.field > span { display: block; margin-bottom: 4px; font-weight: 600; }
.field input:not([type=checkbox]), .field select { width: 100%; min-height: 36px; }
.flag { display: flex; align-items: start; gap: 8px; min-height: 24px; }
.flag > span { margin: 0; font-weight: 500; }
.flag input { margin-top: 2px; }
small { font-weight: 400; }
.hint { display: block; margin-top: 4px; font-size: .8125rem; }
.error { margin-top: 4px; color: var(--danger); white-space: pre-line; }
[aria-invalid] { border-color: var(--danger); }
textarea { width: 100%; resize: vertical; }
.more > summary { min-height: 32px; padding: 4px 0; color: var(--ink); }
fieldset.cards, .cards legend { padding: 0; border: 0; }
.notice :is(ul, .note), .cards > p, .choice:has(small) { flex-basis: 100%; }
.choice { padding: 11px 12px; }
.rows > fieldset { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 8px 12px; background: var(--ground); }
:is(.cards, .rows > fieldset) > * { margin: 0; }
.snippet { position: relative; }
.snippet pre { margin: 0; padding: 12px 40px 12px 12px; white-space: pre-wrap; }
.snippet .copy { position: absolute; top: 8px; right: 8px; }
.step > * + * { margin-top: 8px; }
.result { margin: 8px 0 16px; }
.step a, dt a { text-decoration: underline; }
.plate a { color: inherit; }
.snippet + *, .facts + .hint, .answer .actions { margin-top: 12px; }
.secret, .address { padding: 12px; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 0 24px; }
.card { max-width: 480px; margin: 10vh auto 0; }
.card .brand { padding: 0; }
.card main > * + * { margin-top: 12px; }
:is(.button, .copy, .tile, nav li a, .me summary, .chips :is(a, summary), .sheet :is(a, button)):hover { background: var(--hover); text-decoration: none; }
`

const situations = `
@media (max-width: 1100px) { .far { display: none; } }
@media (min-width: 1101px) { .split { grid-template-columns: minmax(0, 1fr) 320px; } .split dl > div { grid-template-columns: 1fr; gap: 0; } .split dt { font-size: .8125rem; } }
@media (max-width: 960px) {
  .frame { display: block; }
  .side { position: relative; z-index: 2; height: 0; padding: 0; border: 0; overflow: visible; }
  .brand { position: absolute; top: 10px; left: 16px; padding: 0; }
  .side .brand bdi, .menu:not([open]) + .places, .search kbd { display: none; }
  .side .logo { max-width: 40px; }
  .menu { display: block; position: absolute; top: 8px; right: 8px; }
  .menu summary { display: grid; place-items: center; width: 44px; height: 44px; }
  .places { display: block; position: absolute; top: 56px; right: 8px; width: min(360px, 100vw - 16px); max-height: calc(100vh - 64px); padding: 8px; overflow: auto; border-radius: 12px; background: var(--card); box-shadow: 0 0 0 1px var(--line), var(--shadow); }
  .me .sheet { position: static; box-shadow: none; }
  .places :is(a, button) { min-height: 44px !important; }
  .page { padding: 0 16px 48px; }
  .top { padding: 0 40px; }
}
@media (max-width: 760px) {
  .button, input, select, .sheet :is(a, button):not(.main) { min-height: 44px; }
  .pages a, .tabs a { padding: 12px 0; }
  .chips, .chips :is(div, nav, .set) { flex-wrap: nowrap; }
  .chips > div { display: flex; gap: 8px; padding: 2px; overflow-x: auto; scrollbar-width: none; }
  .chips > div > * { flex: none; }
  .chips :is(a, summary, div > form input) { min-height: 36px; border-radius: 18px; }
  .chips .set a { max-width: 80vw; overflow: hidden; white-space: nowrap; }
  .chips > div > form { flex: 0 0 200px; order: 1; }
  .drop .sheet { position: fixed; inset: auto 8px 8px !important; width: auto; max-height: 80vh; overflow: auto; }
  .tabs { overflow-x: auto; }
  .actions.lead { width: 100%; }
  .actions.lead > .main { flex: 1; }
  input, select { font-size: 1rem; }
  td:has(> .none), thead .pick { display: none; }
  .scroll { border-width: 1px 0; border-radius: 0; background: none; overflow: visible; }
  .scroll :is(table, tbody) { display: block; }
  .scroll thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .scroll tbody tr { position: relative; display: flex; flex-wrap: wrap; gap: 2px 12px; min-height: 88px; padding: 12px 0; align-content: center; }
  .scroll tbody tr > * { height: auto; max-width: none; padding: 0; }
  .scroll tbody th { flex: 1 1 50%; min-width: 0; }
  .scroll tbody td { order: 2; flex-basis: 100%; color: var(--muted); font-size: .8125rem; }
  .scroll tbody .badge { order: 1; flex: none; }
  .scroll tbody .meta { order: 3; flex: 0 1 auto; }
  .meta[data-label]::before { content: attr(data-label) ' '; }
  .scroll tbody .act { order: 4; }
  th > a::after { content: ''; position: absolute; inset: 0 44px 0 0; }
  td :is(a, button) { position: relative; }
  .scroll tbody .pick { position: absolute; right: 0; bottom: 0; width: auto; }
  .pick label { width: 44px; height: 44px; }
  .list .bar { position: static; }
  .copy { width: 32px; height: 32px; }
  .facts > div { grid-template-columns: 1fr; }
  .split dl > div { display: flex; flex-wrap: wrap; gap: 2px 12px; }
  .split dt { flex: 0 0 132px; }
  .split dd { flex: 1 1 140px; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; }
  .tile { padding: 12px; }
  .chart text { font-size: 16px; }
  figure summary { line-height: 44px; }
  .findings .button { grid-column: 2; justify-self: start; }
  .card { margin: 0; min-height: 100vh; border: 0; border-radius: 0; }
}
@media (forced-colors: active) { .state::before { background: CanvasText; } .mark { border: 1px solid; } nav [aria-current] { outline: 1px solid; } [class^=k] { --k: CanvasText; } .k0 { --k: Canvas; } .k2 { --k: Highlight; } .k3 { --k: GrayText; } .k4 { --k: LinkText; } }
@media print { .side, .top, .crumbs, .chips, .bar, .pick, .act, .button, .copy, dialog { display: none !important; } .frame { display: block; } .page { max-width: none; padding: 0; } .columns { display: block; } .scroll, .numbers { max-height: none; overflow: visible; } td, th { white-space: normal; } }
`
