import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { GroupId } from '../../../src/protocol/access/group.ts'
import { findConcerns, judge, type JudgedAccess, type Person } from '../../../src/protocol/access/judge.ts'
import {
  type AccessRule,
  type AccessTerm,
  type Condition,
  type PersonTerm,
  type RuleId,
  ruleOf,
  ruleText,
} from '../../../src/protocol/access/rule.ts'
import { ruledClient, type ClientSource, type ClientTerm } from '../../../src/protocol/client/policy.ts'
import type { ClientId, OrganizationId, UserId } from '../../../src/protocol/ids.ts'
import type { Resource } from '../../../src/protocol/token/resource.ts'
import { NOW } from '../../support/records.ts'
import { narrow, scopeOf, scopeTokens, isWithin, type Scope } from '../../../src/protocol/token/scope.ts'

const PAY = 'https://pay.example' as Resource
const LEDGER = 'https://ledger.example' as Resource
/** It has no scopes. */
const FILES = 'https://files.example' as Resource
const APIS = [
  { resource: PAY, scopes: [{ name: 'read' }, { name: 'payments:write' }] },
  { resource: LEDGER, scopes: [{ name: 'read' }] },
  { resource: FILES, scopes: [] },
]
interface Client {
  readonly id: string
  readonly source: ClientSource
  readonly isVerified: boolean
  readonly host?: string
}
const GRAFANA: Client = { id: 'grafana', source: 'operator', isVerified: true }
const REGISTERED: Client = { id: 'gci_a', source: 'registration', isVerified: false }
const CLIENTS: readonly Client[] = [
  GRAFANA,
  REGISTERED,
  { id: 'gci_b', source: 'registration', isVerified: true },
  { id: 'https://app.claude.ai/client', source: 'document', isVerified: false, host: 'app.claude.ai' },
]

/** What rules call it. */
function termsOf({ id, source, isVerified, host }: Client): readonly ClientTerm[] {
  const verifiedAt = isVerified ? NOW : undefined
  const document = host === undefined ? undefined : { url: id }
  return ruledClient({ id: id as ClientId, chosenId: undefined, source, verifiedAt, document })
}

function aRule({
  clients,
  access,
  people,
  ...others
}: { readonly [Part in 'clients' | 'access' | 'people']?: Partial<AccessRule[Part]> } & Partial<
  Pick<AccessRule, 'require' | 'state' | 'sentence'>
>): AccessRule {
  const any = { only: [], except: [] }
  return {
    id: 'rule' as RuleId,
    clients: { ...any, ...clients },
    access: { ...any, ...access },
    people: { ...any, ...people },
    require: undefined,
    state: 'on',
    sentence: undefined,
    ...others,
  }
}

function person(groups: readonly string[], organizations: readonly string[] = []): Person {
  return {
    userId: 'ada' as UserId,
    groups: groups as readonly GroupId[],
    organizationIds: organizations as readonly OrganizationId[],
  }
}

function left(rules: readonly AccessRule[], client: Client, access: JudgedAccess, who: Person, level = 1) {
  const concerns = findConcerns(rules, termsOf(client), access, APIS)
  const { leftOut, isNothing } = judge(concerns, who, (required) => level >= required.level)
  return isNothing ? 'nothing' : narrow(access.scope, (token) => !leftOut.has(token))
}

const ALL = { scope: 'read payments:write' as Scope, resources: [PAY] }
const SIGN_IN = { scope: 'openid email' as Scope, resources: [] }
const NONE = { scope: '' as Scope, resources: [] }
const GROUP = (id: string) => `group:${id as GroupId}` as const

type Case = readonly [client: Client, access: JudgedAccess, who: Person, expected: string, level?: number]

/** The five commands of docs/access-rules.md: the rule, and what a person inside, outside and in both gets. */
const EXAMPLES: readonly { readonly title: string; readonly rule: AccessRule; readonly cases: readonly Case[] }[] = [
  {
    title: 'one scope, for everyone except a group',
    rule: aRule({ access: { only: [`scope:${PAY} payments:write`] }, people: { except: [GROUP('finance')] } }),
    cases: [
      [GRAFANA, ALL, person(['finance']), ALL.scope],
      [GRAFANA, ALL, person(['dev']), 'read'],
      [GRAFANA, ALL, person(['dev', 'finance']), ALL.scope],
      [GRAFANA, { ...ALL, scope: 'payments:write' as Scope }, person([]), 'nothing'],
      [GRAFANA, SIGN_IN, person([]), SIGN_IN.scope],
    ],
  },
  {
    title: 'a group, at clients that registered',
    rule: aRule({ clients: { only: ['source:registration'] }, people: { only: [GROUP('contractors')] } }),
    cases: [
      [REGISTERED, ALL, person(['contractors']), 'nothing'],
      [REGISTERED, NONE, person(['contractors']), 'nothing'],
      [REGISTERED, ALL, person(['finance']), ALL.scope],
      [REGISTERED, ALL, person(['contractors', 'finance']), 'nothing'],
      [GRAFANA, ALL, person(['contractors']), ALL.scope],
    ],
  },
  {
    title: 'the members of an organization, at all clients except two',
    rule: aRule({ clients: { except: ['client:gci_a', 'client:gci_b'] }, people: { only: ['organization:acme'] } }),
    cases: [
      [GRAFANA, SIGN_IN, person([], ['acme']), 'nothing'],
      [REGISTERED, SIGN_IN, person([], ['acme']), SIGN_IN.scope],
      [GRAFANA, SIGN_IN, person([], ['globex']), SIGN_IN.scope],
      [GRAFANA, SIGN_IN, person([], ['acme', 'globex']), 'nothing'],
    ],
  },
  {
    title: 'one client, for two groups alone',
    rule: aRule({ clients: { only: ['client:grafana'] }, people: { except: [GROUP('ops'), GROUP('dev')] } }),
    cases: [
      [GRAFANA, SIGN_IN, person(['ops']), SIGN_IN.scope],
      [GRAFANA, SIGN_IN, person(['sales']), 'nothing'],
      [GRAFANA, SIGN_IN, person(['dev', 'ops']), SIGN_IN.scope],
      [REGISTERED, SIGN_IN, person([]), SIGN_IN.scope],
    ],
  },
  {
    title: 'a level for a group',
    rule: aRule({ people: { only: [GROUP('admins')] }, require: { level: 3, maxAge: undefined } }),
    cases: [
      [GRAFANA, ALL, person(['admins']), 'nothing'],
      [GRAFANA, ALL, person(['dev']), ALL.scope],
      [GRAFANA, ALL, person(['admins', 'dev']), 'nothing'],
      [GRAFANA, ALL, person(['admins']), ALL.scope, 3],
    ],
  },
]

for (const { title, rule, cases } of EXAMPLES)
  test(`ACS-01: ${title}`, () => {
    for (const [client, access, who, expected, level] of cases) {
      const about = `${client.id} ${access.scope} ${who.groups.join(' ')}`
      assert.equal(left([rule], client, access, who, level), expected, about)
      assert.equal(left([{ ...rule, state: 'report' }], client, access, who, level), access.scope, about)
      assert.equal(left([{ ...rule, state: 'off' }], client, access, who, level), access.scope, about)
    }
  })

test('a rule is read as it was written, and one that is not readable takes everything', () => {
  for (const { rule } of EXAMPLES) assert.deepEqual(ruleOf(rule.id, ruleText(rule)), rule)
  const said = aRule({ sentence: 'Ask "finance"', require: { level: 2, maxAge: 60 }, state: 'report' })
  assert.deepEqual(ruleOf(said.id, ruleText(said)), said)
  const unknown = ruleText(said).replace('{', '{"times":["monday"],')
  for (const text of ['', '{', '[]', '{"state":"off"}', unknown])
    assert.equal(left([ruleOf('later' as RuleId, text)], GRAFANA, ALL, person(['finance'])), 'nothing', text)
})

const TOKENS = ['openid', 'groups', 'read', 'payments:write', 'other'] as const
const PEOPLE: readonly PersonTerm[] = ['group:ops' as PersonTerm, 'group:dev' as PersonTerm, 'user:ada', 'user:grace']
const MEMBERS: readonly PersonTerm[] = ['organization:acme', 'organization:any']
const NAMED: readonly AccessTerm[] = ['sign-in', `api:${PAY}`, `api:${FILES}`, `api:${LEDGER}/`]
const SCOPES: readonly AccessTerm[] = [`scope:${PAY} read`, `scope:${LEDGER} read`, `scope:${PAY} payments:write`]
const PROGRAMS: readonly ClientTerm[] = [
  'client:grafana',
  'source:registration',
  'unverified',
  'document:*.claude.ai',
  'document:claude.ai',
]

function condition<Term extends string>(terms: readonly Term[]): fc.Arbitrary<Condition<Term>> {
  return fc.record({
    only: fc.subarray([...terms], { maxLength: 2 }),
    except: fc.subarray([...terms], { maxLength: 2 }),
  })
}
const RULE: fc.Arbitrary<AccessRule> = fc.record({
  id: fc.constant('rule' as RuleId),
  clients: condition(PROGRAMS),
  access: condition([...NAMED, ...SCOPES]),
  people: condition([...PEOPLE, ...MEMBERS]),
  require: fc.constantFrom(undefined, undefined, { level: 2, maxAge: undefined } as const),
  state: fc.constantFrom('on', 'on', 'report', 'off'),
  sentence: fc.constant(undefined),
})
const WORLD = fc.record({
  client: fc.constantFrom(...CLIENTS),
  access: fc.record({
    scope: fc.subarray([...TOKENS]).map(scopeOf),
    resources: fc.subarray([PAY, LEDGER, FILES]),
  }),
  who: fc
    .tuple(fc.subarray(['ops', 'dev']), fc.subarray(['acme', 'globex']))
    .map(([groups, organizations]) => person(groups, organizations)),
  level: fc.constantFrom(1, 2),
})
type World = typeof WORLD extends fc.Arbitrary<infer One> ? One : never

/** Whether a text is one of a list of terms, in other words than the judge has it. */
function among(terms: readonly string[], facts: readonly string[]): boolean {
  return terms.some((term) => facts.includes(term))
}
function hit({ only, except }: Condition<string>, facts: readonly string[]): boolean {
  return !among(except, facts) && (only.length === 0 || among(only, facts))
}

/** The second judge: each scope at each API alone, by lists of all that is true. */
function secondJudge(rules: readonly AccessRule[], { client, access, who, level }: World): string {
  const below = client.host?.split('.').slice(1).join('.')
  const ofClient = [
    `client:${client.id}`,
    `source:${client.source}`,
    client.isVerified ? '' : 'unverified',
    `document:${client.host}`,
    `document:*.${below}`,
  ]
  const member = who.organizationIds.map((id) => `organization:${id}`)
  const ofPerson = [`user:${who.userId}`, ...who.groups.map((id) => `group:${id}`), ...member]
  if (member.length > 0) ofPerson.push('organization:any')
  const takes = (facts: readonly string[]): boolean =>
    rules.some(
      ({ clients, access: what, people, require, state }) =>
        state === 'on' &&
        hit(clients, ofClient) &&
        hit(people, ofPerson) &&
        hit(what, facts) &&
        !(require !== undefined && level >= require.level),
    )
  const names = (resource: Resource, token: string): readonly string[] => [
    `api:${resource}`,
    `api:${resource}/`,
    `scope:${resource} ${token}`,
  ]
  const { resources } = access
  const tokens = scopeTokens(access.scope)
  const audience = APIS.filter(({ resource }) => resources.length === 0 || resources.includes(resource))
  const at = (token: string): readonly (Resource | undefined)[] => {
    if (['openid', 'groups'].includes(token)) return []
    const declaring = audience.filter(({ scopes }) => scopes.some(({ name }) => name === token))
    return declaring.length > 0
      ? declaring.map(({ resource }) => resource)
      : resources.length === 0
        ? [undefined]
        : resources
  }
  const isKept = (token: string): boolean =>
    ['openid', 'groups'].includes(token)
      ? !takes(['sign-in'])
      : at(token).every((resource) => !takes(resource === undefined ? [] : names(resource, token)))
  const kept = tokens.filter(isKept)
  if (resources.length === 0) {
    const isNothing = tokens.length === 0 ? takes(['sign-in']) : kept.length === 0
    return isNothing ? 'nothing' : kept.join(' ')
  }
  const isBare = (resource: Resource): boolean => {
    const own = tokens.filter((token) => at(token).includes(resource))
    return own.length === 0 ? takes(names(resource, '')) : !own.some((token) => kept.includes(token))
  }
  return resources.some(isBare) ? 'nothing' : kept.join(' ')
}

test('ACS-03: the judge and a second one agree', () => {
  fc.assert(
    fc.property(fc.array(RULE, { maxLength: 4 }), WORLD, (rules, world) => {
      const { client, access, who, level } = world
      assert.equal(left(rules, client, access, who, level), secondJudge(rules, world))
    }),
    { numRuns: 2000 },
  )
})

test('ACS-03: a rule more never gives more', () => {
  fc.assert(
    fc.property(fc.array(RULE, { maxLength: 3 }), RULE, WORLD, (rules, rule, { client, access, who, level }) => {
      const before = left(rules, client, access, who, level)
      const after = left([rule, ...rules], client, access, who, level)
      if (before === 'nothing') assert.equal(after, 'nothing')
      else if (after !== 'nothing') assert.ok(isWithin(after, before))
    }),
    { numRuns: 1000 },
  )
})
