import assert from 'node:assert/strict'
import type { Context } from '../../../ports/context.ts'
import type { Request } from '../../../ports/message.ts'
import type { ForgottenPasskey, PasskeyCeremony } from '../../../ports/pages/parts.ts'
import type { PasskeyRefusal, RegisteredPasskey } from '../../../ports/passkeys.ts'
import type { PasskeyRecord } from '../../../ports/records/passkey.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import { labelUser } from '../../../protocol/sign-in/account.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { parseUserId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import {
  passkeyIdOf,
  readClientData,
  readPasskeyField,
  rpIdOf,
  type ClientDataExpectation,
  type ReadClientData,
} from '../../../protocol/sign-in/passkey.ts'
import { isLiveSince } from '../../../tokens/invalid-principal.ts'
import { openSealed, seal, type Opened, type Seal } from '../../sealed.ts'
import { noticesOf, rareNoticesOf } from '../../../users/mails.ts'

/** What a challenge is for, and where. `bound`: such as the target of the sign-in, or the user and the session that add a passkey. */
export interface Ceremony {
  readonly browserHash: SecretHash
  readonly purpose: 'sign-in' | 'second-step' | 'add'
  readonly bound: readonly string[]
}

/** The first check that an answer of a browser fails, for the log. */
export type FailedCheck =
  | Extract<ReadClientData, { readonly kind: 'refused' }>['check']
  | PasskeyRefusal['check']
  | 'fields'
  | 'challenge'
  | 'user'
  | 'repeated'

/** `passkey-unknown`: the signature may be right, and the passkey is of no user here. It may be one of another program of the host. */
export type RefusedPasskey =
  | { readonly kind: 'refused'; readonly reason: 'passkey-invalid'; readonly check: FailedCheck }
  | { readonly kind: 'refused'; readonly reason: 'passkey-unknown' }

/** A user whose passkey has signed, and the passkey as it was before. */
export interface Signed {
  readonly kind: 'signed'
  readonly user: UserRecord
  readonly passkey: PasskeyRecord
}

/** What the page asks the browser for at a sign-in. `passkeys`: those that may answer; undefined: any of this server. */
export function askToSign(
  context: Context,
  ceremony: Ceremony,
  passkeys: readonly PasskeyRecord[] | undefined,
): PasskeyCeremony {
  return {
    kind: 'get',
    challenge: mintChallenge(context, ceremony),
    rpId: requireRpId(context),
    credentials: (passkeys ?? []).map(({ credentialId }) => credentialId),
  }
}

/**
 * Lets the browser forget a passkey that its user has removed in this request. All programs of a host share the RP id, and a copy of this
 * store has the same passkeys: only what surely belongs to this store alone is named, and so neither a passkey that is unknown here nor a
 * list of those that are known (threats.md PK-11).
 */
export function forgetRemoved(
  context: Context,
  { credentialId }: Pick<PasskeyRecord, 'credentialId'>,
): ForgottenPasskey | undefined {
  return context.isOriginalStore() ? { rpId: requireRpId(context), credentialId } : undefined
}

/** What the page asks the browser for to make a passkey. The browser refuses an authenticator that has one of the user. */
export function askToMake(
  context: Context,
  ceremony: Ceremony,
  { id, email, name }: UserRecord,
  passkeys: readonly PasskeyRecord[],
): PasskeyCeremony {
  return {
    kind: 'create',
    challenge: mintChallenge(context, ceremony),
    rpId: requireRpId(context),
    credentials: passkeys.map(({ credentialId }) => credentialId),
    user: { id, name: labelUser({ id, email, name }), displayName: name ?? email ?? id },
  }
}

/**
 * Verifies the answer to a sign-in, in the order of WebAuthn Level 3 §7.2, and uses the challenge up. Laxer than its step on backups, a
 * passkey may become eligible for one or cease to be: password managers move keys. The passkey is found by the user whom
 * the answer names and its id, so that a passkey of another user is an unknown one (threats.md PK-01). `known`: the user who has done the
 * first step of a sign-in, whom an authenticator that is asked for certain passkeys need not name (§6.3.3).
 */
export async function verifySignature(
  context: Context,
  request: Request,
  ceremony: Ceremony,
  known: Pick<UserRecord, 'id'> | undefined,
): Promise<Signed | RefusedPasskey> {
  const { params } = request
  const credentialId = readPasskeyField(params, 'credential')
  const clientData = readPasskeyField(params, 'clientDataJSON')
  const authenticatorData = readPasskeyField(params, 'authenticatorData')
  const signature = readPasskeyField(params, 'signature')
  const userHandle = readPasskeyField(params, 'userHandle') ?? handleOf(known)
  if (
    credentialId === undefined ||
    clientData === undefined ||
    authenticatorData === undefined ||
    signature === undefined ||
    userHandle === undefined
  )
    return invalid('fields')
  const opened = openAnswer(context, ceremony, clientData, 'webauthn.get')
  if ('reason' in opened) return opened
  const userId = parseUserId(Buffer.from(userHandle, 'base64url').toString())
  if (known !== undefined && userId !== known.id) return invalid('user')
  const passkey = userId === undefined ? undefined : await context.store.findPasskey(userId, passkeyIdOf(credentialId))
  if (passkey?.credentialId !== credentialId) return { kind: 'refused', reason: 'passkey-unknown' }
  const answer = { credentialId, clientData, authenticatorData, signature }
  const verified = await context.passkeys.verifyAssertion(answer, opened.expected, passkey)
  if (verified.kind === 'refused') return invalid(verified.check)
  if (!(await opened.use())) return invalid('repeated')
  const user = await context.store.findUser(passkey.userId)
  // What the operator revoked while the page was open stays revoked (threats.md PK-10).
  const isEnded = !isLiveSince(user, opened.madeAt) || opened.madeAt < (await context.notBefore())
  if (user === undefined || isEnded) return invalid('user')
  const { counter, isBackupEligible, isBackedUp } = verified
  const said = { counter, isBackupEligible, wasBackupEligible: passkey.isBackupEligible, isBackedUp }
  // Only a sign-in with the same passkey at the same time can have written a counter since.
  const isBack = passkey.counter !== 0 && counter <= passkey.counter
  const mails = isBack
    ? await rareNoticesOf(context, user, 'counter-back', request)
    : noticesOf(context, user, 'counter-back', request)
  const use = { userId: user.id, id: passkey.id, ...said, now: context.clockCheck.now(), mails }
  if ((await context.store.usePasskey(use)) === 'unknown') {
    return { kind: 'refused', reason: 'passkey-unknown' }
  }
  return { kind: 'signed', user, passkey }
}

/** Verifies the answer of a browser that made a passkey, in the order of WebAuthn Level 3 §7.1, and uses the challenge up. */
export async function verifyNewPasskey(
  context: Context,
  { agent, params }: Request,
  ceremony: Ceremony,
  user: Pick<UserRecord, 'id'>,
): Promise<{ readonly kind: 'made'; readonly passkey: PasskeyRecord } | RefusedPasskey> {
  const credentialId = readPasskeyField(params, 'credential')
  const clientData = readPasskeyField(params, 'clientDataJSON')
  const attestationObject = readPasskeyField(params, 'attestationObject')
  if (credentialId === undefined || clientData === undefined || attestationObject === undefined)
    return invalid('fields')
  const opened = openAnswer(context, ceremony, clientData, 'webauthn.create')
  if ('reason' in opened) return opened
  const answer = { credentialId, clientData, attestationObject }
  const verified = await context.passkeys.verifyRegistration(answer, opened.expected)
  if (verified.kind === 'refused') return invalid(verified.check)
  if (!(await opened.use())) return invalid('repeated')
  return { kind: 'made', passkey: recordOf(user, verified, agent, context.clockCheck.now()) }
}

/** The check that failed, for the log. */
export function checkOf(refused: RefusedPasskey): string | undefined {
  return refused.reason === 'passkey-invalid' ? refused.check : undefined
}

function handleOf(user: Pick<UserRecord, 'id'> | undefined): string | undefined {
  return user === undefined ? undefined : Buffer.from(user.id).toString('base64url')
}

function recordOf(
  { id: userId }: Pick<UserRecord, 'id'>,
  { credentialId, publicKey, counter, isBackupEligible, isBackedUp }: RegisteredPasskey,
  agent: PasskeyRecord['agent'],
  createdAt: EpochMs,
): PasskeyRecord {
  const key = { credentialId, publicKey, counter, isBackupEligible, isBackedUp }
  return { userId, id: passkeyIdOf(credentialId), ...key, agent, createdAt, usedAt: undefined }
}

/** Checks the client data and the challenge, which no other browser, purpose or user can use (threats.md PK-04). */
function openAnswer(
  context: Context,
  ceremony: Ceremony,
  clientData: string,
  type: ClientDataExpectation['type'],
): RefusedPasskey | (Opened & { readonly expected: Parameters<Context['passkeys']['verifyAssertion']>[1] }) {
  const { issuer, settings } = context
  const read = readClientData(clientData, { type, issuer })
  if (read.kind === 'refused') return invalid(read.check)
  const challenge = Buffer.from(read.challenge, 'base64url').toString()
  const opened = openSealed(context, sealOf(ceremony), challenge, settings.lifetimes.authorization * 1000)
  if (opened === undefined) return invalid('challenge')
  const expected = { challenge: read.challenge, origin: new URL(issuer).origin, rpId: requireRpId(context) }
  return { ...opened, expected }
}

function mintChallenge(context: Context, ceremony: Ceremony): string {
  return seal(context, sealOf(ceremony), [])
}

function sealOf({ browserHash, purpose, bound }: Ceremony): Seal {
  return { kind: 'passkey', browserHash, bound: [purpose, ...bound] }
}

function requireRpId({ issuer }: Context): string {
  const rpId = rpIdOf(issuer)
  assert(rpId !== undefined, 'Passkeys are offered only where the host of the issuer is a name.')
  return rpId
}

function invalid(check: FailedCheck): Extract<RefusedPasskey, { readonly reason: 'passkey-invalid' }> {
  return { kind: 'refused', reason: 'passkey-invalid', check }
}
