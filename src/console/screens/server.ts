import type { ServerDocument } from '../../admin/server.ts'
import { code, html, type Fragment } from '../../web/markup.ts'
import { actions, formsFor } from '../engine/buttons.ts'
import { chip, exactTime, facts } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, View } from '../engine/form.ts'

interface Answers {
  readonly server: ServerDocument
}

interface Sent {
  readonly address: string
  readonly accepted: boolean
  readonly reason: string | null
  readonly answer: string
}

interface Confirmed {
  readonly time: string
  readonly decided_by: 'operator' | 'database'
}

const FORMS: readonly Form[] = [
  {
    kind: 'report',
    task: 'mail.test',
    fits: (server) => server['sends_mail'] === true,
    fields: ['address'],
    shows: { view: (answer) => result('Test mail', mailSentence(answer as unknown as Sent)) },
  },
  {
    kind: 'report',
    task: 'clock.confirm',
    fits: (server) => isClockOff(server as unknown as ServerDocument),
    shows: { view: (answer) => result('Clock', clockSentence(answer as unknown as Confirmed)) },
    fields: [],
  },
  {
    kind: 'create',
    task: 'token.revoke-all',
    fields: ['confirm'],
    leadsTo: () => '/console',
  },
]

/** What is of the whole server. */
export const SERVER = screen<Answers>({
  path: '/console/server',
  section: 'server',
  reads: { server: { task: 'server.show', input: () => ({}) } },
  filters: [],
  forms: FORMS,
  names: () => ({}),
  view({ server }, frame) {
    const final = formsFor(frame, '', server, true)
    return {
      title: 'Server',
      main: html`<div class="heading">
          <h1>Server</h1>
          ${actions(frame, formsFor(frame, '', server, false))}
        </div>
        ${facts([
          ['Version', server.version],
          ['Issuer', code(server.issuer)],
          [
            'Time',
            html`${exactTime(server.time)} ${isClockOff(server) ? chip('The clock differs', 'bad') : undefined}`,
          ],
          [
            'Mail',
            server.sends_mail
              ? 'a mail server is configured'
              : html`<span class="muted">none: GRANTOR_SMTP_URL names a mail server</span>`,
          ],
        ])}
        ${final.length === 0 ? undefined : html`<section>${actions(frame, final)}</section>`}`,
    }
  },
})

function isClockOff({ findings }: ServerDocument): boolean {
  return findings.some(({ check, verdict }) => check === 'clock' && verdict === 'failed')
}

/** What a task answered, with the way back. */
function result(title: string, sentence: Fragment): View {
  return {
    title,
    main: html`<div class="ask result">
      <h1>${title}</h1>
      <p>${sentence}</p>
      <p><a class="button" href="/console/server">Done</a></p>
    </div>`,
  }
}

function mailSentence({ address, accepted, reason, answer }: Sent): Fragment {
  const said = answer === '' ? undefined : html` It answered: ${code(answer)}`
  return accepted
    ? html`${chip('Accepted', 'good')} The mail server accepted a mail to <bdi>${address}</bdi>.${said}`
    : html`${chip('Not sent', 'bad')} No mail was sent to <bdi>${address}</bdi>: ${reason ?? 'unknown'}
        (docs/mail.md).${said}`
}

function clockSentence({ time: now, decided_by: by }: Confirmed): string {
  return by === 'database'
    ? `The clock of the database decides, so nothing was changed. By it, it is ${exactTime(now)}.`
    : `The server goes on with the clock of its machine. By it, it is ${exactTime(now)}.`
}
