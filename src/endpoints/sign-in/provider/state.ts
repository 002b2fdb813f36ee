import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import type { UpstreamBinding } from '../../../ports/provider-sign-in.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { parseUserId, type UserId } from '../../../protocol/ids.ts'
import { parseJson } from '../../../base/json.ts'
import type { PageReason } from '../../../protocol/authorization/page-refusals.ts'
import type { KeptMethod } from '../../../ports/operations/user.ts'
import { providerRedirectUri } from '../../../protocol/sign-in/provider.ts'
import type { ProviderId } from '../../../protocol/sign-in/authentication.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import { openBrowser } from '../../authorization/interaction.ts'
import { findSignedIn, type SignedIn } from '../../authorization/session.ts'
import { errorPage } from '../../error-page.ts'
import type { TargetKey } from '../target.ts'

/**
 * What a person goes to a provider for.
 *
 * - `sign-in`: to sign in.
 * - `connect`: to add a sign-in method to the account of the session.
 * - `link`: to accept a link of an operator, for its user.
 * - `proof`: to sign in to this user's account with a method that it has, because another provider named its address.
 */
export type ProviderPurpose =
  | { readonly kind: 'sign-in' | 'connect' }
  | ({
      readonly userId: UserId
      /** The link or the proof that the person presented. One that replaces it meanwhile does not count (threats.md UP-04). */
      readonly hash: SecretHash
    } & (
      | { readonly kind: 'proof' }
      /** `keep`: the identities and passkeys of the user that the person confirmed. */
      | { readonly kind: 'link'; readonly keep: readonly KeptMethod[] }
    ))

/** What the state of a callback says. */
export interface ProviderState {
  readonly providerId: ProviderId
  readonly purpose: ProviderPurpose
  readonly targetKey: TargetKey
  readonly binding: UpstreamBinding
  /** Since when the person must have authenticated, as the provider was asked. undefined: at any time. */
  readonly signInAfter: EpochMs | undefined
  /** Uses the state up. false: it was used before. */
  readonly use: () => Promise<boolean>
}

/**
 * The members of a state, in order: time, purpose, user, target, browser, what the purpose depends on, random bits, the time since when
 * the person must have authenticated, for a link the identities that are kept.
 */
type Members = readonly [
  EpochMs,
  ProviderPurpose['kind'],
  string,
  TargetKey,
  string,
  string,
  string,
  EpochMs | null,
  ...(readonly KeptMethod[]),
]

/**
 * Makes the state of a sign-in at a provider (RFC 6749 §10.12, RFC 9700 §4.7). It is not stored: the server authenticates it when it
 * comes back. It is bound to the provider, to the browser, and to what the purpose depends on: the session that adds a method, the
 * link, or the proof. So a link that was only opened, or a session of another user, changes nothing (threats.md UP-04, UP-11).
 */
export function mintState(
  context: Context,
  provider: ProviderRecord,
  sought: {
    readonly purpose: ProviderPurpose
    readonly targetKey: TargetKey
    readonly browserHash: SecretHash
    readonly signedIn: SignedIn | undefined
    readonly signInAfter: EpochMs | undefined
  },
): UpstreamBinding {
  const { purpose, targetKey, browserHash, signedIn, signInAfter } = sought
  const { random, secrets, clockCheck } = context
  const members: Members = [
    clockCheck.now(),
    purpose.kind,
    'userId' in purpose ? purpose.userId : '',
    targetKey,
    secrets.digest('upstream', ['browser', browserHash]),
    secrets.digest('upstream', ['basis', ...basisOf(purpose, signedIn)]),
    random(16).toString('base64url'),
    signInAfter ?? null,
    ...('keep' in purpose ? purpose.keep : []),
  ]
  const payload = Buffer.from(JSON.stringify(members)).toString('base64url')
  return bindingOf(context, provider, `${payload}.${sealOf(context, provider, payload)}`)
}

/**
 * Reads the state of a callback. Returns an error page unless this server made it for this provider and this browser, in time, and what
 * its purpose depends on is still there.
 */
export async function openState(
  context: Context,
  request: Request,
  provider: Pick<ProviderRecord, 'id'>,
): Promise<ProviderState | Reply> {
  const { secrets, settings } = context
  const text = request.params.get('state') ?? ''
  const [payload = '', seal = ''] = text.split('.', 2)
  if (!secrets.digestMatches('upstream', ['seal', provider.id, payload], seal)) return errorPage('provider_state_wrong')
  const members = parseJson(Buffer.from(payload, 'base64url').toString()) as Members
  const [madeAt, kind, user, targetKey, browserDigest, basisDigest, , signInAfter, ...keep] = members
  const browserHash = openBrowser(context, request)
  if (browserHash === undefined || !secrets.digestMatches('upstream', ['browser', browserHash], browserDigest)) {
    return errorPage('browser_differs')
  }
  const now = context.clockCheck.now()
  const expiresAt = after(madeAt, settings.lifetimes.authorization * 1000)
  if (expiresAt <= now || isFromFuture(madeAt, now)) return errorPage('provider_state_expired')
  const signedIn = kind === 'connect' ? await findSignedIn(context, request.cookies) : undefined
  const purpose = (await listPurposes(context, kind, parseUserId(user), keep)).find((one) =>
    secrets.digestMatches('upstream', ['basis', ...basisOf(one, signedIn)], basisDigest),
  )
  if (purpose === undefined) return errorPage(GONE[kind])
  const digest = secrets.digest('upstream', ['used', payload])
  return {
    providerId: provider.id,
    purpose,
    targetKey,
    binding: bindingOf(context, provider, text),
    signInAfter: signInAfter ?? undefined,
    use: async () => (await context.store.consumeOnce([{ digest, expiresAt }])) === 'fresh',
  }
}

/** What the user sees if the basis of the purpose is gone. */
const GONE = {
  'sign-in': 'provider_state_wrong',
  connect: 'user_changed',
  link: 'link_unusable',
  proof: 'identity_proof_gone',
} as const satisfies Readonly<Record<ProviderPurpose['kind'], PageReason>>

/** The purpose with each link, or with the proof, that is stored now. */
async function listPurposes(
  { store }: Context,
  kind: ProviderPurpose['kind'],
  userId: UserId | undefined,
  keep: readonly KeptMethod[],
): Promise<readonly ProviderPurpose[]> {
  if (kind === 'sign-in' || kind === 'connect') return [{ kind }]
  if (userId === undefined) return []
  if (kind === 'link') return (await store.listLinks(userId)).map(({ hash }) => ({ kind, userId, hash, keep }))
  const proof = await store.findIdentityProof(userId)
  return proof === undefined ? [] : [{ kind, userId, hash: proof.hash }]
}

/** The verifier and the nonce are derived, so a reader of the state does not know them. */
function bindingOf({ issuer, secrets }: Context, { id }: Pick<ProviderRecord, 'id'>, state: string): UpstreamBinding {
  return {
    state,
    codeVerifier: secrets.digest('upstream', ['verifier', state]),
    nonce: secrets.digest('upstream', ['nonce', state]),
    redirectUri: providerRedirectUri(issuer, id),
  }
}

function sealOf({ secrets }: Context, { id }: Pick<ProviderRecord, 'id'>, payload: string): string {
  return secrets.digest('upstream', ['seal', id, payload])
}

/** What the purpose depends on. */
function basisOf(purpose: ProviderPurpose, signedIn: SignedIn | undefined): readonly string[] {
  switch (purpose.kind) {
    case 'sign-in':
      return []
    case 'connect':
      return signedIn === undefined ? [] : [signedIn.user.id, signedIn.session.rootId]
    case 'link':
    case 'proof':
      return [purpose.hash]
  }
}
