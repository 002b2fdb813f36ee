import {
  findNoticeTarget,
  sendNotice,
  type NoticeNeeds,
  type NoticeTarget,
} from '../../endpoints/openid/logout-notice.ts'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import { NOTICES_AT_ONCE, type NoticeOutcome } from '../../ports/outbound.ts'
import type { DueNotice, LogoutNoticeRecord } from '../../ports/records/logout-notice.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import type { ClientId } from '../../protocol/ids.ts'
import type { Log } from '../log.ts'
import { openSender, type Sender } from './sender.ts'

/** Notices that are read at once. */
const SLICE = 100
/** Another node does not send a notice again for this long. Longer than a request and its answer may take. */
const LEASE_MS = 30_000
/**
 * Notices to a host that cannot be reached, to a client whose endpoint did not answer or failed, and to hosts for which too many wait, are
 * not looked at for this long.
 */
const HOLD_MS = 30_000
/** Less than the interval of the rounds. A host whose answer takes longer is slow. */
const SLOW_MS = 800
/** How long a slow host is remembered, unless an answer of it comes sooner than that. */
const SLOW_MEMORY_MS = 600_000
/** Slow hosts together have at most so many requests at a time. */
const SLOW_AT_ONCE = NOTICES_AT_ONCE.total / 2
/** Seconds after each failed attempt. After the last one the notice is given up: after 21 hours. */
const PAUSES_S = [10, 60, 300, 1800, 7200, 21_600, 43_200] as const
/** Clients that a round leaves out because their hosts are busy. The statement that lists the others takes longer with each of them. */
const LEFT_OUT = 100
/** The reasons that are of a host, and not of one client at it. */
const OF_HOST: readonly NoticeReason[] = ['connection-failed', 'name-unresolved']

type NoticeReason = Exclude<NoticeOutcome, { readonly kind: 'acknowledged' }>['reason']

type Needs = NoticeNeeds &
  Pick<Context, 'clock' | 'record'> &
  StoreNeeds<'listDueLogoutNotices' | 'rescheduleLogoutNotice' | 'settleLogoutNotice'>

interface Host {
  active: number
  heldUntil: EpochMs
  /** Until then the host is one of the slow ones. */
  slowUntil: EpochMs
}

/** A request that is under way, or waits for the store. */
interface Attempt {
  readonly host: Host
  /** undefined: the store has not stored the attempt yet. */
  sentAt: EpochMs | undefined
  /** Ends the request, as if its time were over. */
  readonly giveUp: AbortController
}

type Due = LogoutNoticeRecord & DueNotice

/**
 * Opens the notifier of a node. A notice is in the store from the user's approval until it is delivered, so a crash loses none. A node
 * postpones a notice before it sends it, so two nodes do not send it at the same time.
 *
 * A host has at most two requests at a time, and none for a while after it could not be reached. A client has none for a while after its
 * endpoint did not answer or failed: others may have the same host (LO-24). First attempts go before repeated ones, and what was postponed
 * goes after what was not. So a host that never answers does not delay the notices to others,
 * however many are due for it (threats.md LO-11, LO-22). Nor do many hosts of one attacker (LO-23): hosts that were slow share half of
 * the requests, and when all are under way, those that have waited for a while are given up.
 */
export function openLogoutNotifier(context: Needs, logger: Pick<Log, 'error' | 'warn'>): Sender {
  const { clock, store } = context
  const hosts = new Map<string, Host>()
  /** Until when no notice is sent to a client. */
  const heldClients = new Map<ClientId, EpochMs>()
  const sending = new Map<Attempt, Promise<void>>()
  const end = new AbortController()
  const sender = openSender(context, logger, end, { startDue, underWay: () => sending.values() })
  let isMoreDue = false
  let isWholeRoundDue = false

  function round(): Promise<void> {
    isWholeRoundDue = true
    return sender.round()
  }

  /** Between whole rounds only the first slice is looked at: reading past thousands of notices to a busy host takes long. */
  async function startDue(): Promise<void> {
    const leftOut = new Map<ClientId, Due>()
    const isWhole = isWholeRoundDue
    isWholeRoundDue = false
    for (const [name, { active: own, heldUntil, slowUntil }] of hosts)
      if (own === 0 && heldUntil <= clock() && slowUntil <= clock()) hosts.delete(name)
    for (const [client, heldUntil] of heldClients) if (heldUntil <= clock()) heldClients.delete(client)
    if (isWhole && isFull()) await giveUpSlow()
    // If all are under way, nothing is read now, and the first that completes looks.
    isMoreDue = isFull()
    while (!end.signal.aborted && !isFull()) {
      const due = await store.listDueLogoutNotices({ now: clock(), limit: SLICE, except: [...leftOut.keys()] })
      await Promise.all(due.map((notice) => start(notice, leftOut)))
      if (due.length < SLICE) return
      if (!isWhole) return void (isMoreDue = true)
      if (leftOut.size >= LEFT_OUT) {
        await Promise.all(leftOut.values().map((notice) => postpone(notice, after(clock(), HOLD_MS))))
        return
      }
    }
  }

  /** The clients that have not answered are held, and their hosts are slow, so the next requests are to others. */
  async function giveUpSlow(): Promise<void> {
    const slow = [...sending].filter(([{ sentAt }]) => sentAt !== undefined && after(sentAt, SLOW_MS) <= clock())
    for (const [{ giveUp }] of slow) giveUp.abort()
    await Promise.all(slow.map(([, work]) => work))
  }

  /** Starts to send a notice. If its host or its client is held, it is postponed; if its host is busy, its client is left out of this round. */
  async function start(notice: Due, leftOut: Map<ClientId, Due>): Promise<void> {
    const target = await findNoticeTarget(context, notice)
    if (target === undefined) return settle(notice, 'client-not-notified')
    if (notice.attempts > PAUSES_S.length) return settle(notice, 'interrupted')
    const host = hostOf(target)
    const heldUntil = Math.max(host.heldUntil, heldClients.get(notice.clientId) ?? 0) as EpochMs
    if (heldUntil > clock()) return postpone(notice, heldUntil)
    if (host.active >= NOTICES_AT_ONCE.perHost || (isSlow(host) && activeSlow() >= SLOW_AT_ONCE)) {
      isMoreDue = true
      leftOut.set(notice.clientId, notice)
      return
    }
    if (isFull()) return void (isMoreDue = true)
    host.active += 1
    const claimed = { ...notice, dueAt: after(clock(), LEASE_MS), attempts: notice.attempts + 1 }
    const claim = reschedule(notice, claimed.dueAt, claimed.attempts)
    const attempt: Attempt = { host, sentAt: undefined, giveUp: new AbortController() }
    const work = claim
      .then((outcome) => (outcome === 'taken' ? undefined : send(claimed, target, attempt)))
      .then(
        () => true,
        (cause: unknown) => {
          logger.error({ event: 'logout.delivery-failed', client: notice.clientId, err: cause })
          return false
        },
      )
      .then((isComplete) => {
        host.active -= 1
        sending.delete(attempt)
        // After a failure the next round looks: a store that refuses each write would be asked without a pause.
        if (isComplete && isMoreDue) void sender.round()
      })
    sending.set(attempt, work)
    // The next slice that is read must not have it.
    await claim
  }

  function isFull(): boolean {
    return sending.size >= NOTICES_AT_ONCE.total
  }

  function isSlow({ slowUntil }: Host): boolean {
    return slowUntil > clock()
  }

  function activeSlow(): number {
    return [...sending.keys()].filter(({ host }) => isSlow(host)).length
  }

  async function send(claimed: Due, target: NoticeTarget, attempt: Attempt): Promise<void> {
    const { host, giveUp } = attempt
    const sentAt = (attempt.sentAt = clock())
    const sent = await sendNotice(context, target, claimed, AbortSignal.any([end.signal, giveUp.signal]))
    const isLate = after(sentAt, SLOW_MS) <= clock()
    host.slowUntil = isLate ? after(clock(), SLOW_MEMORY_MS) : (0 as EpochMs)
    if (sent.kind === 'acknowledged') return settle(claimed, undefined)
    if (end.signal.aborted) return void (await reschedule(claimed, clock(), claimed.attempts - 1))
    // The host was not asked, so this was no attempt.
    if (sent.kind === 'limited')
      return void (await reschedule(claimed, after(clock(), sent.retryAfterSeconds * 1000), claimed.attempts - 1))
    if (OF_HOST.includes(sent.reason)) host.heldUntil = after(clock(), HOLD_MS)
    else if (sent.kind === 'unreachable') heldClients.set(claimed.clientId, after(clock(), HOLD_MS))
    await retryLater(claimed, sent)
  }

  async function retryLater(
    notice: Due,
    { reason, detail: description }: Exclude<NoticeOutcome, { readonly kind: 'acknowledged' }>,
  ): Promise<void> {
    const pause = PAUSES_S[notice.attempts - 1]
    const event = pause === undefined ? 'logout.undelivered' : 'logout.postponed'
    context.record({ event, client: notice.clientId, reason, description })
    if (pause === undefined) return settle(notice, reason)
    await reschedule(notice, after(clock(), pause * 1000), notice.attempts)
  }

  /** It does not count as an attempt. */
  async function postpone(notice: Due, until: EpochMs): Promise<void> {
    await reschedule(notice, until, notice.attempts)
  }

  function reschedule(notice: Due, until: EpochMs, attempts: number): Promise<'rescheduled' | 'taken'> {
    return store.rescheduleLogoutNotice({ ...notice, until, attempts })
  }

  async function settle(notice: Due, failure: string | undefined): Promise<void> {
    await store.settleLogoutNotice({ ...notice, failure })
  }

  function hostOf({ uri }: NoticeTarget): Host {
    const name = new URL(uri).host
    const host = hosts.get(name) ?? { active: 0, heldUntil: 0 as EpochMs, slowUntil: 0 as EpochMs }
    hosts.set(name, host)
    return host
  }

  return { ...sender, round }
}
