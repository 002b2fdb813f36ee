import { accentColours, type AccentColours } from './accent.ts'

const light = { ground: '#f5f6f8', card: '#ffffff' } as const
const dark = { ground: '#0d0f12', card: '#16191e' } as const

/** Colours of the ground and what is on it, as declarations, in light and dark. */
interface Surface {
  readonly light: string
  readonly dark: string
}

const PAGE: Surface = {
  light: `--ground: ${light.ground}; --line: #dde1e6; --good: #1a6e3c; --good-plate: #e8f5ed; --caution-line: #f2dfb8; --danger-line: #f3cfcc; --shadow: 0 1px 2px rgb(16 24 40 / 4%), 0 4px 16px rgb(16 24 40 / 5%);`,
  dark: `--ground: ${dark.ground}; --line: #2a2f37; --good: #7fd6a2; --good-plate: #12261b; --caution-line: #46391d; --danger-line: #512824; --shadow: none;`,
}

/**
 * The stylesheet of all pages. It uses no remote font, image or import, because the Content-Security-Policy forbids them.
 */
export function stylesheet(accent: string): string {
  return (palette(accent) + base + parts + situations).replaceAll(/\n\s*/g, '\n').trim()
}

/** The colours of all pages, in light and dark, as custom properties. `surface`: a ground between `ground` and `card`, for the accent is readable on these. */
export function palette(accent: string, surface: Surface = PAGE): string {
  const lightAccent = accentColours(accent, { backgrounds: [light.ground, light.card], ink: '#000000', distinct: 1.2 })
  const darkAccent = accentColours(accent, { backgrounds: [dark.ground, dark.card], ink: '#ffffff', distinct: 2 })
  return colours(lightAccent, darkAccent, surface)
}

function colours(lightAccent: AccentColours, darkAccent: AccentColours, surface: Surface): string {
  return `
:root {
  color-scheme: light dark;
  ${surface.light}
  --card: ${light.card}; --field: #868e99;
  --text: #1a1d21; --muted: #59616b; --hover: #f0f2f5;
  --caution: #7a4b00; --caution-plate: #fff7e8;
  --danger: #b3261e; --danger-plate: #fdf1f0;
  ${accentVariables(lightAccent)}
}
@media (prefers-color-scheme: dark) {
  :root {
    ${surface.dark}
    --card: ${dark.card}; --field: #6b7480;
    --text: #e9ebee; --muted: #a1a9b4; --hover: #20242b;
    --caution: #f0c674; --caution-plate: #261f12;
    --danger: #ffb0a8; --danger-plate: #2b1715;
    ${accentVariables(darkAccent)}
  }
}
`
}

function accentVariables(accent: AccentColours): string {
  return `--fill: ${accent.fill}; --fill-hover: ${accent.fillHover}; --fill-text: ${accent.fillText}; --ink: ${accent.ink};`
}

const base = `
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; padding: clamp(16px, 9vh, 96px) 16px 24px; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif;
  overflow-wrap: anywhere; hyphens: auto; -webkit-font-smoothing: antialiased;
}
h1, h2, p, ul, dl, dd { margin: 0; padding: 0; }
h1 { font-size: 1.375rem; line-height: 1.3; font-weight: 600; letter-spacing: -.01em; text-wrap: balance; }
h2, dt { font-size: .875rem; line-height: 1.43; font-weight: 400; color: var(--muted); }
ul { list-style: none; }
[hidden] { display: none !important; }
a { color: var(--ink); text-underline-offset: 2px; }
code { font: .9375em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-variant-ligatures: none; }
svg { flex: none; width: 1.25rem; height: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
`

const parts = `
.card { max-width: 440px; margin: 0 auto; padding: 32px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); }
.brand { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; margin-bottom: 24px; font-weight: 600; line-height: 24px; }
.mark { flex: none; width: 24px; height: 24px; border-radius: 6px; background: var(--fill); color: var(--fill-text); font-size: 14px; text-align: center; overflow: hidden; }
.logo { flex: none; width: auto; max-width: 160px; height: 32px; object-fit: contain; }
.lead { margin-top: 8px; }
.small { font-size: .875rem; line-height: 1.43; }
.muted { color: var(--muted); }
.trust { display: flex; gap: 8px; margin-top: 12px; font-size: .875rem; line-height: 1.25rem; color: var(--muted); }
.trust strong { font-weight: 600; }
.unverified { color: var(--caution); }
.part { margin-top: 24px; }
.fixed, .choice { display: flex; gap: 12px; margin-top: 8px; font: inherit; }
.fixed svg { margin: 2px 2px 0; color: var(--ink); }
.withheld, .withheld svg { color: var(--muted); }
.choice { position: relative; margin: 0; padding: 10px 0; }
.choice input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: pointer; }
.box { flex: none; width: 24px; height: 24px; border: 1px solid var(--field); border-radius: 6px; background: var(--card); }
.box svg { display: none; margin: 1px; }
.choice input:checked + .box { border-color: var(--ink); background: var(--fill); color: var(--fill-text); }
.choice input:checked + .box svg { display: block; }
.choice input:focus-visible + .box { outline: 2px solid var(--ink); outline-offset: 2px; }
.line { display: block; }
.facts { margin-top: 24px; border-top: 1px solid var(--line); }
.facts > div { display: grid; grid-template-columns: 8rem 1fr auto; gap: 4px 12px; padding: 12px 0; border-bottom: 1px solid var(--line); }
.facts dt { line-height: 1.5rem; }
.facts dd { grid-column: 2; }
.facts dd + .action { grid-column: 3; grid-row: 1; margin: -10px 0; }
.action a { display: inline-flex; align-items: center; justify-content: end; min-width: 44px; min-height: 44px; font-size: .875rem; overflow-wrap: normal; }
.facts span { display: block; }
.notice { display: flex; gap: 12px; margin-top: 16px; padding: 12px; border: 1px solid var(--caution-line); border-radius: 8px; background: var(--caution-plate); color: var(--caution); font-size: .875rem; line-height: 1.43; }
.problem { border-color: var(--danger-line); background: var(--danger-plate); color: var(--danger); }
.field { margin-top: 20px; }
.qr { display: block; width: 100%; max-width: 240px; height: auto; margin: 16px 0; border-radius: 8px; stroke: none; }
.key { display: block; margin-top: 4px; color: var(--text); font-size: 1rem; }
.codes { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 8px; margin: 16px 0; padding: 0; list-style: none; }
label { display: block; margin-bottom: 4px; font-size: .875rem; font-weight: 600; }
.user-code { font: 600 1.375rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; letter-spacing: .08em; text-transform: uppercase; }
.shown { margin-top: 16px; padding: 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--hover); text-align: center; hyphens: none; }
.shown code { font: inherit; }
input, select { display: block; width: 100%; min-height: 44px; padding: 8px 12px; border: 1px solid var(--field); border-radius: 8px; background: var(--card); color: inherit; font: inherit; }
input.user-code { font: 600 1.125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
input:focus-visible, select:focus-visible { outline-offset: 0; border-color: var(--ink); }
[aria-invalid] { border-color: var(--danger); }
.hint { margin-bottom: 8px; }
.error { display: flex; gap: 8px; margin-top: 8px; color: var(--danger); font-size: .875rem; line-height: 1.25rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 12px; margin-top: 24px; }
.buttons > * { flex: 1; min-width: fit-content; }
.buttons > form, .button { display: flex; }
.button { flex: 1; max-width: 100%; overflow-wrap: break-word; align-items: center; justify-content: center; min-height: 44px; padding: 8px 16px; border: 1px solid var(--field); border-radius: 8px; background: var(--card); color: var(--text); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
.provider .buttons { margin-top: 12px; }
.lead + .provider, .lead + [hidden] + .provider { margin-top: 28px; }
.button svg, .letter { flex: none; width: 20px; height: 20px; margin-right: 10px; }
.letter { border: 1px solid var(--line); border-radius: 5px; font-size: 12px; line-height: 18px; }
.typed { position: relative; }
.typed input { padding-right: 104px; }
.reveal { position: absolute; top: 0; right: 0; min-width: 44px; min-height: 44px; padding: 0 12px; border: 0; border-radius: 8px; background: none; color: var(--ink); font: inherit; font-size: .875rem; cursor: pointer; }
.reveal[aria-pressed=true] { text-decoration: underline; }
.or { display: flex; align-items: center; gap: 12px; margin-top: 20px; }
[hidden] + .alone { display: none; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.button:hover { background: var(--hover); }
.main { border-color: var(--ink); background: var(--fill); color: var(--fill-text); }
.main:hover { background: var(--fill-hover); }
.done { border-color: transparent; background: var(--good-plate); color: var(--text); }
.done svg { color: var(--good); }
.after { margin-top: 16px; }
.beneath { margin-top: 4px; }
.end { display: flex; flex-wrap: wrap; gap: 0 16px; margin: -10px 0 -10px auto; font-size: .875rem; font-weight: 400; }
.rows { margin-top: 16px; border: 1px solid var(--line); border-radius: 10px; }
.rows > li { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding: 14px 16px; }
.rows > li + li { border-top: 1px solid var(--line); }
.rows > li > div { flex: 1 1 150px; min-width: 0; }
.rows > li > div:has(ul) { flex-basis: 200px; }
.rows h2 { font-size: 1rem; line-height: 1.5; font-weight: 600; color: var(--text); }
.rows .trust { margin: 4px 0; }
.rows .button { flex: none; padding: 4px 14px; font-size: .9375rem; }
form + .rows { margin-top: 24px; }
.plain { margin: 8px 0; padding-left: 20px; list-style: disc; }
.step { display: inline-block; max-width: 100%; margin: 12px 4px 0 0; }
.step .button { display: inline-flex; min-width: 120px; }
.danger { border-color: var(--danger); background: var(--danger); color: var(--card); }
.danger:hover { background: var(--danger); filter: brightness(.92); }
.wide { display: grid; grid-template-columns: 216px minmax(0, 1fr); column-gap: 48px; max-width: 960px; }
.wide .brand { grid-column: 1 / -1; padding-bottom: 16px; border-bottom: 1px solid var(--line); }
.wide main { min-width: 0; }
.wide .part > h2 { margin-bottom: 4px; font-size: 1rem; line-height: 1.5; font-weight: 600; color: var(--text); }
.wide .part + .part { padding-top: 24px; border-top: 1px solid var(--line); }
.menu ul { margin: 0 -12px; }
.menu a { display: flex; align-items: center; min-width: 44px; min-height: 44px; padding: 8px 12px; border-radius: 8px; color: var(--text); font-size: .9375rem; text-decoration: none; }
.menu a:hover { background: var(--hover); }
.menu [aria-current] { background: var(--hover); font-weight: 600; }
.short { display: none; }
.inline { display: inline-flex; align-items: center; min-width: 44px; min-height: 44px; }
.within { margin: -12px 0; }
.link { padding: 0; border: 0; background: none; color: var(--ink); font: inherit; text-decoration: underline; text-underline-offset: 2px; cursor: pointer; }
.credentials { display: flex; flex-wrap: wrap; align-items: baseline; }
.credentials > * { flex: 1 0 100%; order: 2; }
.credentials > .field { order: 0; margin-bottom: 20px; }
.credentials > label { flex: none; order: 1; margin: 0 8px 0 0; }
.credentials > .aside { flex: 0 1 auto; order: 1; margin-left: auto; font-size: .875rem; }
.credentials > details.aside { flex: 1 1 12rem; }
.credentials [open] { margin-bottom: 12px; }
.credentials summary { margin-left: auto; }
summary { width: fit-content; min-height: 44px; padding: 12px 0; cursor: pointer; }
footer, .languages { display: flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: 0 16px; max-width: 440px; margin: 8px auto 0; font-size: .875rem; }
footer a, .languages a { display: inline-flex; align-items: center; justify-content: center; min-width: 44px; min-height: 44px; color: var(--muted); text-decoration: none; }
footer a:hover, .languages a:hover { color: var(--text); text-decoration: underline; }
footer + .languages { margin-top: -4px; }
.languages [aria-current] { color: var(--text); font-weight: 600; }
`

const situations = `
@media (max-width: 760px) {
  .wide { display: block; max-width: 560px; }
  .wide .brand { margin: 0 -20px; padding: 0 20px 12px; }
  .menu ul { display: grid; grid-template-columns: repeat(5, auto); justify-content: space-between; margin: 0 -20px 24px; padding: 0 12px; border-bottom: 1px solid var(--line); }
  .menu li a { justify-content: center; padding: 8px 4px; border-radius: 0; font-size: .875rem; overflow-wrap: normal; }
  .long { display: none; }
  .short { display: inline; }
  .menu [aria-current] { background: none; box-shadow: inset 0 -2px var(--ink); }
}
@media (max-width: 480px) {
  .facts > div { grid-template-columns: 1fr auto; gap: 0 12px; }
  .facts dt, .facts dd { grid-column: 1; }
  .facts dd + .action { grid-column: 2; grid-row: 1 / span 2; align-self: center; }
  body { padding-top: 16px; }
  .card { padding: 24px 20px; }
}
@media (max-width: 400px) {
  .menu li a { padding: 8px 2px; font-size: .8125rem; }
}
@media (max-width: 359px) {
  .menu ul { grid-template-columns: repeat(3, 1fr); }
}
@media (max-width: 300px) {
  .buttons { flex-direction: column; }
}
@media (prefers-reduced-motion: no-preference) {
  .button, input, select { transition: background-color .12s, border-color .12s; }
}
@media print {
  :root { --ground: #fff; --card: #fff; --text: #000; --muted: #333; --line: #999; --shadow: none; }
  body { padding: 0; }
  .card { display: block; max-width: none; border: 0; padding: 0; }
  nav, footer, .step, .buttons { display: none; }
}
`
