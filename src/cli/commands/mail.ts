import { visible } from '../lib/columns.ts'
import { argumentOf } from '../lib/subjects.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

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
