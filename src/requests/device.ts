import type { Context } from '../ports/context.ts'
import type { Destination } from '../ports/pages/parts.ts'
import type { AuthorizationRecord, DeviceRecord } from '../ports/records/authorization.ts'
import { formatUserCode, type UserCode } from '../protocol/authorization/user-code.ts'
import type { AuthorizationId } from '../protocol/ids.ts'
import { viewDestination } from '../clients/destination.ts'

/** Returns who gets the tokens of an authorization: what its redirect URI leads to, or a device. */
export function destinationOf({
  device,
  redirectUri,
}: Pick<AuthorizationRecord, 'device' | 'redirectUri'>): Destination {
  return device === undefined ? viewDestination(redirectUri) : { kind: 'device' }
}

/** A device that waits for the user of an authorization, as the user sees it. */
export interface WaitingDevice extends Pick<DeviceRecord, 'network' | 'createdAt' | 'authorizationId'> {
  /** `BCDF-GHJK` */
  readonly userCode: string
  readonly isSameNetwork: boolean
}

/** Encrypts the code that a user typed, for the pages of the authorization. */
export function encryptUserCode({ encryption }: Context, id: AuthorizationId, code: UserCode): string {
  return encryption.encrypt(nameOf(id), Buffer.from(code))
}

/** Finds the device of an authorization. undefined: no device waits for it, or the device has been forgotten. */
export async function findWaitingDevice(
  { encryption, store }: Context,
  { id, device }: Pick<AuthorizationRecord, 'id' | 'device'>,
): Promise<WaitingDevice | undefined> {
  if (device === undefined) return undefined
  const found = await store.findDevice(device.id)
  const code = encryption.decrypt(nameOf(id), device.userCode)?.toString() as UserCode | undefined
  if (found === undefined || code === undefined) return undefined
  const { network, createdAt, authorizationId } = found
  return { network, createdAt, authorizationId, userCode: formatUserCode(code), isSameNetwork: device.isSameNetwork }
}

function nameOf(id: AuthorizationId): string {
  return `user-code:${id}`
}
