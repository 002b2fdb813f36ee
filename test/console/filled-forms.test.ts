import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { requireTask } from '../../src/admin/tasks.ts'
import { inputFields, textsOf } from '../../src/console/engine/input-fields.ts'
import type { AnyScreen } from '../../src/console/screen.ts'
import { chosenRows, fieldsIn, type EditForm, type Texts } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { type ConsoleBrowser, filledIn, formOf, openConsole } from '../../tools/console-browser.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { formAction, hiddenFields } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { declareApi, JWT_API } from '../support/apis.ts'
import { perform as performTask, type Members } from '../support/tasks.ts'

/** Each form that shows what an object has: what is left alone, what is emptied, and what another person changed meanwhile. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  browser = await openConsole(stage.server)
  await declareApi(stage.server, JWT_API, {}, [
    { name: 'read', sentence: 'Read', grantedTo: 'users' },
    { name: 'pay', sentence: 'Pay', grantedTo: 'approved-clients' },
  ])
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const perform = (name: string, input: Members): Promise<Members> => performTask(stage.server.context, name, input)

/** One of each object, with all that the forms can empty, by the parameter of the path. */
const OBJECTS: Readonly<Record<string, () => Promise<string>>> = {
  client_id: async () => {
    const { client_id: client } = await perform('client.create', {
      client_name: 'Board',
      redirect_uris: ['https://app.example/cb', 'https://app.example/two'],
      scope: 'openid read pay',
      approved_scope: 'pay',
      jwks: { keys: [makeClientKey('ES256').jwk] },
      token_endpoint_auth_signing_alg: 'ES256',
      dpop_bound_access_tokens: true,
      require_pushed_authorization_requests: true,
      id_token_signed_response_alg: 'ES256',
      default_max_age: 60,
      default_acr_values: ['urn:grantor:acr:2fa'],
      require_auth_time: true,
      post_logout_redirect_uris: ['https://app.example/out'],
      backchannel_logout_uri: 'https://app.example/bye',
      backchannel_logout_session_required: true,
      rules: { claims: 'userinfo', pkce: 'required' },
    })
    return String(client)
  },
  user_id: async () => {
    const { user_id: id } = await perform('user.create', {
      email: stage.anEmail(),
      name: 'Grace Hopper',
      email_verified: true,
    })
    const organization = await OBJECTS['organization_id']?.()
    await perform('role.set', { user_id: id, access: 'read', organization_id: organization, loopback_only: true })
    return String(id)
  },
  organization_id: async () => String((await perform('organization.create', { name: 'Acme' }))['organization_id']),
  resource: async () => {
    const resource = stage.aResource()
    await perform('api.create', {
      resource,
      name: 'Files',
      scopes: [
        { name: 'files', sentence: 'Files', granted_to: 'users', step_up: { level: '2fa', max_age: 60 } },
        { name: 'all', sentence: 'All', granted_to: 'approved-clients' },
      ],
      tokens: { format: 'jwt', lifetime: 60, algorithm: 'ES256', jwt_type: 'JWT', binding: 'dpop' },
    })
    return resource
  },
  provider_id: async () => {
    const id = `idp-${(ids += 1)}`
    await perform('provider.create', {
      provider_id: id,
      template: 'oidc',
      name: 'Idp',
      issuer: `http://127.0.0.1:9/${id}`,
      client_id: 'grantor',
      client_secret: 's3cr3t',
      domains: [`${id}.example`],
      routing: 'required',
      sign_up: 'domains',
      multi_factor: true,
      organization_id: await OBJECTS['organization_id']?.(),
      private_hosts: ['idp.internal'],
      assertion_clients: ['board'],
      assertion_apis: [JWT_API],
    })
    return id
  },
}
let ids = 0

/** What the forms of the console fill in from the object. */
const FORMS = SCREENS.flatMap((screen) =>
  screen.forms.flatMap((form) => (form.kind === 'edit' ? [{ screen, form }] : [])),
)

interface Object {
  readonly address: string
  /** What the fields would have now. */
  readonly texts: () => Promise<Texts>
}

async function makeObject(screen: AnyScreen, form: EditForm): Promise<Object> {
  const { member } = chosenRows(form) ?? {}
  const parameter = /\{(\w+)\}/.exec(screen.path)?.[1] ?? member ?? ''
  const id = (await OBJECTS[parameter]?.()) ?? assert.fail(`There is no object for ${screen.path}.`)
  const parameters = { [parameter]: id }
  const path = screen.path.replace(`{${parameter}}`, encodeURIComponent(id))
  const fields = inputFields(requireTask(form.task), form.fields)
  const place = { path, parameters, query: {}, now: stage.server.clock.now() }
  return {
    address: `${path}?${new URLSearchParams({ ask: form.task, ...(member === undefined ? {} : { row: id }) }).toString()}`,
    texts: async () => {
      const reads = Object.entries(screen.reads).map(async ([name, { task, input }]) => {
        const own = Object.entries(parameters).filter(([one]) => one in requireTask(task).input.shape)
        return [name, await perform(task, { ...Object.fromEntries(own), ...input(place) })] as const
      })
      return textsOf(fields, form.filled(Object.fromEntries(await Promise.all(reads)), id) ?? {})
    },
  }
}

const isNone = (text = ''): boolean => text === '' || text === 'false'
/** Boxes that are not ticked are not sent, and an unticked flag is as one that was never set. */
const plain = (texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts)
      .filter(([, text]) => !isNone(text))
      .map(([path, text]) => [path, text === 'on' ? 'true' : text]),
  )

/** Fields that have no empty value, or that others need, as the code grant needs redirect URIs: the form says so. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'user.set-email': ['email'],
  'organization.rename': ['name'],
  'client.update': ['client_name', 'redirect_uris', 'grant_types'],
  'client.set-keys': ['jwks'],
  'api.update': [
    ...['scopes.0', 'scopes.1'].flatMap((row) =>
      ['name', 'sentence.default', 'granted_to'].map((part) => `${row}.${part}`),
    ),
    'scopes.0.step_up.level',
  ],
  'provider.update': ['name', 'client_id', 'scope', 'domains', 'assertion_clients', 'assertion_apis'],
}

/** What has no meaning without another field, and ends with it. */
const WITH: Texts = { backchannel_logout_session_required: 'backchannel_logout_uri' }

/** A change of one field. */
const CHANGES: Readonly<Record<string, Texts>> = {
  'user.set-email': { email: 'other@acme.test' },
  'user.update': { name: 'Hopper' },
  'role.set': { access: 'write' },
  'organization.rename': { name: 'Globex' },
  'client.approve-scopes': { scope: '' },
  'client.update': { client_name: 'Other' },
  'client.set-rules': { claims: 'id-token' },
  'client.set-keys': { token_endpoint_auth_signing_alg: '' },
  'api.update': { 'name.default': 'Other' },
  'api.update of scopes': { 'scopes.0.sentence.default': 'Other' },
  'provider.update': { name: 'Other' },
}

/** They replace a secret, which is never shown, and what the person chooses in the form itself. */
const UNFILLED = ['client.set-secret', 'installation.install']

test('CON-35: each form that changes or replaces what there is shows it, and only such a form restores', () => {
  for (const { forms, path } of SCREENS)
    for (const form of forms) {
      const isFilled = form.kind === 'edit'
      const isChange = /^P(ATCH|UT)$/.test(requireTask(form.task).method) && fieldsIn(form).length > 0
      assert.ok(isFilled || !isChange || UNFILLED.includes(form.task), `${path} ${form.task} is not filled`)
      assert.ok(isFilled || requireTask(form.task).undo !== form.task, `${path} ${form.task} restores nothing`)
    }
  assert.ok(FORMS.length >= 9, String(FORMS.length))
})

for (const { screen, form } of FORMS) {
  const { task } = form
  const what = form.fields.join() === 'scopes' ? `${task} of scopes` : task
  const where = `${what} at ${screen.path}`

  test(`CON-35: what a person leaves alone in the form of ${where} stays, and what is emptied is empty or refused`, async () => {
    let one = await makeObject(screen, form)
    const first = await one.texts()
    const shown = plain(filledIn(await browser.open(one.address), task))
    const own = Object.entries(shown).filter(([path]) => path in first)
    assert.deepEqual(Object.fromEntries(own), plain(first), 'The form shows all that there is.')
    for (const emptied of [undefined, ...Object.keys(plain(first))]) {
      one = await makeObject(screen, form)
      const asked = await browser.open(one.address)
      const had = plain(await one.texts())
      const sent = { ...filledIn(asked, task), ...(emptied === undefined ? {} : { [emptied]: '' }) }
      // A choice that has a value cannot be sent without one.
      const select = new RegExp(`<select\\s+name="${emptied ?? ' '}"[^]*?</select>`).exec(formOf(asked, task))?.[0]
      if (select !== undefined && !/<option value="">/.test(select)) continue
      const answer = await browser.press(asked, task, sent)
      const now = plain(await one.texts())
      const isRefused = answer.statusCode >= 400
      const { [emptied ?? '']: left, ...others } = now
      const { [emptied ?? '']: _, ...othersBefore } = had
      const at = `${what}: ${emptied} (${answer.statusCode})`
      const kept = Object.entries(othersBefore).filter(([path]) => emptied === undefined || WITH[path] !== emptied)
      assert.deepEqual(others, Object.fromEntries(kept), at)
      assert.equal(isRefused, emptied !== undefined && NEEDED[task]?.includes(emptied) === true, at)
      if (isRefused) assert.match(answer.body, /class="error"|role="alert"/, at)
      else if (emptied !== undefined) assert.ok(isNone(left), `${at} is still ${left}`)
    }
  })

  test(`CON-35: what another person changed after the form of ${where} was shown is noticed`, async () => {
    const { address, texts } = await makeObject(screen, form)
    const [asked, late] = [await browser.open(address), await browser.open(address)]
    const change = CHANGES[what] ?? assert.fail(`There is no change for ${what}.`)
    const first = await texts()
    const body = formOf(asked, task)
    const whole = Object.entries({ ...hiddenFields({ body }), ...filledIn(asked, task), task, ...change })
    const unseen = Object.fromEntries(whole.filter(([name]) => name !== 'seen'))
    const blind = await browser.console.post(formAction({ body }), unseen)
    assert.deepEqual([blind.statusCode, await texts()], [409, first], 'The form does not say what it showed.')
    const done = await browser.press(asked, task, { ...filledIn(asked, task), ...change })
    assert.equal(done.statusCode, 200)
    const now = await texts()
    assert.notDeepEqual(now, first)
    const refused = await browser.press(late, task, filledIn(late, task))
    assert.deepEqual([refused.statusCode, /This was changed after the form was shown/.test(refused.body)], [409, true])
    assert.deepEqual(await texts(), now)
  })
}

test('CON-35: a role that another person gave or ended after the form was shown is noticed, and so is a change before an undo', async () => {
  const { user_id: id } = await perform('user.create', { email: stage.anEmail() })
  const path = `/console/users/${String(id)}`
  const role = async () => (await perform('user.show', { user_id: id }))['role'] as Members | null
  const first = await browser.open(`${path}?ask=role.set`)
  await perform('role.set', { user_id: id, access: 'read' })
  const given = await browser.press(first, 'role.set', { access: 'write' })
  assert.deepEqual([given.statusCode, (await role())?.['access']], [409, 'read'])
  await perform('role.remove', { user_id: id })
  const ended = await browser.press(given, 'role.set', { access: 'write' })
  assert.deepEqual([ended.statusCode, await role()], [409, null])
  assert.equal((await browser.press(ended, 'role.set', { access: 'write' })).statusCode, 200)
  assert.equal((await role())?.['access'], 'write')
  // What is not read is not compared: two rows, or a page of the list that there is not.
  const roles = '/console/roles'
  const asked = await browser.open(`${roles}?${new URLSearchParams({ ask: 'role.set', row: String(id) }).toString()}`)
  const body = formOf(asked, 'role.set')
  const sent = new URLSearchParams({ ...hiddenFields({ body }), ...filledIn(asked, 'role.set'), task: 'role.set' })
  sent.set('access', 'read')
  sent.delete('seen')
  const unread = await browser.console.post(`${roles}?before=%00`, new URLSearchParams(sent))
  sent.append('row', String((await perform('user.create', { email: stage.anEmail() }))['user_id']))
  const several = await browser.console.post(roles, sent)
  assert.deepEqual([unread.statusCode >= 400, several.statusCode, (await role())?.['access']], [true, 409, 'write'])

  const named = await browser.press(await browser.open(`${path}?ask=user.update`), 'user.update', { name: 'Grace' })
  const notice = { ...named, body: named.body.slice(named.body.indexOf('class="notice')) } as typeof named
  await perform('user.update', { user_id: id, name: 'Hopper' })
  assert.equal((await browser.press(notice, 'user.update')).statusCode, 409)
  assert.equal((await perform('user.show', { user_id: id }))['name'], 'Hopper')
})

test('a name that is emptied is gone', async () => {
  const { user_id: id } = await perform('user.create', { email: stage.anEmail(), name: 'Grace' })
  const path = `/console/users/${String(id)}`
  const asked = await browser.open(`${path}?ask=user.update`)
  const sent = { ...hiddenFields({ body: formOf(asked, 'user.update') }), task: 'user.update', name: '' }
  await browser.console.post(path, sent)
  assert.equal((await perform('user.show', { user_id: id }))['name'], null)
})

test('the undo of a name brings back that there was none', async () => {
  const { user_id: id } = await perform('user.create', { email: stage.anEmail() })
  const asked = await browser.open(`/console/users/${String(id)}?ask=user.update`)
  const done = await browser.press(asked, 'user.update', { name: 'Grace' })
  const notice = { ...done, body: done.body.slice(done.body.indexOf('class="notice')) } as typeof done
  await browser.press(notice, 'user.update', { name: '' })
  assert.equal((await perform('user.show', { user_id: id }))['name'], null)
})
