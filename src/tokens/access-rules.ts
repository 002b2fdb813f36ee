import type { Context } from '../ports/context.ts'
import type { ApiRecord } from '../ports/records/api.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import { openRecentlyUsed } from '../base/recently-used.ts'
import { countingGroups } from '../protocol/access/belonging.ts'
import {
  ANY_ORGANIZATION,
  findConcerns,
  judge,
  namedByRule,
  type Concerns,
  type JudgedAccess,
  type Person,
} from '../protocol/access/judge.ts'
import type { AccessRule, RequiredLevel } from '../protocol/access/rule.ts'
import { CONSOLE_CLIENT_ID } from '../protocol/client/console.ts'
import type { Identified } from '../protocol/client/identifier.ts'
import { ruledClient, type ClientOrigin, type ClientTerm } from '../protocol/client/policy.ts'
import type { OrganizationId, UserId } from '../protocol/ids.ts'
import { isIdentityScope, narrow, NO_SCOPE, subtract, unite, type Scope } from '../protocol/token/scope.ts'

/** What a client gets, or would get, for a person. */
export interface PersonalAccess extends JudgedAccess {
  readonly client: ClientOrigin & Identified
  readonly userId: UserId
  /** For which it is. undefined: none. */
  readonly organizationId: OrganizationId | undefined
}

/** What the access rules leave of an access of which they take something, or would. */
export interface Ruling {
  readonly scope: Scope
  readonly leftOut: Scope
  /** The scopes that are left out, with the first rule that takes each. */
  readonly takenBy: ReadonlyMap<string, AccessRule>
  /** The first rule that takes what has no scope. undefined: none does. */
  readonly takesBare: AccessRule | undefined
  /** Nothing is left, or nothing of an API: no token is issued, and one that was is inactive. */
  readonly isNothing: boolean
  /** The rules that took something. */
  readonly taking: readonly RulingRule[]
  /** The rules in `report` that would have. */
  readonly reporting: readonly RulingRule[]
}

/** A rule of the server, or of the organization for which the access is. */
export interface RulingRule {
  readonly rule: AccessRule
  readonly isOfServer: boolean
}

/** Whether an authentication has a level that a rule demands. */
export type IsMet = (required: RequiredLevel) => boolean

/** No user authenticated. */
export const NEVER_MET: IsMet = () => false
/** A level counts from the next token on, as that of a scope. */
export const ALWAYS_MET: IsMet = () => true

/** Whether there surely is no rule, so that nothing is read and judged. Without it a server with rules costs what one without them does. */
export function hasNoRules({ accessRules }: Context, organizationId: OrganizationId | undefined): boolean {
  return organizationId === undefined && accessRules.peek()?.length === 0
}

/**
 * Applies the access rules of the server, and those of the organization of an access, to a person: as they are now, and with the groups of now.
 * undefined: no rule takes anything. What the person belongs to is read only if a rule concerns the client and the access. The console of
 * this server is exempt, so that no rule locks out its author.
 */
export async function findRuling(context: Context, access: PersonalAccess, isMet: IsMet): Promise<Ruling | undefined> {
  const { concerns, server } = await findOwnConcerns(context, access)
  if (concerns.concerns.length === 0) return undefined
  const person = await findPerson(context, access.userId, concerns.named)
  const { leftOut, takesBare, isNothing, taking, reporting } = judge(concerns, person, isMet)
  if (taking.length === 0 && reporting.length === 0) return undefined
  const labelled = (rule: AccessRule): RulingRule => ({ rule, isOfServer: server.includes(rule) })
  const scope = narrow(access.scope, (token) => !leftOut.has(token))
  return {
    scope,
    leftOut: subtract(access.scope, scope),
    takenBy: leftOut,
    takesBare,
    isNothing,
    taking: taking.map(labelled),
    reporting: reporting.map(labelled),
  }
}

/** What of a grant access rules read. */
export type RuledGrant = Pick<GrantRecord, 'userId' | 'organizationId' | 'scope' | 'stated' | 'openid'>

/**
 * Applies the access rules to a token of a grant, with the scope `scope` (`scopeOfGrant`). `asked`: the access that they judge, which has the
 * identity scopes of the grant too, because an ID token comes with the token. A level counts as the grant states it.
 */
export async function findGrantRuling(
  context: Context,
  client: PersonalAccess['client'],
  { userId, organizationId, scope: granted, stated, openid }: RuledGrant,
  { scope, resources }: JudgedAccess,
): Promise<{ readonly asked: PersonalAccess; readonly ruling: Ruling | undefined }> {
  const identity = openid === undefined ? NO_SCOPE : narrow(granted, isIdentityScope)
  const asked = { client, userId, organizationId, scope: unite(scope, identity), resources }
  return { asked, ruling: await findRuling(context, asked, ({ level }) => level <= (stated?.level ?? 1)) }
}

/**
 * What one rule is about in an access, if the client, a part of the access and the person match, at whichever level; undefined: it is not about it. `only`: a list
 * with the rule, which is the same object for several accesses.
 */
export async function findConcerned(
  context: Context,
  only: readonly [AccessRule],
  access: PersonalAccess,
): Promise<Scope | undefined> {
  if (access.client.id === CONSOLE_CLIENT_ID) return undefined
  const concerns = concernsOf(only, access, await context.apis())
  if (concerns.concerns.length === 0) return undefined
  const { leftOut, taking } = judge(concerns, await findPerson(context, access.userId, concerns.named), NEVER_MET)
  return taking.length === 0 ? undefined : narrow(access.scope, (token) => leftOut.has(token))
}

/** What the rules that are on demand of the authentication of a person, by scope; a scope of several rules is there several times. */
export async function findDemands(
  context: Context,
  access: PersonalAccess,
): Promise<readonly (readonly [token: string, required: RequiredLevel])[]> {
  const { concerns } = await findOwnConcerns(context, access)
  if (!concerns.concerns.some(({ rule }) => rule.require !== undefined)) return []
  const person = await findPerson(context, access.userId, concerns.named)
  return judge(concerns, person, ALWAYS_MET).demands
}

/** Whether a rule demands a level for this access, of whichever person. */
export async function demandsLevel(context: Context, access: Omit<PersonalAccess, 'userId'>): Promise<boolean> {
  const { concerns } = await findOwnConcerns(context, access)
  return concerns.concerns.some(({ rule }) => rule.require !== undefined)
}

/** Logs and counts what rules took, or would have taken. */
export function recordRuling(
  { record, countLeftOut }: Pick<Context, 'record' | 'countLeftOut'>,
  { client, userId: user, organizationId: organization }: Pick<PersonalAccess, 'client' | 'userId' | 'organizationId'>,
  { taking, reporting }: Ruling,
): void {
  const say = (event: 'access.left-out' | 'access.would-leave-out', rules: readonly RulingRule[]): void => {
    for (const { rule, isOfServer } of rules) {
      record({ event, rule: rule.id, client: client.id, user, organization })
      // The rules of all organizations are too many for labels.
      countLeftOut(isOfServer ? rule.id : '', rule.state)
    }
  }
  say('access.left-out', taking)
  say('access.would-leave-out', reporting)
}

async function findOwnConcerns(
  { accessRules, apis, store }: Context,
  access: Omit<PersonalAccess, 'userId'>,
): Promise<{ readonly concerns: OwnConcerns; readonly server: readonly AccessRule[] }> {
  const server = accessRules.peek() ?? (await accessRules.read())
  const { organizationId } = access
  const organization = organizationId === undefined ? undefined : await store.findOrganization(organizationId)
  const own = organization?.accessRules ?? []
  const rules = access.client.id === CONSOLE_CLIENT_ID ? [] : own.length === 0 ? server : join(server, own)
  if (rules.length === 0) return { concerns: NO_CONCERNS, server }
  return { concerns: concernsOf(rules, access, await apis()), server }
}

/** The rules that concern an access, with what they read of people. */
interface OwnConcerns extends Concerns {
  readonly named: NamedByRules
}

/** Which groups and organizations some rules name. */
export interface NamedByRules {
  readonly isNone: boolean
  readonly hasGroup: (id: string) => boolean
  readonly hasOrganization: (id: string) => boolean
}

const NO_CONCERNS = withNames({ resources: [], parts: [], concerns: [] })

function withNames(concerns: Concerns): OwnConcerns {
  const named = concerns.concerns
    .map(({ rule }) => namedByRule(rule))
    .filter(({ groups, organizations }) => groups.size + organizations.size > 0)
  return {
    ...concerns,
    named: {
      isNone: named.length === 0,
      hasGroup: (id) => named.some(({ groups }) => groups.has(id)),
      hasOrganization: (id) =>
        named.some(({ organizations }) => organizations.has(id) || organizations.has(ANY_ORGANIZATION)),
    },
  }
}

type Rules = readonly AccessRule[]

/** The rules of the server and of an organization as one list, which is the same object while both are. */
function join(server: Rules, own: Rules): Rules {
  const known = joined.get(own)
  if (known?.server === server) return known.rules
  const rules = [...server, ...own]
  joined.set(own, { server, rules })
  return rules
}

const joined = new WeakMap<Rules, { readonly server: Rules; readonly rules: Rules }>()

/** Which rules concern a client and an access is found once for each, while neither the rules nor the APIs change. */
function concernsOf(
  rules: Rules,
  { client, scope, resources }: Omit<PersonalAccess, 'userId'>,
  apis: readonly ApiRecord[],
): OwnConcerns {
  const terms = ruled.get(client) ?? ruledClient(client)
  ruled.set(client, terms)
  const key = `${numberOf(rules)} ${numberOf(apis)} ${terms.join(' ')}\n${scope}\n${resources.join(' ')}`
  const found = kept.get(key)
  if (found !== undefined) return found
  const made = withNames(findConcerns(rules, terms, { scope, resources }, apis))
  if (weightOf(made) <= HEAVIEST) kept.set(key, made)
  return made
}

/** Parts and rules (`weightOf`), of 8 to 100 bytes each: at least so many are kept, and at most twice as many. */
const KEPT = 100_000
/** What weighs more is found again each time, in some milliseconds. */
const HEAVIEST = 5000
/** Of all lists of rules: a client chooses scopes and APIs, and an organization its rules, so the room is limited (threats.md ACS-06). */
const kept = openRecentlyUsed<OwnConcerns>(KEPT, weightOf)

function weightOf({ parts, concerns }: OwnConcerns): number {
  const own = concerns.map((concern) => (concern.parts === parts ? 2 : 2 + concern.parts.length))
  return own.reduce((sum, weight) => sum + weight, 1 + parts.length)
}

/** By record, which is the same object until the client changes. */
const ruled = new WeakMap<ClientOrigin, readonly ClientTerm[]>()

/** A number for each list, which is the same object until its rows change. */
function numberOf(list: Rules | readonly ApiRecord[]): number {
  const number = numbers.get(list) ?? (lists += 1)
  numbers.set(list, number)
  return number
}

const numbers = new WeakMap<object, number>()
let lists = 0

/** The person with those groups and organizations that count, of the ones that rules read. */
export async function findPerson(
  { clock, providers, store }: Context,
  userId: UserId,
  { isNone, hasGroup, hasOrganization }: NamedByRules,
): Promise<Person> {
  if (isNone) return { userId, groups: [], organizationIds: [] }
  const [belonging, known] = await Promise.all([store.findBelonging(userId), providers()])
  const wanted = belonging.organizationIds.filter(hasOrganization)
  const found = wanted.length === 0 ? [] : await Promise.all(wanted.map((id) => store.findOrganization(id)))
  const organizationIds = found.flatMap((one) => (one === undefined || one.disabledAt !== undefined ? [] : one.id))
  const named = { ...belonging, groups: belonging.groups.filter(({ groupId }) => hasGroup(groupId)) }
  if (named.groups.length === 0) return { userId, groups: [], organizationIds }
  const now = clock()
  const counting = [undefined, ...organizationIds].flatMap((organizationId) =>
    countingGroups(named, { now, providers: known, organizationId }),
  )
  return { userId, groups: counting, organizationIds }
}
