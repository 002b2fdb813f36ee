import type { ImportReason } from './reasons.ts'
import type { ImportedKind, SourceRecord } from './records.ts'
import { OUTCOMES, type ImportOutcome, type ReportLine } from './report.ts'

type Counts<Key extends string> = Readonly<Partial<Record<Key, number>>>

/** What an import did. */
export interface ImportCounts {
  readonly kinds: Readonly<Record<ImportedKind, Counts<ImportOutcome>>>
  readonly reasons: Counts<ImportReason>
  /** Attributes that were not taken, by their names there. */
  readonly dropped: Readonly<Record<string, number>>
  /** Users who keep an id that looks like a name. */
  readonly namedIds: number
  /** Of the files. */
  readonly sha256: string
  /** Accounts because of which an import would write nothing; 0 unless it is a dry run. */
  readonly lostFactors: number
}

/** Counts what an import does. */
export interface Tally {
  readonly add: (record: SourceRecord, noted: Pick<ReportLine, 'outcome' | 'reasons'>) => void
  readonly addUri: () => void
  readonly counts: () => Omit<ImportCounts, 'sha256' | 'lostFactors'>
  /** Each outcome over all kinds. */
  readonly outcomes: () => Readonly<Record<ImportOutcome, number>>
}

/** Names of attributes that are counted each. A file may have any. */
const NAMES_MOST = 50
/** An id that a program made: a number, or many hex digits, with names of systems before it. */
const MADE_ID = /^(?:[A-Za-z0-9]+[-|:_.])*(?:\d+|[0-9a-f]{8}[0-9a-f-]*|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]{15,})$/

export function openTally(): Tally {
  const kinds: Record<ImportedKind, Partial<Record<ImportOutcome, number>>> = {
    organization: {},
    group: {},
    user: {},
    client: {},
  }
  const reasons: Partial<Record<ImportReason, number>> = {}
  const dropped = new Map<string, number>()
  let namedIds = 0
  return {
    add({ kind, sourceId, dropped: names }, { outcome, reasons: noted }) {
      count(kinds[kind], outcome)
      for (const reason of noted) count(reasons, reason)
      for (const name of names) {
        const known = dropped.size < NAMES_MOST || dropped.has(name) ? name : 'others'
        dropped.set(known, (dropped.get(known) ?? 0) + 1)
      }
      const isKept = kind === 'user' && outcome !== 'refused' && !noted.includes('id_replaced')
      if (isKept && sourceId !== undefined && !MADE_ID.test(sourceId)) namedIds += 1
    },
    addUri: () => count(reasons, 'redirect_uri_refused'),
    counts: () => ({ kinds, reasons, dropped: Object.fromEntries(dropped), namedIds }),
    outcomes() {
      const sums = OUTCOMES.map((outcome) => {
        const all = Object.values(kinds).map((one) => one[outcome] ?? 0)
        return [outcome, all.reduce((sum, one) => sum + one, 0)]
      })
      return Object.fromEntries(sums) as Record<ImportOutcome, number>
    },
  }
}

function count<Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void {
  counts[key] = (counts[key] ?? 0) + 1
}
