import type { OrganizationId, UserId } from '../ids.ts'
import { canonicalResource, type Resource } from '../token/resource.ts'
import { isIdentityScope, scopeTokens, type Scope } from '../token/scope.ts'
import type { ClientTerm } from '../client/policy.ts'
import { organizationOfGroup, type GroupId } from './group.ts'
import type { AccessRule, AccessTerm, Condition, RequiredLevel } from './rule.ts'

/** What a token would give. */
export interface JudgedAccess {
  readonly scope: Scope
  /** As declared. Empty: the token is for the issuer. */
  readonly resources: readonly Resource[]
}

/** The person for whom it is, with what counts now. */
export interface Person {
  readonly userId: UserId
  readonly groups: readonly GroupId[]
  readonly organizationIds: readonly OrganizationId[]
}

/** A rule that concerns a client and an access, with the parts that it takes from the people whom it matches. */
export interface Concern<Rule extends AccessRule = AccessRule> {
  readonly rule: Rule
  readonly parts: readonly Part[]
}

/** The parts of an access, and the rules that concern them. What is left is to compare people. */
export interface Concerns<Rule extends AccessRule = AccessRule> {
  /** Of the access. */
  readonly resources: readonly Resource[]
  readonly parts: readonly Part[]
  readonly concerns: readonly Concern<Rule>[]
}

/**
 * One scope at one API. Without a scope: an API of the token of which the access has no scope; or an access without scope and API, which counts as an
 * identity scope. Without an API, a scope that no API declares.
 */
export interface Part {
  readonly token: string | undefined
  readonly resource: Resource | undefined
  readonly isIdentity: boolean
}

/** What rules leave of an access. */
export interface Judgment<Rule extends AccessRule = AccessRule> {
  /** The scopes that are left out, with the first rule that takes each. */
  readonly leftOut: ReadonlyMap<string, Rule>
  /** The first rule that takes a part without a scope. undefined: none does. */
  readonly takesBare: Rule | undefined
  /** Nothing is left, or nothing of an API: no token is issued. */
  readonly isNothing: boolean
  /** The levels that rules demand for scopes, also those that are met. */
  readonly demands: readonly (readonly [token: string, required: RequiredLevel])[]
  /** The rules that took something. */
  readonly taking: readonly Rule[]
  /** The rules in `report` that would have. */
  readonly reporting: readonly Rule[]
}

interface Declared {
  readonly resource: Resource
  readonly scopes: readonly { readonly name: string }[]
}

/**
 * Finds the rules that concern an access of a client, of any person. `client`: what rules call it (`ruledClient`). A token of several APIs gives a scope to each that declares it,
 * so that the scope is taken if it is taken at one of them; so is one for the issuer.
 */
export function findConcerns<Rule extends AccessRule>(
  rules: readonly Rule[],
  client: readonly ClientTerm[],
  access: JudgedAccess,
  apis: readonly Declared[],
): Concerns<Rule> {
  const parts = partsOf(access, apis)
  const terms = parts.map(termsOfPart)
  const concerns = rules
    .filter((rule) => rule.state !== 'off' && concernsClient(rule, client))
    .map((rule) => ({ rule, parts: partsIn(readRule(rule).access, parts, terms) }))
    .filter((concern) => concern.parts.length > 0)
  return { resources: access.resources, parts, concerns }
}

/** The parts that a rule is about. Those of a rule about everything are the same list, so that many such rules take no room. */
function partsIn(access: Terms, parts: readonly Part[], terms: readonly (readonly string[])[]): readonly Part[] {
  if (access.only.size === 0 && access.except.size === 0) return parts
  return parts.filter((_, index) => holds(access, terms[index] ?? []))
}

/** Whether a rule is about the requests of a client. */
export function concernsClient(rule: AccessRule, client: readonly ClientTerm[]): boolean {
  return holds(readRule(rule).clients, client)
}

/** Whether a rule is about an API, or about a scope of it. */
export function concernsApi({ access: { only, except } }: AccessRule, api: Resource): boolean {
  const name = canonicalResource(api)
  const isAt = (term: AccessTerm): boolean =>
    term !== 'sign-in' && canonicalResource(valueOf(term).split(' ')[0] ?? '') === name
  const isWhole = (term: AccessTerm): boolean => term.startsWith('api:') && isAt(term)
  return (only.length === 0 || only.some(isAt)) && !except.some(isWhole)
}

/** What a rule names of people: groups, and organizations with those that have such a group. */
export interface NamedByRule {
  readonly groups: ReadonlySet<string>
  /** `ANY_ORGANIZATION`: whichever it is. */
  readonly organizations: ReadonlySet<string>
}

export function namedByRule(rule: AccessRule): NamedByRule {
  return readRule(rule).named
}

/**
 * Applies the rules to a person. Each rule only takes away, so their order does not matter. `isMet`: whether the authentication has a level; a
 * rule that demands it takes nothing then.
 */
export function judge<Rule extends AccessRule>(
  { parts, concerns, resources }: Concerns<Rule>,
  person: Person,
  isMet: (required: RequiredLevel) => boolean,
): Judgment<Rule> {
  const leftOut = new Map<string, Rule>()
  const gone = new Set<Part>()
  let takesBare: Rule | undefined
  const taking: Rule[] = []
  const reporting: Rule[] = []
  const demands: (readonly [token: string, required: RequiredLevel])[] = []
  const terms = termsOfPerson(person)
  for (const { rule, parts: taken } of concerns) {
    if (!holds(readRule(rule).people, terms)) continue
    const { require } = rule
    if (require !== undefined && rule.state === 'on')
      for (const { token } of taken) if (token !== undefined) demands.push([token, require])
    if (require !== undefined && isMet(require)) continue
    if (rule.state === 'report') reporting.push(rule)
    if (rule.state !== 'on') continue
    taking.push(rule)
    for (const part of taken) {
      gone.add(part)
      if (part.token === undefined) takesBare ??= rule
      else if (!leftOut.has(part.token)) leftOut.set(part.token, rule)
    }
  }
  const isGone = (part: Part): boolean => gone.has(part) || (part.token !== undefined && leftOut.has(part.token))
  const isBare = (own: readonly Part[]): boolean => own.every(isGone)
  const isNothing =
    resources.length === 0
      ? isBare(parts)
      : resources.some((resource) => isBare(parts.filter((part) => part.resource === resource)))
  return { leftOut, takesBare, isNothing, demands, taking, reporting }
}

function partsOf({ scope, resources }: JudgedAccess, apis: readonly Declared[]): readonly Part[] {
  const isOfIssuer = resources.length === 0
  const audience = isOfIssuer ? apis : apis.filter(({ resource }) => resources.includes(resource))
  const parts = scopeTokens(scope).flatMap((token): readonly Part[] => {
    if (isIdentityScope(token)) return [{ token, resource: undefined, isIdentity: true }]
    const declaring = audience.filter(({ scopes }) => scopes.some(({ name }) => name === token))
    const at = declaring.length > 0 ? declaring.map(({ resource }) => resource) : isOfIssuer ? [undefined] : resources
    return at.map((resource) => ({ token, resource, isIdentity: false }))
  })
  const bare = resources.filter((resource) => !parts.some((part) => part.resource === resource))
  const others = isOfIssuer && parts.length === 0 ? [undefined] : bare
  return [...parts, ...others.map((resource) => ({ token: undefined, resource, isIdentity: resource === undefined }))]
}

interface Terms {
  readonly only: ReadonlySet<string>
  readonly except: ReadonlySet<string>
}

/** A rule as it is judged: each term is looked up, and none is compared with all others. */
interface ReadRule {
  readonly clients: Terms
  readonly access: Terms
  readonly people: Terms
  readonly named: NamedByRule
}

/** By rule, which is the same object until it changes. */
const readRules = new WeakMap<AccessRule, ReadRule>()

function readRule(rule: AccessRule): ReadRule {
  const known = readRules.get(rule)
  if (known !== undefined) return known
  const { clients, access, people } = rule
  const ofKind = (kind: string): readonly string[] =>
    [...people.only, ...people.except].filter((term) => term.startsWith(kind)).map(valueOf)
  const groups = ofKind('group:')
  const owners = groups.flatMap((id) => organizationOfGroup(id as GroupId) ?? [])
  const read: ReadRule = {
    clients: readTerms(clients),
    access: readTerms(access, canonicalTerm),
    people: readTerms(people),
    named: { groups: new Set(groups), organizations: new Set([...ofKind('organization:'), ...owners]) },
  }
  readRules.set(rule, read)
  return read
}

function readTerms<Term extends string>(
  { only, except }: Condition<Term>,
  spell = String as (term: Term) => string,
): Terms {
  return { only: new Set(only.map(spell)), except: new Set(except.map(spell)) }
}

function canonicalTerm(term: AccessTerm): string {
  if (term === 'sign-in') return term
  const [named = '', name] = valueOf(term).split(' ')
  return name === undefined ? apiTerm(named) : scopeTerm(named, name)
}

function apiTerm(resource: string): string {
  return `api:${canonicalResource(resource)}`
}

function scopeTerm(resource: string, name: string): string {
  return `scope:${canonicalResource(resource)} ${name}`
}

/** `terms`: all that match what is judged. */
function holds({ only, except }: Terms, terms: readonly string[]): boolean {
  return (only.size === 0 || terms.some((term) => only.has(term))) && !terms.some((term) => except.has(term))
}

function termsOfPart({ token, resource, isIdentity }: Part): readonly string[] {
  if (isIdentity) return ['sign-in']
  if (resource === undefined) return []
  return token === undefined ? [apiTerm(resource)] : [apiTerm(resource), scopeTerm(resource, token)]
}

function termsOfPerson({ userId, groups, organizationIds }: Person): readonly string[] {
  const anywhere = organizationIds.length > 0 ? [`organization:${ANY_ORGANIZATION}`] : []
  return [
    `user:${userId}`,
    ...groups.map((id) => `group:${id}`),
    ...organizationIds.map((id) => `organization:${id}`),
    ...anywhere,
  ]
}

/** The person is an active member of an organization, whichever it is. */
export const ANY_ORGANIZATION = 'any'

/** What follows the kind of a term. */
export function valueOf(term: string): string {
  return term.slice(term.indexOf(':') + 1)
}
