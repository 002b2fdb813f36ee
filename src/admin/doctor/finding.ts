import type { IssuerProbe, StoreInspection } from '../../ports/inspection.ts'
import type { EpochMs } from '../../protocol/brand.ts'

/** The choices that the doctor has an opinion on. */
export interface NetworkChoices {
  readonly issuer: string
  readonly isLoopbackIssuer: boolean
  readonly host: string
  readonly port: number
  readonly trustedProxies: readonly string[]
  /** Where the administration listens; undefined: nowhere. */
  readonly admin: { readonly host: string; readonly port: number } | undefined
}

export interface KeyChoices {
  /** Seconds; 0: only by hand. */
  readonly keyRotation: number
}

/** Everything that was found out, without changing anything. */
export interface Examination {
  readonly choices: NetworkChoices & KeyChoices
  readonly store: StoreInspection
  readonly probe: IssuerProbe
  readonly now: EpochMs
}

/** One line of the doctor's report. */
export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** How to mend it; undefined where nothing is wrong. */
  readonly remedy: string | undefined
}

export function ok(check: string, message: string): Finding {
  return { check, verdict: 'ok', message, remedy: undefined }
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, verdict: 'warning', message, remedy }
}

export function failed(check: string, message: string, remedy: string): Finding {
  return { check, verdict: 'failed', message, remedy }
}
