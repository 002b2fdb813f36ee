import type { SendOutcome } from '../ports/mail.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClientInspection } from '../ports/inspection.ts'
import { failed, ok, warning, type Finding } from './finding.ts'

/** What the mail server answered. */
export interface ProbedServer {
  readonly host: string
  readonly hasLogin: boolean
  readonly outcome: SendOutcome
}

const CHECK = 'mail'
/** A node looks each second, and two mails at a time take a few seconds. */
const LATE_MS = 10 * 60 * 1000

/** Reports whether the mail server would take a mail, and mails that no node sends. `probed`: undefined: mail is off. */
export function checkMail(
  probed: ProbedServer | undefined,
  dueAt: ClientInspection['mailDueAt'],
  now: EpochMs,
): readonly Finding[] {
  const minutes = dueAt === undefined ? 0 : Math.floor((now - dueAt) / 60_000)
  const late =
    dueAt === undefined || now - dueAt < LATE_MS
      ? []
      : [
          warning(
            CHECK,
            `A mail has been due for ${minutes} minutes, and no node has sent it.`,
            'Start the server, with the same settings of mail on all nodes. While its clock differs, or the mail server cannot be reached, a node sends nothing.',
          ),
        ]
  return probed === undefined ? late : [findingOf(probed), ...late]
}

function findingOf({ host, hasLogin, outcome }: ProbedServer): Finding {
  if (outcome.kind === 'accepted')
    return ok(CHECK, `${host} can be reached${hasLogin ? ', and accepts the login' : ''}.`)
  const { reason, answer } = outcome
  const said = answer === '' ? '' : `: ${answer}`
  return failed(
    CHECK,
    `No mail can be sent by ${host} (${reason})${said}.`,
    'Compare GRANTOR_SMTP_URL with what the mail server expects (docs/mail.md). Then run: grantor mail test <address>',
  )
}
