import type { ClientRecord } from '../ports/records/client.ts'
import type { EpochMs } from '../base/brand.ts'

/**
 * What a user allowed before this time was for another client name or redirect host. In the millisecond of the change too: the page on
 * which the user pressed the button is older.
 */
export function consentableFrom({ identityFrom }: ClientRecord): EpochMs {
  return (identityFrom === undefined ? 0 : identityFrom + 1) as EpochMs
}

/**
 * Authorization requests from before this time were for another client name or redirect host. One of the same millisecond may be the
 * request that loaded the client's metadata document; its page is shown later, and names the client as it is then.
 */
export function requestableFrom({ identityFrom }: ClientRecord): EpochMs {
  return identityFrom ?? (0 as EpochMs)
}
