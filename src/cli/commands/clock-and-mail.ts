import { formatTime, visible } from '../lib/columns.ts'
import { argumentOf } from '../lib/subjects.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor clock`. */
export const CLOCK_VERBS: readonly AddVerb[] = [
  taskVerb<{ readonly time: string; readonly decided_by: 'operator' | 'database' }>({
    task: 'clock.confirm',
    say: ({ time, decided_by }) =>
      decided_by === 'database'
        ? [
            `Nodes use the clock of the database, which shows ${formatTime(time)} UTC. Set the clocks of the nodes by NTP.`,
          ]
        : [
            `Confirmed the time ${formatTime(time)} UTC. A server that waited for this issues tokens again within two seconds, and`,
            'deletes what has expired by this clock.',
          ],
  }),
]

interface Sent {
  readonly address: string
  readonly accepted: boolean
  readonly reason: string | null
  readonly answer: string
}

/** The verbs of `grantor mail`. */
export const MAIL_VERBS: readonly AddVerb[] = [
  taskVerb<Sent>({
    task: 'mail.test',
    subjects: [argumentOf('mail.test', 'address')],
    say: ({ address, accepted, reason, answer }) => {
      const said = answer === '' ? '' : ` The answer: ${visible(answer)}`
      return accepted
        ? `The mail server accepted a mail to ${address}.${said}`
        : `No mail was sent to ${address}: ${reason} (docs/mail.md).${said}`
    },
    exitCode: ({ accepted }) => (accepted ? 0 : 1),
  }),
]
