import { MAXIMA, type Maximum } from '../../base/maxima.ts'

/** The whole of docs/maxima.md. */
export function maximaDocument(): string {
  return [
    '# Maxima',
    '',
    'Sizes and counts. Rates, and what callers can make the server store, are in [faults.md](faults.md#what-callers-can-make-the-server-store).',
    '',
    ...[...Map.groupBy(Object.values<Maximum>(MAXIMA), nounOf)].map(
      ([noun, rows]) => `- **${noun}**: ${rows.map(lineOf).join('; ')}`,
    ),
    '',
  ].join('\n')
}

function nounOf({ of }: Maximum): string {
  return of.split(': ')[0] ?? ''
}

function lineOf(row: Maximum): string {
  return `${row.of.slice(nounOf(row).length + 2)}: ${amountOf(row)}`
}

function amountOf({ most, unit }: Maximum): string {
  if (unit === 'entries') return most.toLocaleString('en')
  if (unit === 'bytes' && most % 1024 === 0) return `${(most / 1024).toLocaleString('en')} KiB`
  return `${most.toLocaleString('en')} ${unit}`
}
