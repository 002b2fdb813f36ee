import type { Measurement } from './measure.ts'

/** An SVG bar chart of the ratios to the bare server, with a group for each endpoint and a bar for each server. It is legible on light and dark backgrounds. */
export function plotRatios(title: string, caption: string, endpoints: readonly Measurement[]): string {
  const groups = [...Map.groupBy(endpoints, groupOf)]
  const most = Math.max(...endpoints.map(({ ratio }) => ratio), MIN_SCALE)
  const servers = [...new Set(endpoints.map(({ server }) => server))]
  const bars: string[] = []
  let y = TOP
  for (const [name, members] of groups) {
    bars.push(text(8, y + 12, name, 'font-weight="600"'))
    y += 20
    for (const one of members) {
      const width = Math.max(1, (one.ratio / most) * BAR_WIDTH)
      const color = COLORS[servers.indexOf(one.server) % COLORS.length]
      bars.push(
        text(LEFT - 8, y + 11, one.server, 'text-anchor="end"'),
        `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="14" rx="2" fill="${color}"/>`,
        text(LEFT + width + 6, y + 11, `${one.ratio.toFixed(3)}  ${one.subject.best.toFixed(0)}/s`, ''),
      )
      y += 18
    }
    y += 10
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 26}" role="img" aria-label="${escape(title)}">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#57606a}@media(prefers-color-scheme:dark){text{fill:#9da7b1}}</style>',
    text(8, 18, title, 'font-size="14" font-weight="600"'),
    ...bars,
    text(8, y + 14, caption, ''),
    '</svg>',
    '',
  ].join('\n')
}

const WIDTH = 760
const LEFT = 190
const BAR_WIDTH = 420
const TOP = 34
const MIN_SCALE = 0.1
const COLORS = ['#2f6feb', '#8957e5', '#bf8700', '#1a7f37', '#cf222e', '#6e7781'] as const

function groupOf({ endpoint, connections }: Measurement): string {
  return connections === 64 ? endpoint : `${endpoint}, ${connections} connection${connections === 1 ? '' : 's'}`
}

function text(x: number, y: number, label: string, more: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}"${more === '' ? '' : ` ${more}`}>${escape(label)}</text>`
}

function escape(label: string): string {
  return label.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
