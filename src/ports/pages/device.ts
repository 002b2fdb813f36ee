import type { AuthorizationErrorCode } from '../../protocol/authorization/response.ts'
import type { DeveloperNotes, HiddenFields } from './parts.ts'

/** A device that waits for the user, as the consent page shows it (decision 0039). */
export interface DeviceView {
  /** `BCDF-GHJK` */
  readonly userCode: string
  readonly askedSecondsAgo: number
  /** The network from which the device asked, and the box for it. undefined: that of the browser. */
  readonly elsewhere: { readonly network: string; readonly box: string; readonly isChecked: boolean } | undefined
}

/** Form with `code`, which the user reads from a device. */
export interface DeviceCodePage {
  readonly kind: 'device-code'
  readonly action: string
  readonly hidden: HiddenFields
  readonly problem: DeviceCodeProblem | undefined
}

export type DeviceCodeProblem =
  | { readonly kind: 'user-code-missing' }
  /** The same for a code that is wrong, used, or has expired. */
  | { readonly kind: 'user-code-wrong' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }

/** How the request of a device ended. The user goes on there. */
export interface DeviceEndPage {
  readonly kind: 'device-end'
  readonly end:
    | { readonly kind: 'connected'; /** Where the user can take it back. */ readonly appsUri: string }
    | { readonly kind: 'denied' }
    | { readonly kind: 'refused'; readonly problem: AuthorizationErrorCode; readonly notes: DeveloperNotes }
}
