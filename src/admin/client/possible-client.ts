import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { makeClientPolicy } from '../../clients/evaluate-client.ts'
import { openDomainRules } from '../../protocol/client/domain-rule.ts'
import { destinationsOf } from '../../protocol/client/identity.ts'
import { clientKeys } from '../../protocol/client/keys.ts'
import { evaluateClientPolicy, isBlocked } from '../../protocol/client/policy.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../../protocol/openid/id-token.ts'
import { hasFapiKey, isFapiAlgorithm, PROOF_ALGORITHMS } from '../../protocol/token/dpop-proof.ts'
import { DEVICE_CODE } from '../../protocol/token/grant-types.ts'
import { isOpenid } from '../../protocol/token/scope.ts'
import { conflict } from '../admin-error.ts'
import { requireClaimGroups } from '../group/group-claim.ts'

/**
 * The policy must allow the client, and each rule must have an effect: a rule without one is a mistake of the administrator. `previous`:
 * the client before a change. Its hosts may be blocked: the client cannot be used then, but can be changed.
 *
 * @throws AdminError which says what is not possible
 */
export async function requirePossible(context: Context, client: ClientRecord, previous?: ClientRecord): Promise<void> {
  const { metadata, rules } = client
  // The copy that requests use may be a second old, and a task may follow one that changed the rules for domains.
  const domains = openDomainRules(await context.store.listDomainRules())
  const had = previous === undefined ? [] : requestedHosts(previous)
  const blocked = requestedHosts(client).find((uri) => !had.includes(uri) && isBlocked(domains, uri))
  if (blocked !== undefined) throw conflict(`The domain of ${blocked} is blocked. See "grantor domain list".`)
  const policy = makeClientPolicy(context.settings, openDomainRules([]))
  const verdicts = metadata.redirect_uris.map((redirectUri) =>
    evaluateClientPolicy(policy, { client, phase: 'enter', redirectUri }),
  )
  if (rules.pkce !== 'required' && metadata.token_endpoint_auth_method === 'none') {
    throw conflict('Only a client that authenticates may omit PKCE. A public client needs it.')
  }
  if (rules.profile === 'fapi2') requireFapi(client)
  if (rules.profile === 'fapi2' && rules.copies !== undefined) {
    throw conflict('A client of the profile fapi2 keeps its refresh token, so a rule for copies has no effect.')
  }
  const { groupClaim: claim } = rules
  if (claim !== undefined) await requireClaimGroups(context, claim, previous?.rules.groupClaim)
  if (rules.consent === 'asked') return
  if (metadata.scope === undefined) {
    throw conflict('Implied consent covers the registered scope only, and this client has none. Give its scope.')
  }
  if (!verdicts.some((verdict) => verdict.kind === 'allowed' && verdict.rights.mayImplyConsent)) {
    throw conflict(
      'Implied consent needs a redirect URI that uses https and leads to another computer. A loopback one is enough while the issuer is a loopback address, too.',
    )
  }
}

/** Where the server sends a browser or requests for the client. */
function requestedHosts({ metadata }: ClientRecord): readonly string[] {
  const { jwks_uri: keys } = metadata
  return [...destinationsOf(metadata).map(({ uri }) => uri), ...(keys === undefined ? [] : [keys])]
}

/** FAPI 2.0 Security Profile §5.3.2.1 and §5.4. @throws AdminError which names each condition that the client does not meet */
function requireFapi({ metadata, rules }: ClientRecord): void {
  const { grant_types: grantTypes, id_token_signed_response_alg: idTokenAlgorithm, scope } = metadata
  const keys = clientKeys(metadata)
  const algorithm = keys?.algorithm
  const mayLogIn = grantTypes.includes('authorization_code') && (scope === undefined || isOpenid(scope))
  const isUnfit = idTokenAlgorithm === undefined || idTokenAlgorithm === DEFAULT_ID_TOKEN_ALGORITHM
  const missing = [
    ...(metadata.token_endpoint_auth_method === 'private_key_jwt'
      ? []
      : ['keys (token_endpoint_auth_method private_key_jwt)']),
    ...(algorithm === undefined || isFapiAlgorithm(algorithm)
      ? []
      : [`a token_endpoint_auth_signing_alg of ${PROOF_ALGORITHMS.join(', ')}, or none`]),
    ...(keys?.kind !== 'jwks' || hasFapiKey(keys) ? [] : [`a key for one of ${PROOF_ALGORITHMS.join(', ')}`]),
    ...(rules.pkce === 'optional' ? ['another rule pkce than optional'] : []),
    ...(grantTypes.includes(DEVICE_CODE) ? [`other grant types than ${DEVICE_CODE}`] : []),
    ...(mayLogIn && isUnfit ? ['an id_token_signed_response_alg other than RS256, because it may use openid'] : []),
  ]
  if (missing.length > 0) throw conflict(`The profile fapi2 needs:\n${missing.join('\n')}`)
}
