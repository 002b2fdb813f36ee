import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { MAXIMA } from '../../src/base/maxima.ts'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import { INTROSPECT_RECIPE, verifyRecipe } from '../../src/console/screens/apis/recipes.ts'
import { inputFields, readFields } from '../../src/console/engine/input-fields.ts'
import { templateMembers } from '../../src/admin/provider/settings.ts'
import { findTask } from '../../src/admin/tasks.ts'
import { PROVIDER_TEMPLATES, type ProviderTemplateName } from '../../src/protocol/sign-in/provider.ts'
import { signInRules } from '../../src/console/screens/providers/provider-rules.ts'
import { hiddenFields } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { type ConsoleBrowser, filledIn, formOf, openConsole } from '../../tools/console-browser.ts'
import { perform, type Members, said } from '../support/tasks.ts'

/** What is set up in the console: APIs, providers and the clients of the operator. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  browser = await openConsole(stage.server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

type Answer = Awaited<ReturnType<ConsoleBrowser['open']>>

const show = (task: string, input: Members): Promise<Members> => perform(stage.server.context, task, input)
const page = (path: string): Promise<Answer> => browser.console.get(`/console${path}`)

/** The sentence beside a field. */
function errorAt({ body }: Answer, path: string): string | undefined {
  return new RegExp(`id="error-${path.replaceAll('.', '\\.')}"[^>]*>([^<]+)<`).exec(body)?.[1]
}

/** Sends the form of a page, and follows no redirect. */
function sendForm(asked: Answer, path: string, task: string, fields: Readonly<Record<string, string>>) {
  return browser.console.post(path, { ...hiddenFields({ body: formOf(asked, task) }), task, ...fields })
}

const SCOPES = {
  'scopes.0.name': 'read',
  'scopes.0.sentence.default': 'Read <b>your</b> projects',
  'scopes.0.granted_to': 'users',
  'scopes.2.name': 'pay',
  'scopes.2.sentence.default': 'Pay',
  'scopes.2.granted_to': 'approved-clients',
  'scopes.2.step_up.level': '2fa',
  'scopes.2.step_up.max_age': '300',
}

test('the first step on the Overview leads to its form', async () => {
  assert.match((await page('')).body, /href="\/console\/apis\?ask=api\.create"/)
})

test('an API is declared by rows: a fault is beside its field, what was typed stays, and an empty row is left out', async () => {
  const asked = await page('/apis?ask=api.create')
  const resource = 'https://pay.acme.test/mcp'
  const wrong = await browser.press(asked, 'api.create', {
    ...SCOPES,
    resource: 'https://pay.acme.test/#x',
    'scopes.2.granted_to': '',
    'tokens.lifetime': '-1',
  })
  assert.equal(wrong.statusCode, 422)
  assert.match(errorAt(wrong, 'resource') ?? '', /This is not a resource/)
  assert.equal(errorAt(wrong, 'scopes.1.granted_to'), 'This field is required.')
  assert.match(errorAt(wrong, 'tokens.lifetime') ?? '', /at least 1/)
  assert.match(wrong.body, /<details class="more"\s+open/)
  assert.match(wrong.body, /name="scopes\.1\.sentence\.default"[^>]*value="Pay"/)
  const texts = { 'name.default': 'Pay', 'name.de': 'Zahlen', 'scopes.0.sentence.de': 'Lesen' }
  const made = await browser.press(asked, 'api.create', { ...SCOPES, resource, ...texts })
  assert.match(made.body, new RegExp(`${said('api.create')}[^]*<h1><bdi>Pay<[^]*Read &lt;b&gt;your&lt;/b&gt; projects`))
  const sentence = { default: 'Read <b>your</b> projects', de: 'Lesen' }
  assert.deepEqual((await show('api.show', { resource }))['scopes'], [
    { name: 'read', sentence, granted_to: 'users', step_up: null },
    { name: 'pay', sentence: 'Pay', granted_to: 'approved-clients', step_up: { level: '2fa', max_age: 300 } },
  ])
  const taken = await browser.press(asked, 'api.create', { resource })
  assert.deepEqual([taken.statusCode, /already declared/.test(errorAt(taken, 'resource') ?? '')], [409, true])
})

test('CON-35: the page of an API says how to verify its tokens, and a change sends what was changed alone', async () => {
  const { context } = stage.server
  const resource = 'https://files.acme.test/'
  await perform(context, 'api.create', {
    resource,
    name: 'Files  here',
    scopes: [{ name: 'files', sentence: 'See files', granted_to: 'users' }],
    tokens: { lifetime: 60 },
  })
  const path = `/apis/${encodeURIComponent(resource)}`
  const shown = await page(path)
  assert.match(
    shown.body,
    /export ISSUER=http:\/\/localhost:3000\nexport RESOURCE=https:\/\/files\.acme\.test\/<[^]*\n {2}try \{\n[^]*algorithms: \[&#39;ES256/,
  )
  assert.match(shown.body, /http:\/\/localhost:3000\/v2\/oauth\/jwks<[^]*\/v2\/oauth\/introspect</)
  assert.match((await page(`${path}/consent`)).body, /See files[^]*Files/)
  const asked = await browser.press(shown, 'api.update')
  const opaque = await browser.press(asked, 'api.update', {
    ...filledIn(asked, 'api.update'),
    'tokens.format': 'opaque',
    'tokens.lifetime': '',
  })
  assert.match(opaque.body, new RegExp(`${said('api.update')}[^]*opaque, for 900 seconds`))
  assert.doesNotMatch(opaque.body, /jwtVerify/)
  const { tokens, name, scopes } = (await show('api.show', { resource })) as { tokens: Members } & Members
  assert.deepEqual([tokens['format'], tokens['lifetime']], ['opaque', null])
  assert.equal(name, 'Files  here', 'What a page shows otherwise is not replaced.')
  assert.equal((scopes as readonly object[]).length, 1)

  // The change of another person is not undone unseen.
  const late = await page(`${path}/scopes?ask=api.update`)
  await perform(context, 'api.update', { resource, scopes: [] })
  const mine = { 'scopes.0.name': 'mine', 'scopes.0.sentence.default': 'Mine' }
  const refused = await browser.press(late, 'api.update', mine)
  assert.deepEqual([refused.statusCode, /changed after the form was shown/.test(refused.body)], [409, true])
  assert.match(refused.body, /name="scopes\.0\.name"[^>]*value="mine"/)
  const saved = await browser.press(refused, 'api.update', { ...mine, 'scopes.0.granted_to': 'users' })
  assert.match(saved.body, new RegExp(`${said('api.update')}[^]*<bdi>mine<`))
})

test('the credentials of an API are shown with their id', async () => {
  const resource = await stage.makeApi()
  const path = `/console/apis/${encodeURIComponent(resource)}`
  const answer = await browser.press(await browser.open(`${path}?ask=api.create-credentials`), 'api.create-credentials')
  const { introspection_id: id } = await show('api.show', { resource })
  assert.ok(answer.body.includes(String(id)))
  assert.ok((await browser.console.get(path)).body.includes(`export API_ID=${String(id)}`))
})

test('the programs on the page of an API are those of examples/resource-servers', () => {
  const docs = ['node', 'jose']
    .map((name) => readFileSync(`examples/resource-servers/${name}/server.js`, 'utf8'))
    .join('')
  for (const recipe of [verifyRecipe({ jwt_type: 'at+jwt' }, 'ES256'), INTROSPECT_RECIPE]) {
    const [, named = ''] = /^const \{ (.+) \} = process\.env\n\n/m.exec(recipe) ?? []
    assert.deepEqual(new Set(named.split(', ')), new Set(recipe.match(/\b(?:ISSUER|RESOURCE|API_ID|API_SECRET)\b/g)))
    for (const part of recipe.split('\n\n')) if (!part.startsWith('const {')) assert.ok(docs.includes(part), part)
  }
})

test('an API with as many scopes as it may have is changed by a form, a page of at most 200 kB', async () => {
  const resource = stage.aResource()
  const scopes = Array.from({ length: MAXIMA.scopesOfApi.most }, (_, index) => ({
    name: `scope:${index}`,
    sentence: `Do what scope ${index} is about, in a sentence`,
    granted_to: 'users',
  }))
  await perform(stage.server.context, 'api.create', { resource, scopes })
  const path = `/apis/${encodeURIComponent(resource)}/scopes`
  const asked = await page(`${path}?ask=api.update`)
  assert.ok(Buffer.byteLength(asked.body) < 200_000, `${Buffer.byteLength(asked.body)} bytes`)
  const fields = Object.fromEntries(
    scopes.flatMap(({ name, sentence, granted_to: to }, index) => [
      [`scopes.${index}.name`, name],
      [`scopes.${index}.sentence.default`, index === 99 ? 'Another' : sentence],
      [`scopes.${index}.granted_to`, to],
      [`scopes.${index}.step_up.level`, ''],
      [`scopes.${index}.step_up.max_age`, ''],
    ]),
  )
  assert.match((await browser.press(asked, 'api.update', fields)).body, new RegExp(`${said('api.update')}[^]*Another`))
})

test('CON-11: a form of more than 16 KiB is read only from a browser with a session', async () => {
  const request = {
    method: 'POST',
    url: '/console/apis',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `task=api.create&name=${'x'.repeat(MAXIMA.body.most)}`,
  } as const
  assert.equal((await stage.server.injectAdmin(request)).statusCode, 413)
  const sent = await browser.console.post('/console/apis', { task: 'api.create', name: 'x'.repeat(MAXIMA.body.most) })
  assert.notEqual(sent.statusCode, 413)
})

const IDP = { name: 'Acme', issuer: 'http://127.0.0.1:9', client_id: 'grantor', client_secret: 'the-s3cr3t-of-it' }

test('a provider is created after its redirect URI is shown, and no page has its secret', async () => {
  const chosen = '/console/providers?ask=provider.create&template=keycloak&provider_id=acme'
  const asked = await browser.open(chosen)
  assert.match(asked.body, /First[^]*http:\/\/localhost:3000\/v2\/oauth\/callback\/acme<[^]*name="issuer"/)
  const wrong = await browser.press(asked, 'provider.create', { ...IDP, sign_up: 'domains' })
  assert.deepEqual([wrong.statusCode, /needs at least one domain/.test(wrong.body)], [409, true])
  assert.match(wrong.body, /value="Acme"[^]*Type it again/)
  const nameless = await browser.press(asked, 'provider.create', { ...IDP, client_id: '' })
  assert.equal(errorAt(nameless, 'client_id'), 'This must have at least 1 character.')
  const malformed = await browser.press(asked, 'provider.create', { ...IDP, domains: 'acme.example\r\nno domain' })
  assert.match(errorAt(malformed, 'domains') ?? '', /^no domain: This is not a domain/)
  const made = await browser.press(asked, 'provider.create', { ...IDP, domains: 'acme.example\r\nacme.test' })
  assert.match(
    made.body,
    new RegExp(
      `${said('provider.create')}[^]*<h1><bdi>Acme<[^]*The connection does not work[^]*already[^]*ask=provider\\.disable`,
    ),
  )
  assert.deepEqual((await show('provider.show', { provider_id: 'acme' }))['domains'], ['acme.example', 'acme.test'])
  assert.equal(errorAt(await browser.open(chosen), 'provider_id'), 'There is already a provider acme.')
  const wrongId = await page('/providers?ask=provider.create&template=keycloak&provider_id=A%20b')
  assert.match(errorAt(wrongId, 'provider_id') ?? '', /up to 31 lower-case letters/)
  assert.doesNotMatch(wrongId.body, /name="issuer"|This id is reserved/, 'there is nothing else to fill in')

  const path = '/providers/acme'
  const tested = await browser.press(await page(path), 'provider.test')
  assert.match(
    tested.body,
    /The connection does not work[^]*Metadata[^]*cannot be reached[^]*ask=provider\.disable[^]*<h1>/,
  )
  const change = await browser.open(`/console${path}?ask=provider.update`)
  const changed = await sendForm(change, `/console${path}`, 'provider.update', {
    ...filledIn(change, 'provider.update'),
    name: 'Acme Idp',
    domains: 'acme.example',
    multi_factor: 'true',
  })
  assert.equal(changed.statusCode, 303)
  const now = await show('provider.show', { provider_id: 'acme' })
  assert.deepEqual(
    [now['name'], now['domains'], now['multi_factor'], now['has_secret']],
    ['Acme Idp', ['acme.example'], true, true],
  )
  const disabled = await browser.press(await browser.press(await page(path), 'provider.disable'), 'provider.disable')
  assert.match(
    disabled.body,
    new RegExp(`${said('provider.disable', { provider_id: 'Acme Idp' })}[^]*value="provider\\.enable"`),
  )
  const pages = [wrong, malformed, made, tested, change, disabled].map(({ body }) => body).join('')
  assert.ok(!pages.includes(IDP.client_secret) && !stage.server.log().includes(IDP.client_secret))
})

test('the form of a provider has the settings of its template, and saved as it is they stay so', async () => {
  const task = findTask('provider.create') ?? assert.fail()
  const fields = inputFields(task, Object.keys(task.input.shape))
  for (const template of Object.keys(PROVIDER_TEMPLATES) as ProviderTemplateName[]) {
    const asked = await browser.open(
      `/console/providers?ask=provider.create&template=${template}&provider_id=p-${template}`,
    )
    const filled = filledIn(asked, 'provider.create')
    const issuer = filled['issuer'] === '' ? { issuer: IDP.issuer } : {}
    const { name, client_id, client_secret } = IDP
    const given = { ...filled, ...issuer, template, provider_id: `p-${template}`, name, client_id, client_secret }
    // As the console reads the form, which then asks the provider: no test reaches one of the Internet.
    await perform(stage.server.context, 'provider.create', readFields(fields, given))
    const made = await show('provider.show', { provider_id: `p-${template}` })
    const preset = Object.entries(templateMembers(template)).filter(([, value]) => value !== null)
    assert.deepEqual(Object.fromEntries(preset.map(([member]) => [member, made[member]])), Object.fromEntries(preset))
  }
})

test('L1 to L10: the page of a provider says what its settings do with a person', () => {
  type Rules = Parameters<typeof signInRules>[0]
  const usual: Rules = {
    email_trust: 'claim',
    domains: ['acme.example'],
    routing: 'offered',
    listed: true,
    sign_up: 'off',
    link: 'ask',
    multi_factor: false,
    organization_id: null,
    disabled_at: null,
    membership: 'domains',
  }
  const rules = (differing: Partial<Rules>): string =>
    signInRules({ ...usual, ...differing })
      .map(([who, what]) => `${who}: ${Array.isArray(what) ? what.join('') : String(what)}`)
      .join('\n')
  const cases: readonly (readonly [Partial<Rules>, RegExp, RegExp | undefined])[] = [
    [{}, /signs in to that account once[^]*L7[^]*taken over[^]*L6[^]*Is refused\. Create the account first/, /at once/],
    [{ domains: [] }, /signs in to that account once/, /taken over/],
    [{ link: 'verified-email' }, /connected at once, if the address is of acme\.example[^]*L5/, undefined],
    [{ email_trust: 'none', sign_up: 'domains' }, /Nothing proves an address[^]*no address is proved here/, /L7|taken/],
    [{ email_trust: 'domains' }, /An address of acme\.example counts/, undefined],
    [{ sign_up: 'domains' }, /Gets an account, if the address is proved and of acme\.example/, /Is refused\. Create/],
    [{ sign_up: 'anybody' }, /Gets an account: with the address if it is proved/, undefined],
    [{ organization_id: 'gor_x', membership: 'anybody' }, /Each person of the provider becomes a member/, undefined],
    [
      { routing: 'required', disabled_at: '2026-11-23T00:00:00.000Z' },
      /It is disabled, so that no account with an address of acme\.example can sign in/,
      /sees its button/,
    ],
    [{ routing: 'required' }, /signs in here only, and has no password/, undefined],
    [{ multi_factor: true }, /none is asked for here/, undefined],
  ]
  for (const [settings, expected, unexpected] of cases) {
    assert.match(rules(settings), expected)
    if (unexpected !== undefined) assert.doesNotMatch(rules(settings), unexpected)
  }
})

test('a client gets a chosen id and a secret; a taken id and a wrong URI are beside their fields', async () => {
  const path = '/console/clients'
  const asked = await browser.open(`${path}?ask=client.create`)
  const fields = { client_name: 'Board', redirect_uris: 'https://board.acme.test/cb', client_id: 'board' }
  const answer = await sendForm(asked, path, 'client.create', fields)
  assert.match(asked.body, /Exact redirect URIs\. One on each line\./)
  assert.match(answer.body, /<h1>Client secret<[^]*It is shown this once\./)
  assert.match(answer.body, /Client id[^]*board<[^]*href="\/console\/clients\/board">Open the client</)
  const again = await browser.open(`${path}?ask=client.create`)
  const taken = await browser.press(again, 'client.create', fields)
  assert.deepEqual([taken.statusCode, errorAt(taken, 'client_id')], [409, 'There is already a client board.'])
  const fragment = await browser.press(taken, 'client.create', { ...fields, redirect_uris: 'https://x.example/#y' })
  assert.match(errorAt(fragment, 'redirect_uris') ?? '', /has a fragment/)
  assert.match(fragment.body, /https:\/\/x\.example\/#y<\/textarea/)
  const open = { client_name: 'App', redirect_uris: 'https://a.example/cb', token_endpoint_auth_method: 'none' }
  assert.match(
    (await browser.press(fragment, 'client.create', open)).body,
    new RegExp(`${said('client.create')}[^]*<h1><bdi>App<`),
  )
})

test('CON-20: the console changes neither the addresses, the rules nor the keys of its own client', async () => {
  const path = `/console/clients/${CONSOLE_CLIENT_ID}?tab=settings`
  const shown = await browser.console.get(path)
  assert.doesNotMatch(shown.body, /value="client\.(update|set-rules|set-keys)"/)
  const { csrf = '' } = hiddenFields({ body: formOf(shown, 'client.approve-scopes') })
  for (const task of ['client.update', 'client.set-rules', 'client.set-keys']) {
    const refused = await browser.console.post(path, { csrf, task, asked: '1' })
    assert.deepEqual([refused.statusCode, /This is the client of the console/.test(refused.body)], [409, true], task)
  }
})
