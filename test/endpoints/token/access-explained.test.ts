import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { asAdministrator, COMMAND_LINE } from '../../../src/admin/administrators.ts'
import type { AdminError } from '../../../src/admin/admin-error.ts'
import { runTask } from '../../../src/admin/run-task.ts'
import { requireTask } from '../../../src/admin/tasks.ts'
import type { AccessExplanation } from '../../../src/admin/access/explain.ts'
import { IDENTITY_SCOPES, type Scope } from '../../../src/protocol/token/scope.ts'
import { authorizeUrl, PlainBrowser, redeem, refresh, requestToken, type Tokens } from '../../../tools/flow.ts'
import { knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { A, B, openExchanges } from '../../support/exchanges.ts'
import {
  addMember,
  codeIn,
  createOrganization,
  createPerson,
  install,
  openConsent,
} from '../../support/organizations.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** `access explain` beside what requests get (docs/access-rules.md). */

const opened = await openExchanges(WHOLE_FILE, { env: { ...DEVICES_ON } })
const { server, a, ada, acme, client, exchange } = opened
const { context } = server
const device = await createDeviceClient(server)
await install(server, client, acme, { scope: 'a:status b:status' as Scope, actsForMembers: true })
for (const group_id of ['finance', 'ops', 'others']) await perform(context, 'group.create', { group_id })
await perform(context, 'group.add-member', { group_id: 'ops', user_id: ada })
await perform(context, 'organization-group.create', { organization_id: acme, group_id: 'board' })
const browser = new PlainBrowser(server)

const EVERYTHING = 'openid email groups offline_access a:read a:status a:delete a:export a:pay a:never'

/** The scope of an answer with tokens, and the tokens; empty: it is a refusal. */
function scopeOf(answer: LightMyRequestResponse): readonly string[] {
  if (answer.statusCode !== 200) return []
  const { scope = '' } = answer.json<{ readonly scope?: string }>()
  return scope.split(' ').filter((token) => token !== '')
}

async function codeFor(parameters: Readonly<Record<string, string>>, organization: string, more = '') {
  const url = authorizeUrl(client, { scope: EVERYTHING, resource: A, prompt: 'consent', ...parameters }) + more
  const page = await openConsent(browser, url)
  if (page.statusCode !== 200 || !page.body.includes('name="decision"')) return undefined
  return codeIn(await browser.submit(page, { decision: 'allow', organization }))
}

/** All that Ada's client gets on the ways to a token: what each gives, as `<API> <scope>`. */
async function gotten(organization: string): Promise<readonly (readonly [way: string, got: readonly string[]])[]> {
  const found: [string, string[]][] = []
  const note = (way: string, apis: readonly string[], answer: LightMyRequestResponse): void => {
    const isIdentity = (token: string): boolean => (IDENTITY_SCOPES as readonly string[]).includes(token)
    const own = (token: string): string => apis.find((api) => token.startsWith(api === A ? 'a:' : 'b:')) ?? ''
    found.push([
      way,
      scopeOf(answer).map((token) => (isIdentity(token) ? `sign-in ${token}` : `${own(token)} ${token}`)),
    ])
  }
  for (const [way, parameters, more, apis] of [
    ['a code for one API', {}, '', [A]],
    ['a code without an API', { scope: 'a:read a:delete', resource: '' }, '', [A]],
    ['a code for two APIs', { scope: `${EVERYTHING} b:read b:status` }, `&resource=${encodeURIComponent(B)}`, [A, B]],
    ['a code without a scope of an API', { scope: 'openid email groups', resource: '' }, '', []],
  ] as const) {
    const present = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''))
    const dropped = 'resource' in parameters ? { ...present, resource: server.origin } : present
    const code = await codeFor(
      'resource' in parameters && parameters.resource === '' ? dropped : present,
      organization,
      more,
    )
    if (code === undefined) continue
    const answer = await redeem(server, client, code)
    note(way, apis, answer)
    if (answer.statusCode !== 200) continue
    const tokens = answer.json<Tokens>()
    note(`${way}, refreshed`, apis, await refresh(server, client, tokens.refresh_token ?? ''))
    if (way === 'a code for one API') note('an exchange', [B], await exchange(a, tokens.access_token))
  }
  return found
}

const RULE = fc.record({
  clients: fc.constantFrom([], [], [client.client_id], ['unverified'], [device.client_id]),
  except_clients: fc.subarray(['source:document', device.client_id], { maxLength: 1 }),
  apis: fc.subarray([A, B], { maxLength: 1 }),
  scopes: fc.subarray([`${A}=a:read`, `${A}=a:status`, `${B}=b:status`, `${B}=b:read`], { maxLength: 2 }),
  sign_in: fc.boolean(),
  groups: fc.subarray(['ops', 'finance'], { maxLength: 1 }),
  except_groups: fc.subarray(['finance', 'others', 'ops'], { maxLength: 1 }),
  require: fc.constantFrom('none', 'none', '2fa', 'phr'),
  state: fc.constantFrom('on', 'on', 'report', 'off'),
})

test('ACS-04: no way to a token gives more than is explained, and a code for one API gives just that', async () => {
  let [tokens, taken] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.array(RULE, { minLength: 1, maxLength: 2 }),
      fc.array(RULE, { maxLength: 1 }),
      async (rules, own) => {
        const made: [string, Members][] = []
        const create = async (task: string, place: Members, rule: Members): Promise<void> => {
          const name = { ...place, rule_id: `r${made.length}` }
          // A rule that names nothing would take everything.
          const isMade = await perform(context, `${task}.create`, { ...name, ...rule }).then(
            () => true,
            () => false,
          )
          if (isMade) made.push([task, name])
        }
        for (const rule of rules) await create('access-rule', {}, rule)
        for (const rule of own)
          await create(
            'organization-access-rule',
            { organization_id: acme },
            { ...rule, groups: [], except_groups: [] },
          )
        knowApis(server)
        try {
          for (const organization of ['none', acme]) {
            const place = organization === 'none' ? {} : { organization_id: organization }
            const task = organization === 'none' ? 'access.explain' : 'organization-access.explain'
            const asked = { ...place, user_id: ada, client_id: client.client_id }
            const explained = await perform<AccessExplanation>(context, task, asked)
            const given = givenIn(explained, 'sign-in')
            const ways = await gotten(organization)
            for (const [way, got] of ways)
              for (const one of got)
                assert.ok(given.has(one), `${way} gives ${one}, for ${organization}: ${JSON.stringify(made)}`)
            const [, ofCode = []] = ways.find(([way]) => way === 'a code for one API') ?? []
            const atA = [...given].filter((one) => one.startsWith(`${A} `)).toSorted()
            assert.deepEqual(ofCode.filter((one) => one.startsWith(`${A} `)).toSorted(), atA, JSON.stringify(made))
            tokens += ways.length
            taken += made.length > 0 && atA.length < 4 ? 1 : 0
            if (organization === 'none') continue
            const member = { grant_type: 'client_credentials', resource: A, org_id: acme, user_id: ada }
            const forMember = givenIn(explained, 'for-member')
            for (const token of scopeOf(await requestToken(server, client, member)))
              assert.ok(forMember.has(`${A} ${token}`), `for a member: ${token}`)
          }
        } finally {
          for (const [task, name] of made) await perform(context, `${task}.delete`, name)
          knowApis(server)
        }
      },
    ),
    { numRuns: 10, seed: 59 },
  )
  assert.ok(tokens > 60 && taken > 3, `${tokens} tokens, and ${taken} times something was taken`)
})

function givenIn({ ways }: AccessExplanation, wanted: AccessExplanation['ways'][number]['way']): ReadonlySet<string> {
  const found = ways.find(({ way }) => way === wanted)?.apis ?? []
  return new Set(
    found.flatMap(({ resource, scopes }) =>
      scopes.filter(({ gives }) => gives).map(({ scope }) => `${resource ?? 'sign-in'} ${scope}`),
    ),
  )
}

test('ACS-04: an administrator of one organization learns of no group, rule, grant, API and user of others', async () => {
  const globex = await createOrganization(server, 'Globex')
  await addMember(server, ada, globex)
  const bob = await createPerson(server, 'bob@globex.test')
  await addMember(server, bob, globex)
  await perform(context, 'organization-group.create', { organization_id: globex, group_id: 'merger' })
  await perform(context, 'organization-group.add-member', { organization_id: globex, group_id: 'merger', user_id: ada })
  await perform(context, 'organization-group.remove-member', {
    organization_id: globex,
    group_id: 'merger',
    user_id: ada,
  })
  await perform(context, 'organization-group.add-member', { organization_id: acme, group_id: 'board', user_id: ada })
  for (const [rule_id, more] of [
    ['covert', { groups: ['ops'], scopes: [`${A}=a:read`], sentence: 'Hush' }],
    ['covert-trial', { groups: ['ops'], scopes: [`${A}=a:status`], state: 'report' }],
  ] as const)
    await perform(context, 'access-rule.create', { rule_id, ...more })
  await perform(context, 'organization-access-rule.create', {
    organization_id: acme,
    rule_id: 'own',
    groups: [`${acme}/board`],
    scopes: [`${A}=a:delete`],
  })
  knowApis(server)
  await opened.tokensFor({ scope: 'b:read', resource: B }, { organization: globex })
  const administrator = { ...COMMAND_LINE, access: 'read', organizationId: acme } as const
  const explain = (user_id: string, more: Members = {}): Promise<AccessExplanation> => {
    const input = { organization_id: acme, user_id, client_id: client.client_id, ...more }
    const task = requireTask('organization-access.explain')
    return runTask(asAdministrator(context, administrator), task, input, () => undefined) as Promise<AccessExplanation>
  }
  const seen = await explain(ada, { resource: A, scope: 'a:read a:status a:delete' })
  const said = JSON.stringify([seen, await explain(ada)])
  for (const word of ['ops', 'covert', 'Hush', 'merger', globex, bob, 'c.example'])
    assert.ok(!said.includes(word), `${word} in ${said}`)
  const reasons = seen.ways[0]?.apis[0]?.scopes.map(({ scope, reason, why }) => [scope, reason, why])
  assert.deepEqual(reasons, [
    ['a:read', 'access_rule', 'A rule of the server takes it.'],
    ['a:status', null, null],
    ['a:delete', 'access_rule', `Rule own takes it from ${acme}/board. The user is in ${acme}/board (operator).`],
  ])
  assert.deepEqual(
    seen.groups.map(({ group_id: id }) => id),
    [`${acme}/board`],
  )
  assert.equal(seen.ways[0]?.reach, null, 'the account is of another organization too')
  await perform(context, 'user.disable', { user_id: ada })
  assert.deepEqual((await explain(ada)).ways[0]?.obstacles, [])
  await perform(context, 'user.enable', { user_id: ada })
  const errors = await Promise.all(
    [bob, 'gus_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'].map((id) =>
      explain(id).then(
        () => 'answered',
        (cause: AdminError) => [cause.kind, cause.message.replaceAll(id, '<id>')],
      ),
    ),
  )
  assert.deepEqual(errors[0], errors[1])
  assert.equal(errors[0]?.[0], 'unknown')
})
