import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { SCREENS } from '../../src/console/screens.ts'
import {
  asksFirst,
  chosenRows,
  fieldsIn,
  needsRecentSignIn,
  worksOnce,
  type Form,
} from '../../src/console/engine/form.ts'
import { isReading } from '../../src/admin/task.ts'
import { requireTask, TASKS } from '../../src/admin/tasks.ts'
import { obtainTokens, PASSWORD, type Tokens } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { openAdminServer, type AdminServer, type PeopledOrganization } from '../support/admin-server.ts'
import { ConsoleBrowser, giveRole, grantIdIn, leadsTo } from '../../tools/console-browser.ts'
import { dumpStore } from '../support/store/dump.ts'
import { perform } from '../support/tasks.ts'
import { askOf, formOf, mayDo, pageOf, type Caller, type Kind } from './callers.ts'
import type { FormOnScreen, Objects } from './form-objects.ts'
import { typeIn, type Fields } from './open-form.ts'
import { RULES, type FormRule } from './rules.ts'
import type { RoleRecord } from '../../src/ports/records/role.ts'

/** Each screen and each form for each kind of caller, against rules that are written by hand. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let mine: PeopledOrganization
let callers: ReadonlyMap<string, Caller>

before(async () => {
  // The forms of mails are there. Nothing is delivered.
  const mail = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) }, mail)
  mine = await stage.makePeopledOrganization()
  callers = await makeCallers()
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

async function makeCallers(): Promise<ReadonlyMap<string, Caller>> {
  const { server } = stage
  const person = async (access?: RoleRecord['access'], within?: PeopledOrganization['organization_id']) => {
    const email = stage.anEmail()
    await createAccount(server, { email, password: PASSWORD, name: undefined })
    if (access !== undefined) await giveRole(server, access, email, within)
    return email
  }
  const signIn = async (email: string) => {
    const browser = new ConsoleBrowser(server)
    await browser.open('/console', { email })
    const session = browser.console.cookies.get('grantor-console-3001') ?? ''
    return { headers: { cookie: browser.console.cookieHeader }, grantId: grantIdIn(browser), session }
  }
  const writer = await person('write')
  const stale = await signIn(writer)
  server.clock.advance(5 * 60 * 1000 + 1)
  const [fresh, ended, other] = [await signIn(writer), await signIn(writer), await signIn(await person('write'))]
  await perform(server.context, 'grant.revoke', { grant_id: ended.grantId })
  const client = await stage.makeClient()
  const tokens = (await obtainTokens(server, client, { scope: 'openid' })) as Tokens & { readonly id_token: string }
  assert.match(tokens.id_token, /^ey/)
  const { token: credential } = await stage.issue('write')
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, grantId: fresh.grantId })
  const asCookie = (value: string) => ({ headers: { cookie: `grantor-console-3001=${value}` }, grantId: fresh.grantId })
  const [payload = '', mac = ''] = fresh.session.split('.')
  const [otherPayload = ''] = other.session.split('.')

  const nothing = { sees: 'nothing', access: 'write', isFresh: true } as const
  const organization_id = mine.organization_id
  const rows: readonly (readonly [name: string, caller: Caller])[] = [
    ['no session', { ...nothing, headers: {}, grantId: fresh.grantId }],
    ['the credentials of an administrator', { ...nothing, ...bearer(credential) }],
    ['an access token', { ...nothing, ...bearer(tokens.access_token) }],
    ['an ID token', { ...nothing, ...bearer(tokens.id_token) }],
    ['credentials as the cookie', { ...nothing, ...asCookie(credential) }],
    ['an unsigned cookie', { ...nothing, ...asCookie(`${payload}.`) }],
    ['an ID token as the cookie', { ...nothing, ...asCookie(tokens.id_token) }],
    ['a cookie with the session of another user', { ...nothing, ...asCookie(`${otherPayload}.${mac}`) }],
    ['a cookie with a changed signature', { ...nothing, ...asCookie(`${payload}.${mac.slice(0, -2)}xx`) }],
    ['the cookie of an ended grant', { ...nothing, ...ended }],
    ['a user without a role', { ...nothing, sees: 'account', ...(await signIn(await person())) }],
    ['read', { ...nothing, sees: 'server', access: 'read', ...(await signIn(await person('read'))) }],
    ['support', { ...nothing, sees: 'server', access: 'support', ...(await signIn(await person('support'))) }],
    ['users', { ...nothing, sees: 'server', access: 'users', ...(await signIn(await person('users'))) }],
    [
      'support of one',
      {
        ...nothing,
        sees: 'organization',
        access: 'support',
        ...(await signIn(await person('support', organization_id))),
      },
    ],
    ['write', { ...nothing, sees: 'server', ...fresh }],
    ['write without a fresh sign-in', { ...nothing, sees: 'server', ...stale, isFresh: false }],
    [
      'read of one',
      { ...nothing, sees: 'organization', access: 'read', ...(await signIn(await person('read', organization_id))) },
    ],
    ['write of one', { ...nothing, sees: 'organization', ...(await signIn(await person('write', organization_id))) }],
  ]
  return new Map(rows)
}

/** What an answer is, in the words of the rules. */
function kindOf({ statusCode, headers, body }: LightMyRequestResponse): string {
  if (statusCode === 303) {
    const to = String(headers.location)
    if (to.includes('done=')) return 'performed'
    if (to.includes('ask=')) return 'asks'
    return 'back'
  }
  if (leadsTo({ body }) !== undefined) return 'sign-in'
  if (statusCode === 403) return 'refused'
  if (statusCode === 404 && body.includes('leads to no page of the console')) return 'absent'
  if (statusCode === 200) return /class="(secret|(ask )?result)"/.test(body) ? 'performed' : 'page'
  // What the task itself says of an object that is not there, or not in this state.
  return /role="alert"|class="error"|aria-invalid|Nothing was changed/.test(body)
    ? 'performed'
    : `${statusCode}: ${body.slice(0, 200)}`
}

const ONE_ORGANIZATION = '/console/organizations/{organization_id}'

/** Objects for the parameters of a path, and for the rows and fields of a form; undefined: for all. */
async function makeObjects(path?: string, form?: Form): Promise<Readonly<Record<string, string>>> {
  const { context } = stage.server
  const given = form === undefined ? [] : [chosenRows(form)?.member, ...fieldsIn(form)]
  const isNeeded = (name: string): boolean => path === undefined || path.includes(name) || given.includes(name)
  const made = async (name: string, make: () => Promise<unknown>) => (isNeeded(name) ? String(await make()) : '')
  return {
    client_id: await made('client_id', async () => (await stage.makeClient()).client_id),
    user_id: await made(
      'user_id',
      async () => (await perform(context, 'user.create', { email: stage.anEmail() }))['user_id'],
    ),
    resource: await made('{resource}', stage.makeApi),
    provider_id: await made('provider_id', makeProvider),
    grant_id: mine.grant_id,
    group_id: await made('group_id', () => makeGroup(path)),
    rule_id: await made('rule_id', () => makeRule(path)),
    // That of the callers must not end.
    organization_id: path === ONE_ORGANIZATION ? await stage.makeOrganization() : mine.organization_id,
    pattern: 'evil.example',
    initial_token_id: `git_${'0'.repeat(34)}`,
    session_id: '0'.repeat(34),
    passkey_id: 'q83vEjRWeJCrze8SNFZ4kA',
    credential_id: await made('credential_id', async () => (await stage.issue('read')).id),
    kid: '0'.repeat(34),
  }
}

async function makeGroup(path: string | undefined): Promise<string> {
  const noun = path === undefined || path.includes('organization') ? 'organization-group' : 'group'
  const own = {
    group_id: `made-${(groups += 1)}`,
    ...(noun === 'group' ? {} : { organization_id: mine.organization_id }),
  }
  return String((await perform(stage.server.context, `${noun}.create`, own))['group_id'])
}

async function makeRule(path: string | undefined): Promise<string> {
  const noun = path === undefined || path.includes('organization') ? 'organization-access-rule' : 'access-rule'
  const own = noun === 'access-rule' ? {} : { organization_id: mine.organization_id }
  const rule = { rule_id: `r-${(rules += 1)}`, clients: ['unverified'], state: 'off' }
  // The screens of both are read with one id.
  if (path === undefined) await perform(stage.server.context, 'access-rule.create', rule)
  return String((await perform(stage.server.context, `${noun}.create`, { ...own, ...rule }))['rule_id'])
}

let [providers, groups, rules] = [0, 0, 0]

/** A provider that answers nothing. */
async function makeProvider(): Promise<string> {
  providers += 1
  const id = `idp-${providers}`
  const own = {
    template: 'oidc',
    name: 'Idp',
    issuer: 'http://127.0.0.1:9',
    client_id: 'grantor',
    client_secret: 's3cr3t',
  }
  await perform(stage.server.context, 'provider.create', { provider_id: id, ...own })
  return id
}

function fill(path: string, objects: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(objects[name] ?? ''))
}

/** Texts that issue no token and end no session of the callers. */
const TYPED: Readonly<Record<string, Fields>> = {
  'token.inspect': { token: 'x' },
  'token.revoke': { token: 'x' },
  'token.revoke-all': { confirm: 'nothing' },
}

/** What a caller sends, which works once if the form does. */
async function bodyOf(one: FormOnScreen, objects: Objects): Promise<Fields> {
  const { form } = one
  const { member } = chosenRows(form) ?? {}
  return {
    ...(member === undefined ? {} : { row: objects[member] ?? '' }),
    ...(worksOnce(form) ? { once: stage.server.context.random(16).toString('base64url') } : {}),
    ...(TYPED[form.task] ?? (await typeIn(stage, one, objects, {}))),
  }
}

function send(
  path: string,
  { headers, grantId }: Pick<Caller, 'headers' | 'grantId'>,
  task: string,
  more: Readonly<Record<string, string>>,
) {
  const csrf = stage.server.context.secrets.digest('csrf', ['console', grantId, path])
  return stage.server.injectAdmin({
    method: 'POST',
    url: path,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    payload: new URLSearchParams({ csrf, task, asked: '1', ...more }).toString(),
  })
}

test('CON-04: the rules name each screen and each form, and what a form asks first', () => {
  const ruleOf = (form: Form): FormRule => {
    if (isReading(requireTask(form.task))) return 'reads'
    return needsRecentSignIn(form) ? 'fresh' : asksFirst(form) ? 'asks' : 'at-once'
  }
  const there = SCREENS.map(({ path, forms }) => [
    path,
    Object.fromEntries(forms.map((one) => [one.task, ruleOf(one)])),
  ])
  assert.deepEqual(
    there,
    Object.entries(RULES).map(([path, { forms }]) => [path, forms]),
  )
})

test('CON-04: each caller gets from each screen and each form what the rules say, and a refused one changes nothing', async () => {
  const targets = await makeObjects()
  const wrong: string[] = []
  const check = (what: string, answer: LightMyRequestResponse, expected: Kind): void => {
    const kind = kindOf(answer)
    if (kind !== expected) wrong.push(`${what}: ${kind}, not ${expected}`)
  }
  const unchanged = dumpStore(stage.server)
  let count = 0
  for (const isAllowed of [false, true]) {
    for (const [name, caller] of callers)
      for (const screen of SCREENS) {
        const rule = RULES[screen.path]
        assert.ok(rule)
        if (!isAllowed) {
          const url = fill(screen.path, targets)
          const shown = await stage.server.injectAdmin({ method: 'GET', url, headers: caller.headers })
          check(`${name} at ${screen.path}`, shown, pageOf(caller, rule, screen.path))
          const offered = [...shown.body.matchAll(/(?:name="task" value="|[?;]ask=)([a-z.-]+)"/g)].map(
            ([, task = '']) => task,
          )
          for (const task of offered)
            if (!mayDo(caller, task)) wrong.push(`${name} at ${screen.path} is offered ${task}`)
        }
        for (const [index, form] of screen.forms.entries()) {
          const expected = formOf(caller, rule, form.task, screen.path)
          if ((expected === 'performed') !== isAllowed) continue
          const objects = isAllowed ? await makeObjects(screen.path, form) : targets
          const path = fill(screen.path, objects)
          const what = `${name}, ${form.task} at ${screen.path}`
          const url = `${path}?${new URLSearchParams({ ask: form.task, row: objects[chosenRows(form)?.member ?? ''] ?? '' }).toString()}`
          // A caller that does not see the page is refused before the server looks for the form.
          if (index === 0 || pageOf(caller, rule, screen.path) === 'page') {
            const asked = await stage.server.injectAdmin({ method: 'GET', url, headers: caller.headers })
            check(`the question of ${what}`, asked, askOf(caller, rule, form.task, screen.path))
          }
          check(what, await send(path, caller, form.task, await bodyOf({ screen, form }, objects)), expected)
          count += 1
        }
      }
    if (!isAllowed) assert.deepEqual(dumpStore(stage.server), unchanged)
  }
  assert.deepEqual(wrong, [])
  assert.ok(count > 400, String(count))
})

test('CON-19: no form and no request of the API gives a person, or by a person another one, more than the person has', async () => {
  const { server } = stage
  const changing = TASKS.filter((task) => !isReading(task))
  const unchanged = dumpStore(server)
  for (const [name, caller] of callers) {
    // A form that the screen does not have is refused before the time of the sign-in matters; without a role each one is.
    if (caller.sees === 'nothing' || caller.sees === 'account' || !caller.isFresh) continue
    const [path, rule] =
      caller.sees === 'organization'
        ? [
            `/console/organizations/${mine.organization_id}/grants`,
            RULES['/console/organizations/{organization_id}/grants'],
          ]
        : ['/console/clients', RULES['/console/clients']]
    for (const { task } of changing.map((one) => ({ task: one.name }))) {
      if (mayDo(caller, task) && rule?.forms[task] !== undefined) continue
      const answer = await send(path, caller, task, { row: mine.user_id, user_id: mine.user_id, access: 'write' })
      assert.equal(answer.statusCode, 403, `${name}: ${task}`)
    }
    // The form of a row has no member besides its fields.
    if (caller.access === 'write' && caller.sees === 'organization') {
      const more = { row: mine.grant_id, organization_id: `gor_${'0'.repeat(34)}` }
      assert.equal((await send(path, caller, 'organization.revoke-grant', more)).statusCode, 403)
    }
  }
  // The API knows no cookie, and no token of the console's client. Credentials of one organization give no rights.
  const { token } = await stage.issue('write', mine.organization_id)
  const { token: reads } = await stage.issue('read')
  const own = callers.get('write of one') ?? assert.fail()
  const cases: readonly (readonly [headers: Readonly<Record<string, string>>, status: number])[] = [
    [own.headers, 401],
    [callers.get('write')?.headers ?? {}, 401],
    [{ authorization: `Bearer ${token}` }, 403],
    [{ authorization: `Bearer ${reads}` }, 403],
  ]
  for (const [headers, status] of cases)
    for (const [method, url, payload] of [
      ['PUT', `/admin/v1/users/${mine.user_id}/role`, { access: 'write' }],
      ['DELETE', `/admin/v1/users/${mine.user_id}/role`, undefined],
      ['POST', '/admin/v1/admin-credentials', { name: 'More', access: 'write' }],
      ['POST', `/admin/v1/users/${mine.user_id}/link`, {}],
    ] as const) {
      const answer = await server.injectAdmin({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
      assert.equal(answer.statusCode, status, `${method} ${url} ${answer.body}`)
    }
  const { roles } = dumpStore(server)
  assert.deepEqual(roles, unchanged['roles'])
})
