import type { BatchReport, QueueDepth, StoreObserver } from '../ports/observers.ts'
import type { Operation, OperationName, Outcome } from '../ports/operations/index.ts'
import type { SweepPlace, Swept, SweptSlice } from '../ports/operations/server.ts'
import type { OperationResult } from '../ports/store.ts'
import { APPLICATION, type Authentication } from '../protocol/sign-in/authentication.ts'
import { HASH_FORMATS } from '../protocol/sign-in/password-formats.ts'
import {
  counterSamples,
  histogramSample,
  histogramSamples,
  newHistogram,
  observe,
  openSeries,
  type Counter,
} from './counters.ts'
import { SECONDS, SIZES, type Sample } from './families.ts'

/** Operations whose outcome is an arbitrary text, which must not become a label. A new one does not compile until it is listed. */
const ANY_TEXT: {
  readonly [Name in OperationName as string extends Outcome<Name> ? Name : never]: true
} = { insertSettingOnce: true }

/** Operations whose outcome is an object with a `kind`, which is the label. A new one does not compile until it is listed. */
const OF_A_KIND: {
  readonly [Name in OperationName as Outcome<Name> extends { readonly kind: string } ? Name : never]: true
} = { rotateRefreshToken: true, setGroupsOfSource: true, startSession: true, useRecoveryCode: true }

/** The text that an outcome is counted under: the outcome itself, or the `kind` of an outcome that is an object. */
type LabelOf<Name extends OperationName> =
  Outcome<Name> extends infer One
    ? One extends string
      ? One
      : One extends { readonly kind: infer Kind }
        ? Kind
        : never
    : never

/**
 * Operations with a series that starts at zero (`true`), because an alert sees only changes of a series. All outcomes of every
 * operation are counted; the others start with their first count. A new outcome of one of these operations does not compile
 * until it has an answer here.
 */
const STARTS_AT_ZERO = {
  redeemCode: { redeemed: true, replayed: true, spent: false, unknown: false },
  burnCode: { burned: true, spent: false },
  rotateRefreshToken: {
    rotated: true,
    repeated: false,
    earlier: false,
    parted: true,
    held: false,
    reused: true,
    inactive: false,
  },
  registerClient: { registered: true },
  revokeGrant: { revoked: true, known: false, unknown: false },
  revokeToken: { revoked: true, known: false },
  useTotp: { accepted: true, 'used-before': false, wrong: true, locked: true, none: false },
  settleMail: { sent: true, void: false, undelivered: true, taken: false },
  settleLogoutNotice: { delivered: true, undelivered: true, taken: false },
} as const satisfies { readonly [Name in OperationName]?: { readonly [Label in LabelOf<Name> & string]: boolean } }

/** What a sweep counts and does not remove. */
type NotRemoved = 'authorizationsExamined' | 'logoutNoticesEnded'

/** The members of a sweep's outcome that are numbers of removed rows. */
const SWEPT: { readonly [Kind in Exclude<keyof Swept, keyof SweepPlace | NotRemoved>]: true } = {
  authorizations: true,
  sessions: true,
  links: true,
  emailCodes: true,
  groupMembers: true,
  interactions: true,
  pushedRequests: true,
  devices: true,
  identityProofs: true,
  clients: true,
  hits: true,
  revokedTokens: true,
  opaqueTokens: true,
  consumed: true,
  initialTokens: true,
  mails: true,
  logoutNotices: true,
  registrationCounts: true,
  auditLinks: true,
  figures: true,
}

const SWEPT_KINDS = Object.keys(SWEPT) as readonly (keyof typeof SWEPT)[]
/** Each is deleted by an operation of its own. */
const IDLE_CLIENTS = 'idleClients'
/** The operations that examine the rows of a table, with what they remove. */
const EXAMINED: { readonly [Name in OperationName as Outcome<Name> extends SweptSlice ? Name : never]: string } = {
  sweepGrants: 'grants',
  sweepConsents: 'consents',
}

export interface StoreCounters {
  readonly observer: Omit<StoreObserver, 'mark'>
  readonly samples: () => readonly Sample[]
}

/** Counts the operations, batches and rejections of the store. */
export function openStoreCounters(): StoreCounters {
  const operations = openSeries<Counter>(2, newCounter)
  const swept = openSeries<Counter>(1, newCounter)
  const signIns = openSeries<Counter>(1, newCounter)
  const refused = openSeries<Counter>(1, newCounter)
  const upgrades = openSeries<Counter>(1, newCounter)
  const commits = openSeries(1, () => newHistogram(SECONDS))
  const sizes = newHistogram(SIZES)
  const waits = newHistogram(SECONDS)
  let depth: () => QueueDepth = () => ({ waiting: 0, inFlight: 0 })
  for (const kind of [...SWEPT_KINDS, ...Object.values(EXAMINED), IDLE_CLIENTS]) swept.at(kind)
  for (const [name, outcomes] of Object.entries(STARTS_AT_ZERO))
    for (const [outcome, startsAtZero] of Object.entries(outcomes)) if (startsAtZero) operations.at(name, outcome)
  for (const method of ['password', 'passkey', 'provider', 'application']) signIns.at(method)
  for (const reason of ['full', 'late']) refused.at(reason)
  for (const format of HASH_FORMATS) upgrades.at(format)
  for (const outcome of ['done', 'failed']) commits.at(outcome)

  function count({ name, input }: Operation, result: OperationResult | undefined): void {
    const outcome = outcomeOf(name, result)
    operations.at(name, outcome).value += 1
    if (name === 'sweepExpired' && result?.kind === 'done') countSwept(result.outcome as Swept)
    if (name in EXAMINED && result?.kind === 'done')
      swept.at(EXAMINED[name as keyof typeof EXAMINED]).value += (result.outcome as SweptSlice).removed
    if (name === 'purgeClient' && outcome === 'deleted' && input.filter.idleAt !== undefined)
      swept.at(IDLE_CLIENTS).value += 1
    if (name === 'startSession' && outcome === 'started') signIns.at(methodOf(input.session.authentication)).value += 1
    if (name === 'upgradePassword' && outcome === 'changed') upgrades.at(input.format).value += 1
  }

  function countSwept(rows: Swept): void {
    for (const kind of SWEPT_KINDS) swept.at(kind).value += rows[kind]
  }

  return {
    observer: {
      opened: (ask) => void (depth = ask),
      refused: (reason, many) => void (refused.at(reason).value += many),
      committed({ batch, results, startedAt, endedAt }: BatchReport) {
        observe(sizes, batch.length)
        observe(waits, (startedAt - (batch[0]?.since ?? startedAt)) / 1000)
        observe(commits.at(results === undefined ? 'failed' : 'done'), (endedAt - startedAt) / 1000)
        batch.forEach(({ asked }, place) => count(asked, results?.[place]))
      },
    },
    samples() {
      const { waiting, inFlight } = depth()
      return [
        ...counterSamples('grantor_store_operations_total', operations),
        ...counterSamples('grantor_swept_rows_total', swept),
        ...counterSamples('grantor_store_refused_total', refused),
        ...counterSamples('grantor_password_upgrades_total', upgrades),
        ...counterSamples('grantor_sign_ins_total', signIns),
        ...histogramSamples('grantor_store_commit_seconds', commits),
        histogramSample('grantor_store_batch_operations', sizes),
        histogramSample('grantor_store_wait_seconds', waits),
        { name: 'grantor_store_waiting', labels: [], value: waiting },
        { name: 'grantor_store_batches_in_flight', labels: [], value: inFlight },
      ]
    },
  }
}

/** Returns the outcome of an operation as a label; `failed` when the operation failed or its outcome is unknown. */
function outcomeOf(name: OperationName, result: OperationResult | undefined): string {
  if (result?.kind !== 'done') return 'failed'
  const { outcome } = result
  if (typeof outcome === 'string') return name in ANY_TEXT ? 'done' : outcome
  return name in OF_A_KIND ? (outcome as Outcome<keyof typeof OF_A_KIND>).kind : 'done'
}

/** How a user authenticated first: the second step is not a method of its own. */
function methodOf({ methods, providerId }: Pick<Authentication, 'methods' | 'providerId'>): string {
  if (providerId !== undefined && providerId !== APPLICATION) return 'provider'
  if (methods.includes('fed')) return 'application'
  return methods.includes('pwd') ? 'password' : 'passkey'
}

function newCounter(): Counter {
  return { value: 0 }
}
