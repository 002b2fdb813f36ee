import type { IssuerProbe, ReadinessProbe, StoreInspection } from '../ports/inspection.ts'
import type { Settings } from '../ports/context.ts'
import type { PolicySettings } from '../clients/evaluate-client.ts'
import type { EpochMs } from '../base/brand.ts'

/** The settings that the doctor checks. */
export interface NetworkChoices {
  readonly issuer: string
  /** Whether GRANTOR_ISSUER is set. */
  readonly isIssuerChosen: boolean
  readonly isLoopbackIssuer: boolean
  readonly host: string
  readonly port: number
  readonly trustedProxies: readonly string[]
  /** The address of the administration; undefined: it is off. */
  readonly admin: { readonly host: string; readonly port: number } | undefined
  /** The origin of the console; undefined: there is none. */
  readonly consoleUrl: string | undefined
}

export interface KeyChoices {
  /** In seconds; 0: keys are rotated manually. */
  readonly keyRotation: number
}

/** The bounds of clients that never got a token. */
export type PoolChoices = Pick<Settings, 'unusedClients'> & {
  readonly lifetimes: Pick<Settings['lifetimes'], 'unusedClient'>
}

/** The data of all checks, which were collected without changing anything. */
export interface Examination {
  readonly choices: NetworkChoices &
    KeyChoices &
    PolicySettings &
    PoolChoices &
    Pick<Settings, 'delegate' | 'grantTypes'>
  readonly store: StoreInspection
  readonly probe: IssuerProbe
  readonly readiness: ReadinessProbe
  /** As the node on this machine counted them; undefined when no node answers. */
  readonly forwards: ForwardCounts | undefined
  readonly now: EpochMs
}

/** Requests of a proxy on this machine that GRANTOR_TRUST_PROXY does not name, and of a trusted one that names no caller. */
export interface ForwardCounts {
  readonly ignored: number
  readonly missing: number
}

/** One line of the report. */
export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** How to fix the problem; undefined without a problem. */
  readonly remedy: string | undefined
  /** Where a person at the console fixes it; absent: on the machine of the server, or nowhere in the console. */
  readonly screen?: MendingScreen | undefined
}

/** A screen of the console, as a button names it. */
export interface MendingScreen {
  readonly path: string
  readonly label: string
}

export function ok(check: string, message: string): Finding {
  return { check, verdict: 'ok', message, remedy: undefined }
}

export function warning(check: string, message: string, remedy: string, screen?: MendingScreen): Finding {
  return { check, verdict: 'warning', message, remedy, screen }
}

export function failed(check: string, message: string, remedy: string, screen?: MendingScreen): Finding {
  return { check, verdict: 'failed', message, remedy, screen }
}
