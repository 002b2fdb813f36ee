import type { EpochMs } from '../../base/brand.ts'
import type { AuditEvent } from '../records/audit.ts'
import type { FigureKey, FigureRecord, FigureSpan } from '../records/figures.ts'
import type { ClockNote } from '../../base/clock.ts'
import type { AdminCredentialRecord } from '../records/admin.ts'
import type { AdminCredentialId, AuthorizationId } from '../../protocol/ids.ts'
import type { KeyRecord } from '../records/key.ts'

/** The operations on what the server keeps for itself, and its administrators, each as `[input, outcome]`. The rules of index.ts apply. */
export interface ServerOperations {
  /** Counts `by` attempts in a fixed window. The count is exact, so that parallel attempts cannot pass a limit. */
  countHit: [hit: Hit, outcome: HitCount]
  /** Takes attempts off the count, because they turned out not to be failures. */
  forgiveHit: [hit: Hit, outcome: 'forgiven']
  /** Adds an event to the audit that belongs to no other operation. */
  recordEvent: [event: AuditEvent, outcome: 'recorded']
  /** Removes what has expired and an index finds, at most `limit` rows of each kind. Returns how many rows of each. */
  sweepExpired: [sweep: Sweep, outcome: Swept]
  /** Examines a slice of the grants, and removes those that are over. */
  sweepGrants: [slice: GrantSlice, outcome: SweptSlice]
  /** Examines a slice of the consents, and removes those whose client does not exist. */
  sweepConsents: [slice: SweepSlice, outcome: SweptSlice]
  /** Replaces this node's record of the time (`findClockNotes`). */
  noteClock: [note: ClockNote, outcome: 'noted']
  /** Records that the operator confirmed the clock, which shows `now`. A later confirmation replaces an earlier one. */
  confirmClock: [confirmation: { readonly now: EpochMs }, outcome: 'confirmed']
  /**
   * Stores a setting of the store unless it has a value. Returns the stored value, which is the same for all nodes that
   * start at the same time.
   */
  insertSettingOnce: [setting: { readonly name: string; readonly value: string }, outcome: string]
  /** Replaces a setting of the store that the operator decides or causes, or that a node noticed. */
  replaceSetting: [setting: StoredSetting, outcome: 'replaced']
  /**
   * Replaces the setting with the formats of password hashes that other systems have made (`ForeignFormats`), if it still is `previous`;
   * undefined: it has never been set.
   */
  setPasswordFormats: [
    change: { readonly previous: string | undefined; readonly value: string },
    outcome: 'changed' | 'conflict',
  ]
  /**
   * Writes what a process counted, in the place of what it had counted in the same span before. `superseded`: the store has later counts, or
   * a sweep has merged the row.
   */
  writeFigures: [record: FigureRecord, outcome: 'written' | 'superseded']
  /**
   * Adds a row that its process writes no more to the one of all processes, and removes it. `unknown`: that was done before, or the row was
   * never written.
   */
  mergeFigures: [key: FigureKey, outcome: 'merged' | 'unknown']
  /**
   * Replaces what a set of `grantor apply` has (`apply.ts` of the tasks), if it still is `previous`; undefined: there is no such set. `value`
   * undefined: the set ends. `finished`: the run of the set ends with it.
   */
  recordApplied: [change: AppliedChange, outcome: 'changed' | 'conflict']
  /** Takes a lease, or keeps it, if its mark is still `previous`; undefined: it has none. `mark` has never been one before. */
  takeLease: [
    taking: { readonly name: string; readonly previous: string | undefined; readonly mark: string },
    outcome: 'taken' | 'missed',
  ]
  /** Gives a lease up, if its mark is still this one. */
  releaseLease: [release: { readonly name: string; readonly mark: string }, outcome: 'released' | 'missed']
  /** Begins a new era of the store, and ends everything that a store that went back could revive, if it is to. */
  beginEra: [beginning: EraBeginning, outcome: 'begun']
  /** Creates an administrator's credentials. `unknown`: their organization was deleted meanwhile. */
  createAdminCredential: [credential: AdminCredentialRecord, outcome: 'created' | 'unknown']
  /** Revokes an administrator's credentials. */
  revokeAdminCredential: [
    change: { readonly id: AdminCredentialId; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
}

/** What a set of `grantor apply` had and has now. */
export interface AppliedChange {
  readonly set: string
  readonly previous: string | undefined
  readonly value: string | undefined
  readonly finished: AppliedCounts | undefined
}

/** What a run of `grantor apply` did. `complete`: no task failed. */
export interface AppliedCounts {
  readonly created: number
  readonly updated: number
  readonly deleted: number
  readonly complete: boolean
}

/** A new era of the store (base/store-place.ts). */
export interface EraBeginning {
  /** Its id, which no other era has. */
  readonly era: string
  readonly now: EpochMs
  /** Why: a backup was restored, or the operator answered for a store that came back by other means. */
  readonly reason: 'restored' | 'ended' | 'nothing-lost'
  /**
   * With the reason `ended`: everything that the store could revive ends, as with a restore, and these keys replace all signing keys.
   * undefined: nothing ends.
   */
  readonly ending: { readonly keys: readonly KeyRecord[] } | undefined
}

export interface Hit {
  readonly bucket: string
  readonly now: EpochMs
  readonly windowMs: number
  /** The number of attempts. */
  readonly by: number
}

/** Buckets whose counts are read, in the window of `now`. */
export interface CountedHits extends Pick<Hit, 'now' | 'windowMs'> {
  readonly buckets: readonly string[]
}

/** How many attempts were counted in a window. */
export interface HitCount {
  readonly count: number
  readonly windowEndsAt: EpochMs
}

/** Where the last slice ended. */
export interface SweepPlace {
  /** '' at first. It remains at the end of the table: an expired authorization is examined once, because it no longer changes. */
  readonly authorizationsAfter: AuthorizationId | ''
  /**
   * How far each kind of rows was removed that an index finds, by kind; absent: from the oldest on. Rows that come later with an earlier time
   * are removed after the next beginning.
   */
  readonly removedTo: Readonly<Record<string, string | number>>
}

export interface Sweep extends SweepPlace {
  readonly now: EpochMs
  readonly limit: number
  /** Revocations are removed if their token expired before this time. */
  readonly revocationsBefore: EpochMs
  /** Clients are removed if they were registered before this time and never got a token (decision 0021). */
  readonly unusedSince: EpochMs
  /** If more of them registered since then, the oldest are removed too, however old they are (decision 0021). */
  readonly unusedClients: number
  /** But none that was registered at this time or later. */
  readonly evictedBefore: EpochMs
  /** Authorizations from before this time are removed if their code has expired and was not redeemed. */
  readonly authorizationsBefore: EpochMs
  /**
   * Authorizations from before this time are removed if their code was redeemed. Until then a replay of the code is
   * detected.
   */
  readonly evidenceBefore: EpochMs
  /** Initial access tokens that expired before this time are removed. */
  readonly initialTokensBefore: EpochMs
  /** Notices are removed if their session expired before this time, whether they are due or not. */
  readonly logoutNoticesBefore: EpochMs
  /** Links of the audit from before this time are removed. */
  readonly auditBefore: EpochMs
  /** Figures of a span that began before its time are removed. */
  readonly figuresBefore: Readonly<Record<FigureSpan, EpochMs>>
  /** Those that processes left of spans that began before this time are merged. */
  readonly figuresLeftBefore: EpochMs
}

export interface Swept extends SweepPlace {
  readonly authorizations: number
  /** How many were examined. If this equals the limit, there are more. */
  readonly authorizationsExamined: number
  readonly sessions: number
  readonly links: number
  readonly emailCodes: number
  readonly groupMembers: number
  readonly interactions: number
  readonly pushedRequests: number
  readonly devices: number
  readonly identityProofs: number
  readonly clients: number
  readonly hits: number
  readonly revokedTokens: number
  readonly opaqueTokens: number
  readonly consumed: number
  readonly initialTokens: number
  readonly mails: number
  readonly logoutNotices: number
  /** Notices that are due from now on, because all sessions of the server were revoked. */
  readonly logoutNoticesEnded: number
  readonly registrationCounts: number
  readonly auditLinks: number
  readonly figures: number
}

/** A slice of a table that is examined in the order of its key (records/sweep-rounds.ts). */
export interface SweepSlice {
  /** Where the previous slice ended; '' at first. */
  readonly after: string
  readonly limit: number
}

export interface GrantSlice extends SweepSlice {
  readonly now: EpochMs
  /** Codes of authorizations from before this time have expired, so that the grants of these codes may be removed. */
  readonly before: EpochMs
}

export interface SweptSlice {
  readonly removed: number
  readonly examined: number
  /** Where the next slice starts; '' if this one reached the end. */
  readonly next: string
}

/**
 * A setting of the store that is replaced. `last-backup`: milliseconds. `went-back`: the era whose store went back (`StorePlace`).
 * `row-counts`: a `RowCountsRecord` as JSON. `sweep-rounds`: a `SweepRoundsRecord`.
 */
export interface StoredSetting {
  readonly name: 'issuer' | 'last-backup' | 'row-counts' | 'sweep-rounds' | 'went-back'
  readonly value: string
}
