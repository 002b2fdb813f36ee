import type { Context } from '../../ports/context.ts'
import type { EnrolmentView } from '../../ports/pages/parts.ts'
import type { Outcome } from '../../ports/operations/index.ts'
import type { CausesMail } from '../../ports/operations/mail.ts'
import type { EnrolmentReason } from '../../ports/operations/second-factor.ts'
import type { SecondFactorRecord } from '../../ports/records/second-factor.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { isFromFuture } from '../../base/clock.ts'
import { labelUser } from '../../protocol/sign-in/account.ts'
import { base32, findStep, otpauthUri, secretName, TOTP_SECRET_BYTES } from '../../protocol/sign-in/totp.ts'
import { newRecoveryCodes } from './app.ts'

/** The fields of the form that sets an app up. */
export const ENROLMENT_FIELD = 'enrolment'
/** How long the person has to add the secret to an app, and to type its first code. */
const ENROLMENT_MS = 10 * 60 * 1000
const TIME_BYTES = 8

/** The setting up of an app that is not finished. It is in the form, encrypted, so nothing is stored. */
export interface Enrolment {
  readonly secret: Buffer
  /** The value of the field. */
  readonly text: string
}

/** Where an app is set up. Elsewhere its form is useless. */
export interface EnrolmentPlace {
  readonly user: UserRecord
  /** The session or the browser. */
  readonly place: string
}

/** Begins to set up an app, with a new secret. */
export function beginEnrolment({ clockCheck, encryption, random }: Context, where: EnrolmentPlace): Enrolment {
  const secret = random(TOTP_SECRET_BYTES)
  const madeAt = Buffer.alloc(TIME_BYTES)
  madeAt.writeBigUInt64BE(BigInt(clockCheck.now()))
  return { secret, text: encryption.encrypt(nameOf(where), Buffer.concat([madeAt, secret])) }
}

/** Opens the value of the form. undefined: it was made elsewhere, or too long ago. */
export function openEnrolment(
  { clockCheck, encryption }: Context,
  where: EnrolmentPlace,
  text: string,
): Enrolment | undefined {
  const plain = encryption.decrypt(nameOf(where), text)
  if (plain === undefined) return undefined
  const madeAt = Number(plain.readBigUInt64BE()) as EpochMs
  const now = clockCheck.now()
  if (after(madeAt, ENROLMENT_MS) <= now || isFromFuture(madeAt, now)) return undefined
  return { secret: plain.subarray(TIME_BYTES), text }
}

/** What the page shows of it: the address for the app, and the secret as people type it. */
export function viewEnrolment(serverName: string, { user }: EnrolmentPlace, { secret }: Enrolment): EnrolmentView {
  const key = (base32(secret).match(/.{1,4}/g) ?? []).join(' ')
  return { uri: otpauthUri(secret, serverName, labelUser(user)), key }
}

/** What became of the first code of an app. */
export type Enrolled =
  | { readonly kind: 'wrong' }
  | { readonly kind: Exclude<Outcome<'enableTotp'>, 'enabled'> }
  /** The recovery codes are shown once. */
  | { readonly kind: 'enabled'; readonly codes: readonly string[]; readonly createdAt: EpochMs }

/** Stores the app if its first code is right. The code is then used up. `replaces`: the app that the user has. */
export async function enrol(
  context: Context,
  { user: { id: userId } }: EnrolmentPlace,
  { secret }: Enrolment,
  {
    code,
    replaces,
    reason,
    mails,
  }: {
    readonly code: string
    readonly replaces: SecondFactorRecord | undefined
    readonly reason: EnrolmentReason
  } & CausesMail,
): Promise<Enrolled> {
  const now = context.clockCheck.now()
  const lastStep = findStep(secret, code, now)
  if (lastStep === undefined) return { kind: 'wrong' }
  const { codes, digests } = newRecoveryCodes(context, userId)
  const encrypted = context.encryption.encrypt(secretName(userId), secret)
  const outcome = await context.store.enableTotp({
    factor: { userId, secret: encrypted, lastStep, failures: 0, createdAt: now, usedAt: undefined },
    recoveryDigests: digests,
    replaces: replaces?.createdAt,
    reason,
    mails,
  })
  return outcome === 'enabled' ? { kind: 'enabled', codes, createdAt: now } : { kind: outcome }
}

function nameOf({ user, place }: EnrolmentPlace): string {
  return `enrolment ${user.id} ${place}`
}
