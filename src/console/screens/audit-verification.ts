import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { actions } from '../engine/buttons.ts'
import { chip, command } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, View } from '../engine/form.ts'

interface Report {
  readonly chains: number
  readonly links: number
  readonly events: number
  readonly faults: readonly { readonly what: string }[]
}

/** Of the faults, on the page: the command lists all. */
const FAULTS_SHOWN = 100
const TITLE = 'Verification of the audit'

const VERIFY: Form = {
  kind: 'report',
  task: 'audit.verify',
  shows: { view: (answer) => verified(answer as unknown as Report) },
  fields: [],
}

/** Whether the audit is as the server wrote it. It is a form, because it reads all of it: no link starts that. */
export const AUDIT_VERIFICATION = screen<object>({
  path: '/console/audit/verification',
  section: 'audit',
  reads: {},
  filters: [],
  forms: [VERIFY],
  names: () => ({}),
  view: (_, frame) => ({
    title: TITLE,
    main: html`<div class="heading"><h1>${TITLE}</h1></div>
      <div class="ask">
        <p>
          The audit is a chain: each link has a digest of the one before, which only this server can compute. The
          verification reads all of it and names each link that was changed or removed. It takes a while for a long
          audit.
        </p>
        ${actions(frame, frame.forms)}
        <p class="muted">To notice that the newest links were cut off, give the command a head that the log has:</p>
        <p>${command('grantor audit verify --head <chain>:<sequence>')}</p>
      </div>`,
  }),
})

function verified({ chains, links, events, faults }: Report): View {
  return {
    title: TITLE,
    main: html`<div class="ask result">
      <h1>${TITLE}</h1>
      <p>${verdict(faults.length)}</p>
      <p class="muted">${count(events, 'event')} in ${count(links, 'link')} of ${count(chains, 'chain')} were read.</p>
      ${faults.length === 0 ? undefined : listOf(faults)}
      <p><a class="button" href="/console/audit">Done</a></p>
    </div>`,
  }
}

function verdict(faults: number): Fragment {
  return faults === 0
    ? chip('Nothing was changed or removed.', 'good')
    : chip(`${count(faults, 'fault')}: events were changed or removed in the store.`, 'bad')
}

function listOf(faults: Report['faults']): Markup {
  const more = faults.length - FAULTS_SHOWN
  return html`<ul class="plain">
    ${faults.slice(0, FAULTS_SHOWN).map(({ what }) => html`<li>${what}</li>`)}
    ${more > 0 ? html`<li class="muted">and ${more} more: ${command('grantor audit verify')}</li>` : undefined}
  </ul>`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
