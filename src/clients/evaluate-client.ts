import type { Context } from '../ports/context.ts'
import type { AuthorizationRecord } from '../ports/records/authorization.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import {
  evaluateClientPolicy,
  isBlocked,
  type ClientPolicy,
  type ClientRights,
  type PolicyClient,
  type PolicyQuestion,
  type PolicyRefusal,
} from '../protocol/client/policy.ts'
import type { DomainRules } from '../protocol/client/domain-rule.ts'
import { DEVICE_CODE } from '../protocol/token/grant-types.ts'

/** A client that the policy of the server allows, and what it may do. `evaluateClient` returns it. */
export interface AllowedClient {
  readonly client: ClientRecord
  readonly rights: ClientRights
}

/** Applies the policy of the server, as the operator set it at most a second ago, to a client. */
export async function evaluateClient(
  context: Pick<Context, 'clientPolicy'>,
  client: ClientRecord,
  question: Omit<PolicyQuestion, 'client'>,
): Promise<AllowedClient | PolicyRefusal> {
  const verdict = evaluateClientPolicy(await context.clientPolicy(), { ...question, client })
  return verdict.kind === 'refused' ? verdict : { client, rights: verdict.rights }
}

/** The question about a client whose tokens go to a device. */
export const AT_DEVICE = { phase: 'use', redirectUri: undefined, isDevice: true } as const

/** Applies the policy to the client of an authorization. A client that may no longer have the device grant is refused, too. */
export async function evaluateAuthorized(
  context: Context,
  client: ClientRecord,
  authorized: Pick<AuthorizationRecord, 'device' | 'redirectUri'> | 'device',
): Promise<AllowedClient | 'refused'> {
  const isDevice = authorized === 'device' || authorized.device !== undefined
  if (isDevice && !client.metadata.grant_types.includes(DEVICE_CODE)) return 'refused'
  const question = isDevice ? AT_DEVICE : ({ phase: 'use', redirectUri: authorized.redirectUri } as const)
  const allowed = await evaluateClient(context, client, question)
  return 'kind' in allowed ? 'refused' : allowed
}

/** Whether the operator blocked the host of a URI, such as the `jwks_uri` of a client. */
export async function isBlockedHost({ clientPolicy }: Context, uri: string): Promise<boolean> {
  const { domains } = await clientPolicy()
  return isBlocked(domains, uri)
}

/** Returns why the policy refuses a client, of which not everything may be known yet; undefined if it does not refuse it for that. */
export async function findPolicyRefusal(
  context: Context,
  client: PolicyClient,
  phase: PolicyQuestion['phase'],
): Promise<PolicyRefusal | undefined> {
  const verdict = evaluateClientPolicy(await context.clientPolicy(), { client, phase, redirectUri: undefined })
  return verdict.kind === 'refused' ? verdict : undefined
}

/** The settings that the policy depends on. */
export type PolicySettings = Pick<Context['settings'], 'clientDocuments' | 'isLoopbackIssuer' | 'registration'>

/** Puts the policy together. */
export function makeClientPolicy(
  { clientDocuments, isLoopbackIssuer, registration }: PolicySettings,
  domains: DomainRules,
): ClientPolicy {
  return { registration, documents: clientDocuments, isLoopbackIssuer, domains }
}
