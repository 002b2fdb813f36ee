import { after, secondsSince, type EpochMs } from '../../base/brand.ts'
import { PATHS } from '../../endpoints/paths.ts'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { Mailing, MailContent, SendOutcome } from '../../ports/mail.ts'
import type { MailRecord } from '../../ports/records/mail.ts'
import { digestEmailCode } from '../../protocol/sign-in/account.ts'
import { deriveLink, linkAddress } from '../../protocol/sign-in/link.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { sameText } from '../../protocol/secrets.ts'
import { findInvitingOrganization, findJoinedOrganization } from '../../users/inviting-organization.ts'
import { mailedCode } from '../../users/mails.ts'
import { isMakerThere } from '../../users/role.ts'
import type { Log } from '../log.ts'
import { openSender, startSending, type Sender } from './sender.ts'

/** Connections to the mail server. */
const AT_ONCE = 2
/** Another node does not send a mail again for this long. Longer than an exchange with the server may take. */
const LEASE_MS = 30_000
/** After an attempt that says nothing about its mail, such as a connection that fails, none is tried for this long. */
const HOLD_MS = 10_000
/** Seconds after each failed attempt. After the last one the mail is given up. */
const PAUSES_S = [30, 120, 600, 1800, 7200] as const

type Needs = Pick<Context, 'clock' | 'clockCheck' | 'issuer' | 'record' | 'secrets' | 'settings'> &
  StoreNeeds<'findAdminCredential' | 'findEmailCode' | 'findOrganization' | 'findRole' | 'findUser' | 'listLinks'> &
  StoreNeeds<'listDueMails' | 'listMemberships' | 'rescheduleMail' | 'settleMail'> & {
    readonly mail: Mailing
  }

/**
 * Opens the mailer of a node. A mail is in the store from its cause until the mail server has accepted it, so a crash loses none; a crash
 * between the acceptance and the store sends it a second time, with the same `Message-ID`. A node postpones a mail before it sends it, so
 * two nodes do not send it at the same time. No request waits for any of this.
 */
export function openMailer(context: Needs, logger: Pick<Log, 'error' | 'warn'>): Sender {
  const { clock, mail: mailing, store } = context
  const sending = new Set<Promise<void>>()
  const end = new AbortController()
  let heldUntil = 0 as EpochMs
  const sender = openSender(context, logger, end, { startDue, underWay: () => sending })

  async function startDue(): Promise<void> {
    while (!end.signal.aborted && sending.size < AT_ONCE && heldUntil <= clock()) {
      const due = await store.listDueMails({ now: clock(), limit: AT_ONCE - sending.size })
      if (due.length === 0) return
      await Promise.all(due.map(start))
    }
  }

  async function start(due: MailRecord): Promise<void> {
    if (due.expiresAt <= clock()) return settle(due, 'expired')
    if (due.attempts > PAUSES_S.length) return settle(due, 'interrupted')
    const claimed = { ...due, dueAt: after(clock(), LEASE_MS), attempts: due.attempts + 1 }
    // The next slice that is read must not have it.
    if ((await reschedule(due, claimed.dueAt, claimed.attempts)) === 'taken') return
    const work: Promise<void> = send(claimed)
      .then(
        () => true,
        (cause: unknown) => {
          logger.error({ event: 'mail.delivery-failed', user: due.userId, err: cause })
          return false
        },
      )
      .then((isComplete) => {
        sending.delete(work)
        // After a failure the next round looks: a store that refuses each write would be asked without a pause.
        if (isComplete) void sender.round()
      })
    sending.add(work)
  }

  async function send(claimed: MailRecord): Promise<void> {
    const content = await contentOf(context, claimed)
    if (content === undefined) return settle(claimed, 'void')
    const { id, address, language } = claimed
    const outcome = await mailing.send(id, { content, address, language }, end.signal)
    if (outcome.kind === 'accepted') return settle(claimed, undefined)
    if (end.signal.aborted) return void (await reschedule(claimed, clock(), claimed.attempts - 1))
    await retryLater(claimed, outcome)
  }

  async function retryLater(mail: MailRecord, failed: Extract<SendOutcome, { kind: 'failed' }>): Promise<void> {
    const { reason, isFinal, code } = failed
    if (!isFinal && reason !== 'deferred') heldUntil = after(clock(), HOLD_MS)
    const pause = isFinal ? undefined : PAUSES_S[mail.attempts - 1]
    if (pause === undefined) return settle(mail, reason, code)
    context.record({ event: 'mail.postponed', user: mail.userId, reason, description: describe(mail, code) })
    await reschedule(mail, after(clock(), pause * 1000), mail.attempts)
  }

  function reschedule(mail: MailRecord, until: EpochMs, attempts: number): Promise<'rescheduled' | 'taken'> {
    return store.rescheduleMail({ ...mail, until, attempts })
  }

  async function settle(mail: MailRecord, failure: string | undefined, code?: number): Promise<void> {
    const outcome = await store.settleMail({ ...mail, failure })
    if (outcome !== 'undelivered') return
    const description = describe(mail, code)
    context.record({ event: 'mail.undelivered', user: mail.userId, reason: failure, description })
  }

  return sender
}

/** The kind of mail, and the reply code of the server; never its text, which may have the address. */
function describe({ purpose }: MailRecord, code: number | undefined): string {
  return code === undefined ? purpose : `${purpose}, the mail server answered ${code}`
}

/**
 * What a mail says now. undefined: its link or code was used or replaced, has expired, ended with what its maker could do, or is void because
 * the master key was replaced after a leak.
 */
async function contentOf(context: Needs, mail: MailRecord): Promise<MailContent | undefined> {
  const { issuer, secrets, store } = context
  const { purpose, notice, agent, happenedAt, expiresAt } = mail
  const validSeconds = secondsSince(happenedAt, expiresAt)
  switch (purpose) {
    case 'invitation':
    case 'reset': {
      const { token, hash } = deriveLink(secrets, mail)
      const links = await store.listLinks(mail.userId)
      const link = links.find((one) => sameText(one.hash, hash))
      if (link === undefined || !(await isMakerThere(context, link))) return undefined
      const organization = purpose === 'invitation' ? await findInvitingOrganization(context, mail.userId) : undefined
      return { kind: purpose, link: linkAddress(issuer, token), validSeconds, organization }
    }
    case 'code': {
      const { userId, address: email } = mail
      const code = mailedCode(secrets, mail)
      const stored = await store.findEmailCode(userId)
      if (stored === undefined || !sameText(stored.digest, digestEmailCode(secrets, { userId, email }, code))) {
        return undefined
      }
      return { kind: 'code', code, validSeconds }
    }
    case 'notice': {
      if (notice === undefined) return undefined
      const joined = { userId: mail.userId, at: happenedAt }
      const organization = notice === 'organization-joined' ? await findJoinedOrganization(context, joined) : undefined
      const securityUri = addressOf(issuer, PATHS.accountSecurity)
      return { kind: 'notice', notice, organization, agent, happenedAt, securityUri }
    }
  }
}

/** Sends mail at intervals, on the node that holds the lease. Returns the function that stops this. */
export function startMailing(
  context: Needs,
  logger: Pick<Log, 'error' | 'warn'>,
  isHolder: () => boolean,
): () => Promise<void> {
  const mailer = openMailer(context, logger)
  return startSending({ ...mailer, close: () => context.mail.settled().then(mailer.close) }, isHolder)
}
