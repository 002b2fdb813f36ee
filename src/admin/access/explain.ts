import * as z from 'zod'
import { iso, ISO } from '../../base/iso.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { InstallationRecord, MembershipRecord, OrganizationRecord } from '../../ports/records/organization.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { isConfidential } from '../../protocol/client/authentication.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import { levelWord } from '../../protocol/sign-in/acr.ts'
import type { AuthenticationLevel } from '../../protocol/sign-in/authentication.ts'
import { findNamed, type Resource } from '../../protocol/token/resource.ts'
import { IDENTITY_SCOPES, NO_SCOPE, scopeTokens, subtract, type Scope } from '../../protocol/token/scope.ts'
import { DEVICE_CODE, JWT_BEARER } from '../../protocol/token/grant-types.ts'
import { findPolicyRefusal } from '../../clients/evaluate-client.ts'
import { scopeOfGrant } from '../../requests/grant-scope.ts'
import {
  ADVERTISED_IDENTITY_SCOPES,
  advertisedScopes,
  findResource,
  loadScopeCatalog,
  type ScopeCatalog,
} from '../../requests/scope-catalog.ts'
import { declaringApis } from '../../requests/scope-decision.ts'
import { findGrantRuling } from '../../tokens/access-rules.ts'
import { findGrantReason, INACTIVE_REASONS } from '../../tokens/inactive-reason.ts'
import { findFactors, findReachableLevel } from '../../users/factors.ts'
import { findReaches } from '../administrators.ts'
import { unknown } from '../admin-error.ts'
import type { TaskContext } from '../task.ts'
import {
  EXPLAINED_API,
  explainAsked,
  type Asked,
  type Decided,
  type ExplainedApi,
  type ExplainedAsked,
} from './decide.ts'
import { findShownPerson, PERSON_GROUP } from './groups.ts'
import { describeRules, MATCHING_RULE, type RuleAbout } from './rules.ts'

/** APIs whose scopes are explained where the question names none. */
const APIS = 50
/** The newest grants of the user for the client. */
const GRANTS = 20

const OBSTACLES = [
  'client',
  'client-blocked',
  'user',
  'organization',
  'not-a-member',
  'membership',
  'grant-type',
  'installation',
] as const
type Obstacle = (typeof OBSTACLES)[number]

const WAY = z
  .object({
    way: z
      .enum(['sign-in', 'for-member'])
      .describe('sign-in: the user allows it; for-member: the client acts for the user, who does not sign in.'),
    reach: z
      .enum(['1fa', '2fa', 'phr'])
      .nullable()
      .describe(
        'The highest level that the account can reach; null: no user signs in, or the account is not in your reach.',
      ),
    obstacles: z
      .array(z.object({ kind: z.enum(OBSTACLES), why: z.string() }))
      .describe('Why nothing is given; empty: it depends on the scope.'),
    apis: z.array(EXPLAINED_API),
    rules: z.array(MATCHING_RULE).describe('The access rules that match the user, the client and these scopes.'),
  })
  .meta({ id: 'ExplainedWay' })

const NEXT_REASONS = [...INACTIVE_REASONS, 'scope-gone', 'no-refresh-token'] as const
const EXPLAINED_GRANT = z
  .object({
    grant_id: z.string(),
    organization_id: z.string().nullable(),
    created_at: ISO,
    resources: z.array(z.string()),
    scope: z.string(),
    next_scope: z.string().nullable().describe('The scope of its next token for the same APIs; null: it gets none.'),
    reason: z.enum(NEXT_REASONS).nullable().describe('Why it gets no further token; null: it gets one.'),
  })
  .meta({ id: 'ExplainedGrant' })

/** What a client can get for a user, and why not the rest. */
export const EXPLANATION = z
  .object({
    client_id: z.string(),
    user_id: z.string(),
    organization_id: z.string().nullable(),
    ways: z.array(WAY),
    more_apis: z.boolean().describe('There are more APIs than are explained here. Name one.'),
    groups: z.array(PERSON_GROUP).describe('The groups of the user, and those that ended in the last 30 days.'),
    grants: z.array(EXPLAINED_GRANT).describe(`The newest ${GRANTS} grants of the user for the client.`),
  })
  .meta({ id: 'AccessExplanation' })
export type AccessExplanation = z.output<typeof EXPLANATION>

/** Who asks for what. */
export interface AccessQuestion {
  readonly client: ClientRecord
  readonly user: UserRecord
  /** For which the tokens would be. undefined: none. */
  readonly organization: OrganizationRecord | undefined
  readonly membership: MembershipRecord | undefined
  readonly resource: Resource | undefined
  readonly scope: Scope | undefined
}

/** Explains what a client can get for a user. Nothing is changed, logged or counted. @throws AdminError when there is no such API */
export async function explainAccess(context: TaskContext, question: AccessQuestion): Promise<AccessExplanation> {
  const { client, user, organization } = question
  const organizationId = organization?.id
  const catalog = await loadScopeCatalog(context)
  const [{ groups }, grants, installation] = await Promise.all([
    findShownPerson(context, user.id, organization),
    context.store.listGrants({
      userId: user.id,
      clientId: client.id,
      organizationId,
      before: undefined,
      limit: GRANTS,
    }),
    organizationId === undefined ? undefined : context.store.findInstallation({ clientId: client.id, organizationId }),
  ])
  const { asked, isPart } = chooseAsked(context, catalog, question, { grants, installation })
  const reach = await findShownReach(context, user)
  const common = await findObstacles(context, question, reach !== undefined)
  const about: RuleAbout = { organizationId, groups }
  const explain = async (
    way: z.output<typeof WAY>['way'],
    own: readonly ExplainedObstacle[],
    how: Pick<Decided, 'kind' | 'installed'>,
  ): Promise<z.output<typeof WAY>> => {
    const obstacles = [...common, ...own]
    const isStopped = obstacles.length > 0
    const decided = { ...how, client, user, organizationId, reach: reach ?? 3, isStopped, about } as const
    const found: ExplainedAsked[] = []
    for (const one of asked) found.push(await explainAsked(context, catalog, decided, one))
    return {
      way,
      reach: how.kind === 'machine' || reach === undefined ? null : levelWord(reach),
      obstacles,
      apis: found.map(({ explained }) => (question.scope === undefined ? withoutForeign(explained) : explained)),
      rules: describeRules(
        context,
        found.flatMap(({ rules }) => rules),
        about,
      ),
    }
  }
  const ways = [await explain('sign-in', obstaclesOfSignIn(client), { kind: 'user', installed: undefined })]
  if (installation !== undefined)
    ways.push(
      await explain('for-member', obstaclesForMember(client, installation), {
        kind: 'machine',
        installed: installation.scope,
      }),
    )
  return {
    client_id: listedIdOf(client),
    user_id: user.id,
    organization_id: organizationId ?? null,
    ways,
    more_apis: isPart,
    groups: [...groups],
    grants: await Promise.all(grants.map((grant) => explainGrant(context, catalog, client, grant))),
  }
}

type ExplainedObstacle = z.output<typeof WAY>['obstacles'][number]

function obstacle(kind: Obstacle, why: string): ExplainedObstacle {
  return { kind, why }
}

/**
 * Why the client gets no token for the user, whatever the scope is. An administrator of one organization learns the state of an account as its lists
 * of members say it: of own accounts alone.
 */
async function findObstacles(
  context: TaskContext,
  { client, user, organization, membership }: AccessQuestion,
  isAccountShown: boolean,
): Promise<readonly ExplainedObstacle[]> {
  const found: ExplainedObstacle[] = []
  if (client.disabledAt !== undefined)
    found.push(obstacle('client', `The client is disabled since ${iso(client.disabledAt)}.`))
  const refusal = await findPolicyRefusal(context, client, 'use')
  if (refusal !== undefined) found.push(obstacle('client-blocked', 'A domain of the client is blocked.'))
  if (isAccountShown && user.disabledAt !== undefined)
    found.push(obstacle('user', `The account is disabled since ${iso(user.disabledAt)}.`))
  if (organization === undefined) return found
  if (organization.disabledAt !== undefined)
    found.push(obstacle('organization', `The organization is disabled since ${iso(organization.disabledAt)}.`))
  if (membership === undefined) found.push(obstacle('not-a-member', 'The user is no member of the organization.'))
  else if (membership.disabledAt !== undefined)
    found.push(obstacle('membership', `The membership is disabled since ${iso(membership.disabledAt)}.`))
  return found
}

const OPENING = ['authorization_code', DEVICE_CODE, JWT_BEARER]

function obstaclesOfSignIn({ metadata }: ClientRecord): readonly ExplainedObstacle[] {
  if (metadata.grant_types.some((type) => OPENING.includes(type))) return []
  return [obstacle('grant-type', 'The client has no grant type with which a user allows it anything.')]
}

function obstaclesForMember(client: ClientRecord, installation: InstallationRecord): readonly ExplainedObstacle[] {
  const found: ExplainedObstacle[] = []
  if (!isConfidential(client) || !client.metadata.grant_types.includes('client_credentials'))
    found.push(obstacle('grant-type', 'The client has no client_credentials.'))
  if (installation.disabledAt !== undefined) found.push(obstacle('installation', 'The installation is disabled.'))
  else if (!installation.actsForMembers)
    found.push(obstacle('installation', 'The installation does not let the client act for members.'))
  return found
}

/** The highest level that the account can reach now. undefined: an administrator of one organization learns it only of own accounts. */
async function findShownReach(context: TaskContext, user: UserRecord): Promise<AuthenticationLevel | undefined> {
  const reachOfUser = await findReaches(context, [user.id])
  if (context.administrator.organizationId !== undefined && reachOfUser(user.id) !== 'account') return undefined
  if (context.settings.delegate !== undefined) return 2
  const { usable } = await findFactors(context, user)
  return findReachableLevel(context, user.id, usable.identities.length > 0 ? 2 : 1)
}

/** What the organization and the user gave the client already. */
interface Given {
  readonly grants: readonly GrantRecord[]
  readonly installation: InstallationRecord | undefined
}

/**
 * The requests that are explained: for the API that the question names, or for each API that declares a scope of it, or has scopes; and for the
 * identity scopes. An administrator of one organization learns of no API that neither the question nor what was given to the client names, and of
 * no scope of one that metadata does not list.
 */
function chooseAsked(
  { administrator }: TaskContext,
  catalog: ScopeCatalog,
  { resource, scope }: AccessQuestion,
  { grants, installation }: Given,
): { readonly asked: readonly Asked[]; readonly isPart: boolean } {
  const given = new Set([...grants.map((grant) => grant.scope), installation?.scope ?? NO_SCOPE].flatMap(scopeTokens))
  const isOfServer = administrator.organizationId === undefined
  const shown = (api: ApiRecord): readonly string[] => {
    const names = api.scopes.map(({ name }) => name)
    const advertised = isOfServer ? names : advertisedScopes(api)
    return names.filter((name) => advertised.includes(name) || given.has(name))
  }
  const named = scope === undefined ? undefined : scopeTokens(scope)
  if (resource !== undefined) {
    const found = findResource(catalog, resource)
    if (found === undefined) throw unknown(`There is no API ${resource}.`)
    const api = findNamed(catalog.apis, found)
    return { asked: [{ resource: found, tokens: named ?? (api === undefined ? [] : shown(api)) }], isPart: false }
  }
  if (scope !== undefined) {
    const declaring = declaringApis(catalog, scope)
    const atApis = declaring.map((api): Asked => {
      const names = api.scopes.map(({ name }) => name)
      return { resource: api.resource, tokens: scopeTokens(scope).filter((token) => names.includes(token)) }
    })
    const declared = new Set(atApis.flatMap(({ tokens }) => tokens))
    const others = scopeTokens(scope).filter((token) => !declared.has(token))
    const alone = others.length === 0 ? [] : [{ resource: undefined, tokens: others }]
    return { asked: [...alone, ...atApis.slice(0, APIS)], isPart: atApis.length > APIS }
  }
  const resources = new Set([...grants.flatMap((grant) => grant.resources), ...declaringOf(catalog, installation)])
  const apis = isOfServer ? catalog.apis : catalog.apis.filter((api) => resources.has(api.resource))
  const atApis = apis.slice(0, APIS).map((api): Asked => ({ resource: api.resource, tokens: shown(api) }))
  return { asked: [{ resource: undefined, tokens: IDENTITY_SCOPES }, ...atApis], isPart: apis.length > APIS }
}

function declaringOf(catalog: ScopeCatalog, installation: InstallationRecord | undefined): readonly Resource[] {
  return declaringApis(catalog, installation?.scope).map(({ resource }) => resource)
}

/** Without identity scopes that the client never asks for: they are explained where the question names them. */
function withoutForeign(explained: ExplainedApi): ExplainedApi {
  if (explained.resource !== null) return explained
  const isShown = ({ scope, gives, reason }: ExplainedApi['scopes'][number]): boolean =>
    ADVERTISED_IDENTITY_SCOPES.includes(scope) || gives || reason === 'access_rule' || reason === 'level'
  return { ...explained, scopes: explained.scopes.filter(isShown) }
}

/** What the next token of a grant has, decided as a refresh decides it. */
async function explainGrant(
  context: TaskContext,
  catalog: ScopeCatalog,
  client: ClientRecord,
  grant: GrantRecord,
): Promise<z.output<typeof EXPLAINED_GRANT>> {
  const { id, organizationId, createdAt, resources, scope, family } = grant
  const next = await findNext(context, catalog, client, grant)
  const isScope = typeof next === 'object'
  return {
    grant_id: id,
    organization_id: organizationId ?? null,
    created_at: iso(createdAt),
    resources: [...resources],
    scope,
    next_scope: isScope && family !== undefined ? next.scope : null,
    reason: isScope ? (family === undefined ? 'no-refresh-token' : null) : next,
  }
}

async function findNext(
  context: TaskContext,
  catalog: ScopeCatalog,
  client: ClientRecord,
  grant: GrantRecord,
): Promise<{ readonly scope: Scope } | Exclude<(typeof NEXT_REASONS)[number], 'no-refresh-token'>> {
  const now = context.clock()
  const { createdAt, family, resources } = grant
  const end = await findGrantReason(context, client, grant, now)
  if (end !== undefined) return end
  if (family !== undefined && family.idleExpiresAt <= now) return 'expired'
  const scope = scopeOfGrant(catalog, client, grant, resources, createdAt)
  if (scope === undefined) return 'scope-gone'
  const { ruling } = await findGrantRuling(context, client, grant, { scope, resources })
  if (ruling === undefined) return { scope }
  return ruling.isNothing ? 'access-rule' : { scope: subtract(scope, ruling.leftOut) }
}
