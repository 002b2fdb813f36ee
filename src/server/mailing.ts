import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { MAIL_LIMITS, openMailClient } from '../mail/sender.ts'
import type { ProbedServer } from '../checks/mail.ts'
import type { Mailing } from '../ports/mail.ts'
import { mintMailId, type Random } from '../protocol/ids.ts'
import { renderMail } from '../web/mail/mail.ts'
import type { Log } from './log.ts'

/** An answer is on its way by then. */
const AFTER_ANSWER_MS = 20

/** Opens the way to the mail server, as it is configured; undefined: mail is off. Nothing is connected yet. */
export function openMailing(
  { branding, issuer, mail }: Config,
  random: Random,
  logger: Pick<Log, 'error'>,
): Mailing | undefined {
  if (mail === undefined) return undefined
  const { send } = openMailClient(mail.server, mail.from, new URL(issuer).hostname, MAIL_LIMITS)
  const later = new Set<Promise<void>>()
  return {
    afterAnswer(work) {
      const done = wait(AFTER_ANSWER_MS)
        .then(work)
        .catch((cause: unknown) => logger.error({ event: 'mail.delivery-failed', err: cause }))
        .finally(() => later.delete(done))
      later.add(done)
    },
    async settled() {
      while (later.size > 0) await Promise.all(later)
    },
    send: (id, model, signal) => {
      return send({ id, to: model.address, ...renderMail(branding, model) }, signal)
    },
    test: (address) => {
      const model = { content: { kind: 'test' }, address, language: 'en' } as const
      const id = mintMailId(random)
      return send({ id, to: address, ...renderMail(branding, model) }, new AbortController().signal)
    },
  }
}

/** Whether the mail server would take a mail, for `grantor doctor`; undefined: mail is off. */
export async function probeMail({ issuer, mail }: Pick<Config, 'issuer' | 'mail'>): Promise<ProbedServer | undefined> {
  if (mail === undefined) return undefined
  const { host, port, login } = mail.server
  const { probe } = openMailClient(mail.server, mail.from, new URL(issuer).hostname, MAIL_LIMITS)
  return { host: `${host}:${port}`, hasLogin: login !== undefined, outcome: await probe() }
}
