import type { FiguresDocument } from '../../../admin/figures.ts'
import { html } from '../../../web/markup.ts'
import { chart, formatNumber } from '../../chart.ts'
import { facts } from '../../parts.ts'
import { screen } from '../../screen.ts'
import { chartsOf, eventsSince, FIGURES_READ, periods } from './history.ts'

interface Answers {
  readonly figures: FiguresDocument
}

/** What a person looks at first, each with its events in the audit. */
const DANGERS = [
  ['token_reused', 'Refresh token reused', 'refresh-token.reused'],
  ['token_parted', 'Refresh token parted', 'refresh-token.parted'],
  ['code_replayed', 'Code replayed', 'code.replayed'],
  ['scope_refused', 'Scope refused', 'scope.refused'],
  ['sign_in_failed', 'Sign-in refused', 'sign-in.failed'],
] as const

/** What all processes counted in a period, as charts: those of the Overview, and the others. */
export const FIGURES = screen<Answers>({
  path: '/console/figures',
  section: 'overview',
  reads: { figures: FIGURES_READ },
  filters: ['period'],
  forms: [],
  names: () => ({}),
  view({ figures }, frame) {
    const { first, others } = chartsOf(figures)
    const [signIns, clients] = first
    const ordered = [signIns, ...others, clients].filter((one) => one !== undefined)
    return {
      title: 'All figures',
      main: html`<div class="heading">
          <h1>All figures</h1>
          ${periods(frame)}
        </div>
        <div class="columns">${ordered.map(chart)}</div>
        ${facts(
          DANGERS.map(([name, label, event]) => [
            label,
            html`${formatNumber(figures.totals.events[name] ?? 0)}
              <a href="${eventsSince(event, figures.since)}">Events</a>`,
          ]),
        )}
        <p class="hint">
          One event may count several attempts. Of the refused sign-ins, the audit has those with a wrong password or of
          a disabled account.
        </p>`,
    }
  },
})
