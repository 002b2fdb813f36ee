import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { verifyToken } from '../../../src/library/verify.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import { CONSOLE_CLIENT_ID } from '../../../src/protocol/client/console.ts'
import { findRuling, NEVER_MET } from '../../../src/tokens/access-rules.ts'
import { openDeviceConsent, poll, startDevice } from '../../../tools/device-flow.ts'
import { authorizeUrl, PlainBrowser, redeem, refresh, requestToken, type Tokens } from '../../../tools/flow.ts'
import { knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { lastLogged } from '../../support/error-answer.ts'
import { A, B, openExchanges } from '../../support/exchanges.ts'
import { codeIn, install, openConsent } from '../../support/organizations.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { dumpStore } from '../../support/store/dump.ts'
import { perform, type Members } from '../../support/tasks.ts'
import { introspect } from '../../support/token-questions.ts'

/** Access rules at the moments of tokens (docs/access-rules.md). */

const opened = await openExchanges(WHOLE_FILE, { env: { ...DEVICES_ON } })
const { server, a, b, ada, acme, client, tokensFor, exchange, exchanged } = opened
const { context } = server
const cli = await createDeviceClient(server)
await install(server, client, acme, { scope: 'a:status b:status' as Scope, actsForMembers: true })
await perform(context, 'group.create', { group_id: 'finance' })
await perform(context, 'organization-group.create', { organization_id: acme, group_id: 'ops' })

/** Until the end of the work there is a rule, and each node knows it. */
async function withRule<Result>(
  rule: Members,
  work: () => Promise<Result>,
  noun: 'access-rule' | 'organization-access-rule' = 'access-rule',
): Promise<Result> {
  const place = noun === 'access-rule' ? {} : { organization_id: acme }
  await perform(context, `${noun}.create`, { ...place, rule_id: 'r', ...rule })
  knowApis(server)
  try {
    return await work()
  } finally {
    await perform(context, `${noun}.delete`, { ...place, rule_id: 'r' })
    knowApis(server)
  }
}

async function setFinance(isMember: boolean): Promise<void> {
  await perform(context, `group.${isMember ? 'add' : 'remove'}-member`, { group_id: 'finance', user_id: ada })
  knowApis(server)
}

const SCOPE = 'a:read a:status'
/** Ada is not in finance. */
const RULES = {
  'takes one scope': { scopes: [`${A}=a:status`, `${B}=b:status`], except_groups: ['finance'] },
  'takes the APIs': { apis: [A, B], except_groups: ['finance'] },
  'demands a level': { apis: [A, B], require: 'phr' },
  'only reports': { apis: [A, B], state: 'report' },
  'is about others': { apis: [A, B], groups: ['finance'] },
} as const
type Answers = readonly [one: string, all: string, level: string, report: string, others: string]

interface Way {
  /** What comes before the rule. */
  readonly before: () => Promise<unknown>
  readonly after: (before: never) => Promise<LightMyRequestResponse>
  /** The scope, or the error with its reason, under each rule. */
  readonly answers: Answers
}

const browser = new PlainBrowser(server)
async function aCode(parameters: Readonly<Record<string, string>> = {}): Promise<string> {
  const url = authorizeUrl(client, { scope: SCOPE, resource: A, prompt: 'consent', ...parameters })
  const page = await openConsent(browser, url)
  return codeIn(await browser.submit(page, { decision: 'allow', organization: 'none' })) ?? assert.fail(page.body)
}
const refused = 'invalid_grant access_rule'
const noScope = 'invalid_scope scope_not_allowed'
const OF_GRANTS: Answers = ['a:read', refused, refused, SCOPE, SCOPE]

const WAYS: Readonly<Record<string, Way>> = {
  'a code': { before: () => aCode(), after: (code: string) => redeem(server, client, code), answers: OF_GRANTS },
  'a refresh': {
    before: () => tokensFor({ scope: SCOPE }),
    after: (tokens: Tokens) => refresh(server, client, tokens.refresh_token ?? ''),
    answers: OF_GRANTS,
  },
  'a refresh with the scope of the client': {
    before: () => tokensFor({ scope: SCOPE }),
    after: ({ refresh_token = '' }: Tokens) =>
      requestToken(server, client, { grant_type: 'refresh_token', refresh_token, scope: SCOPE }),
    answers: OF_GRANTS,
  },
  'a refresh for what is left out alone': {
    before: () => tokensFor({ scope: SCOPE }),
    after: ({ refresh_token = '' }: Tokens) =>
      requestToken(server, client, { grant_type: 'refresh_token', refresh_token, scope: 'a:status' }),
    answers: [noScope, refused, refused, 'a:status', 'a:status'],
  },
  'a device': {
    async before() {
      const device = await startDevice(server, cli, { scope: SCOPE, resource: A })
      const page = await openDeviceConsent(browser, device)
      await browser.submit(page, { decision: 'allow', organization: 'none', own_device: 'on' })
      return device
    },
    after: (device: Awaited<ReturnType<typeof startDevice>>) => poll(server, cli, device),
    answers: OF_GRANTS,
  },
  // Of the API b. The subject token is for a, which the rules below leave alone.
  'an exchange': {
    before: () => tokensFor(),
    after: (tokens: Tokens) => exchange(a, tokens.access_token),
    answers: ['b:read', noScope, noScope, 'b:read b:status', 'b:read b:status'],
  },
  'a client that acts for a member': {
    before: async () => undefined,
    after: () =>
      requestToken(server, client, {
        grant_type: 'client_credentials',
        resource: A,
        scope: 'a:status',
        org_id: acme,
        user_id: ada,
      }),
    answers: [noScope, noScope, noScope, 'a:status', 'a:status'],
  },
  'a client alone': {
    before: async () => undefined,
    after: () =>
      requestToken(server, client, { grant_type: 'client_credentials', resource: A, scope: 'a:status', org_id: acme }),
    answers: ['a:status', 'a:status', 'a:status', 'a:status', 'a:status'],
  },
}

function outcomeOf(answer: LightMyRequestResponse): string {
  const { scope, error } = answer.json<{ readonly scope?: string; readonly error?: string }>()
  return error === undefined ? (scope ?? '') : `${error} ${String(lastLogged(server)['reason'])}`
}

for (const [way, { before, after, answers }] of Object.entries(WAYS))
  test(`ACS-02: ${way} gets what rules leave: one scope, nothing, a level, all`, async () => {
    for (const [index, [name, rule]] of Object.entries(RULES).entries()) {
      const given = (await before()) as never
      const onB = 'apis' in rule ? { ...rule, apis: [B] } : rule
      await withRule(way === 'an exchange' ? onB : rule, async () => {
        assert.equal(outcomeOf(await after(given)), answers[index], name)
        const { left_out: leftOut } = lastLogged(server)
        const isNarrowed = index === 0 && !answers[0].includes('invalid') && way !== 'a client alone'
        assert.equal(leftOut, isNarrowed ? (way === 'an exchange' ? 'b:status' : 'a:status') : undefined, name)
      })
    }
  })

test('ACS-05: a refused code or refresh changes nothing, and works when the rule goes', async () => {
  const [code, { refresh_token: token = '' }] = [await aCode(), await tokensFor({ scope: SCOPE })]
  await withRule(RULES['takes the APIs'], async () => {
    const stored = dumpStore(server)
    for (const answer of [await redeem(server, client, code), await refresh(server, client, token)])
      assert.equal(outcomeOf(answer).split(' ')[0], 'invalid_grant')
    assert.deepEqual(dumpStore(server), stored)
    await setFinance(true)
    assert.equal(outcomeOf(await refresh(server, client, token)), SCOPE)
    await setFinance(false)
  })
  assert.equal(outcomeOf(await redeem(server, client, code)), SCOPE)
})

test('ACS-02: introspection, verify and an exchange see what is left now, and no level', async () => {
  const { access_token: token } = await tokensFor({ scope: SCOPE })
  const opaque = (await exchanged(a, token)).access_token
  const seen = async () => {
    const answer = (await introspect(server, a, token)).json<{ active: boolean; scope?: string }>()
    const verified = await verifyToken(context, token, { resource: A }).then(
      ({ scope }) => scope,
      (cause: { readonly reason: string }) => cause.reason,
    )
    const ofB = (await introspect(server, b, opaque)).json<{ active: boolean; scope?: string }>()
    assert.equal(verified, answer.active ? answer.scope : 'access-rule')
    return [answer.active && answer.scope, ofB.active && ofB.scope]
  }
  const all = [SCOPE, 'b:read b:status']
  assert.deepEqual(await seen(), all)
  const expected = [['a:read', 'b:read'], [false, false], all, all, all]
  for (const [index, rule] of Object.values(RULES).entries())
    await withRule(rule, async () => assert.deepEqual(await seen(), expected[index]))
  await withRule(RULES['takes the APIs'], async () => {
    assert.equal(outcomeOf(await exchange(a, token)), 'invalid_request subject_inactive')
    await assert.rejects(verifyToken(context, token, { resource: A, scope: 'a:read' }), /access-rule/)
  })
  await withRule(RULES['takes one scope'], () =>
    assert.rejects(verifyToken(context, token, { resource: A, scope: 'a:status' }), /scope-missing: a:status/),
  )
})

test('ACS-02: sign-in that is left out: no ID token beside the scope of an API, and no userinfo', async () => {
  const parameters = { scope: 'openid email a:read' }
  const tokens = (await tokensFor(parameters)) as Tokens & { readonly id_token?: string }
  assert.ok(tokens.id_token)
  const own = await tokensFor({ scope: 'openid email', resource: server.origin })
  const userinfo = async () => {
    const headers = { authorization: `Bearer ${own.access_token}` }
    return (await server.inject({ method: 'GET', url: '/v2/oauth/userinfo', headers })).statusCode
  }
  assert.equal(await userinfo(), 200)
  await withRule({ sign_in: true, except_groups: ['finance'] }, async () => {
    const next = (await refresh(server, client, tokens.refresh_token ?? '')).json<Tokens & { id_token?: string }>()
    assert.deepEqual([next.scope, next.id_token], ['a:read', undefined])
    assert.equal(await userinfo(), 401)
    assert.equal(outcomeOf(await refresh(server, client, own.refresh_token ?? '')), refused)
    await setFinance(true)
    assert.equal(await userinfo(), 200)
    await setFinance(false)
  })
})

test('the rules of an organization hold for its grants alone, and for the groups that it has', async () => {
  const personal = await tokensFor({ scope: SCOPE })
  const forAcme = await tokensFor({ scope: SCOPE }, { organization: acme })
  const scopeOf = async (tokens: Tokens) => outcomeOf(await refresh(server, client, tokens.refresh_token ?? ''))
  const rule = { scopes: [`${A}=a:status`], except_groups: ['ops'] }
  await withRule(
    rule,
    async () => {
      assert.deepEqual([await scopeOf(personal), await scopeOf(forAcme)], [SCOPE, 'a:read'])
      const member = { organization_id: acme, group_id: 'ops', user_id: ada }
      await perform(context, 'organization-group.add-member', member)
      assert.equal(await scopeOf(forAcme), SCOPE)
      await perform(context, 'organization-group.remove-member', member)
    },
    'organization-access-rule',
  )
  const foreign = { organization_id: acme, rule_id: 'r', groups: ['finance/x'] }
  await assert.rejects(perform(context, 'organization-access-rule.create', foreign), /There is no group/)
})

test('a change of a rule says until when JWTs are accepted that it takes; one that takes nothing says null', async () => {
  const rule = { rule_id: 'said', sign_in: true, groups: ['finance'], state: 'report' }
  const until = async (task: string, members: Members): Promise<boolean> =>
    (await perform<{ jwt_accepted_until: string | null }>(context, task, members)).jwt_accepted_until !== null
  assert.equal(await until('access-rule.create', rule), false)
  for (const state of ['on', 'off'])
    assert.equal(await until('access-rule.update', { rule_id: 'said', state }), state === 'on', state)
  await perform(context, 'access-rule.delete', { rule_id: 'said' })
})

test('a rule of the server counts organizations and their groups, also without one in the grant', async () => {
  const personal = await tokensFor({ scope: SCOPE })
  const member = { organization_id: acme, group_id: 'ops', user_id: ada }
  await perform(context, 'organization-group.add-member', member)
  const scopeOf = async () => outcomeOf(await refresh(server, client, personal.refresh_token ?? ''))
  for (const people of [{ organizations: [acme] }, { organizations: ['any'] }, { groups: [`${acme}/ops`] }])
    await withRule({ scopes: [`${A}=a:status`], ...people }, async () => {
      assert.equal(await scopeOf(), 'a:read')
      await perform(context, 'member.disable', { organization_id: acme, user_id: ada })
      knowApis(server)
      assert.equal(await scopeOf(), SCOPE)
      await perform(context, 'member.enable', { organization_id: acme, user_id: ada })
      await perform(context, 'organization.disable', { organization_id: acme })
      knowApis(server)
      assert.equal(await scopeOf(), SCOPE)
      await perform(context, 'organization.enable', { organization_id: acme })
      knowApis(server)
    })
})

test('ACS-05: no rule concerns the console, rules that are not read refuse, and without one nothing is read', async () => {
  const access = {
    client: (await context.store.findClient(client.client_id as never)) ?? assert.fail(),
    userId: ada,
    organizationId: undefined,
    scope: 'openid' as Scope,
    resources: [],
  }
  const store = { ...context.store, findBelonging: () => assert.fail('it is not read') }
  const judged = (own: object = {}) => findRuling({ ...context, store, ...own }, access, NEVER_MET)
  assert.equal(await judged(), undefined)
  await withRule({ clients: ['other'], groups: ['finance'] }, async () => assert.equal(await judged(), undefined))
  await withRule({ sign_in: true }, async () => {
    assert.equal((await judged())?.isNothing, true)
    const console = { ...access, client: { ...access.client, id: CONSOLE_CLIENT_ID } }
    assert.equal(await findRuling(context, console, NEVER_MET), undefined)
  })
  const read = async () => Promise.reject(new Error('The store is away'))
  await assert.rejects(judged({ accessRules: { peek: () => undefined, read } }), /away/)
})

test('ACS-05: the client learns neither rule nor group', async () => {
  const { access_token: token, refresh_token: next = '' } = await tokensFor({ scope: SCOPE })
  await withRule({ ...RULES['takes the APIs'], sentence: 'Only Finance' }, async () => {
    const answers = [await refresh(server, client, next), await introspect(server, a, token)]
    for (const { body } of answers) assert.doesNotMatch(body, /finance|"r"|Only/i)
  })
  assert.equal(decodeJwt(token)['scope'], SCOPE)
})
